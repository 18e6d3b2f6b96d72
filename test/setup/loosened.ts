import type { Database } from '../../src/db/database.ts';

/** The same database with the statements of accounts run otherwise. */
export function altered(database: Database, inAccount: Database['inAccount']): Database {
  return {
    engine: database.engine,
    inAccount,
    withAccountLock: (account, work, by) => database.withAccountLock(account, work, by),
    lookUp: (statement) => database.lookUp(statement),
    asOwner: (work, options) => database.asOwner(work, options),
    countWrittenRows: (rows) => database.countWrittenRows(rows),
    ping: () => database.ping(),
    close: async () => {},
  };
}

/** The condition on the account, as builders and hands write it. */
const condition = /(?:"?\w+"?\.)?"?account_id"? = (\$\d+)/g;

/** The same database with statements that ask for no account when they read; `found` hears of each that did. */
export function loosened(database: Database, found: () => void): Database {
  return altered(database, (account, statements, options) => {
    const loose = statements.map((statement) => {
      if (!statement.sql.trimStart().startsWith('select')) return statement;
      const sql = statement.sql.replace(condition, (_, parameter) => {
        found();
        return `(${parameter}::text is not null)`;
      });
      return { ...statement, sql };
    });
    return database.inAccount(account, loose as unknown as typeof statements, options);
  });
}
