import type { Database } from '../../src/db/database.ts';

/** Returns the database with its `inAccount` replaced. */
export function withInAccount(database: Database, inAccount: Database['inAccount']): Database {
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

/** Matches the condition on the account, as the query builder and hand-written SQL write it. */
const condition = /(?:"?\w+"?\.)?"?account_id"? = (\$\d+)/g;

/**
 * Returns the database without the condition on the account in `select` statements. Calls `found` for each removed
 * condition.
 */
export function withoutAccountFilter(database: Database, found: () => void): Database {
  return withInAccount(database, (account, statements, options) => {
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
