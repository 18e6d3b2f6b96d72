import type { CompiledQuery } from 'kysely';
import { type Attributes, tracedClientCall } from '../telemetry/span.ts';
import type { AccountAccess, Database } from './database.ts';

/**
 * Returns a database whose transactions are spans. Attributes of a span have the verb and table of each statement, but
 * no parameter values.
 */
export function tracedDatabase(database: Database): Database {
  const attributes = (operation: string, statements: readonly CompiledQuery<unknown>[]): Attributes => ({
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.operation.batch.size': statements.length,
    'db.query.summary': [...new Set(statements.map(summaryOf))].join('; ').slice(0, 200),
  });
  const inAccountOf =
    (access: AccountAccess): Database['inAccount'] =>
    (account, statements, options) =>
      tracedClientCall('sql', attributes(options?.write === true ? 'write' : 'read', statements), () =>
        access.inAccount(account, statements, options),
      );
  const { pool } = database;
  return {
    engine: database.engine,
    inAccount: inAccountOf(database),
    withAccountLock: (account, work, by) =>
      tracedClientCall('sql', attributes('hold', []), () =>
        database.withAccountLock(
          account,
          (held) => work({ inAccount: inAccountOf(held), countWrittenRows: held.countWrittenRows }),
          by,
        ),
      ),
    lookUp: (statement) =>
      tracedClientCall('sql', attributes('look up', [statement]), () => database.lookUp(statement)),
    asOwner: (work, options) => tracedClientCall('sql', attributes('owner', []), () => database.asOwner(work, options)),
    countWrittenRows: (rows) => database.countWrittenRows(rows),
    ...(pool === undefined ? {} : { pool: () => pool.call(database) }),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}

/** Returns the verb of a statement, and the first table that it names. */
function summaryOf({ sql }: CompiledQuery<unknown>): string {
  const [, verb = '', table = ''] =
    /\b(select|insert|update|delete)\b(?:[\s\S]{0,400}?\b(?:from|into|update)\s+"?(\w+)"?)?/i.exec(sql) ?? [];
  return `${verb.toLowerCase()} ${table}`.trim();
}
