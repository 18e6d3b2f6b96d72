import type { Database } from '../../src/db/database.ts';

/** A database that counts its transactions. */
export interface Counted {
  readonly database: Database;
  /** Returns the number of transactions so far. */
  transactions(): number;
}

/** Wraps a database so that its transactions are counted. */
export function countTransactions(database: Database): Counted {
  let transactions = 0;
  const counting = <Args extends unknown[], Result>(method: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      transactions += 1;
      return method.apply(database, args);
    };
  };
  return {
    database: {
      engine: database.engine,
      inAccount: counting(database.inAccount) as Database['inAccount'],
      withAccountLock: counting(database.withAccountLock) as Database['withAccountLock'],
      lookUp: counting(database.lookUp) as Database['lookUp'],
      asOwner: counting(database.asOwner),
      countWrittenRows: (rows) => database.countWrittenRows(rows),
      ping: () => database.ping(),
      close: () => database.close(),
    },
    transactions: () => transactions,
  };
}
