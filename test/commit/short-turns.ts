import type { CompiledQuery } from 'kysely';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { createNoticeBoard } from '../../src/commit/notices.ts';
import { createTurns, type TurnTimeouts } from '../../src/commit/turns.ts';
import type { Database } from '../../src/db/database.ts';
import { createObject } from '../../src/objects/objects.ts';
import { withInAccount } from '../setup/without-account-filter.ts';
import { type Office, rowsOf } from './office.ts';

export const times: TurnTimeouts = { lease: 1, maxTurn: 20, sliceSeconds: 0.1, pollSeconds: 0.05 };

/** Creates an engine with short turns. */
export function hasty(database: Database, turnTimes = times): Engine {
  return createEngine({ database, turnTimes });
}

export function write(engine: Engine, { call }: Office, name: string): Promise<unknown> {
  return createObject(engine, call, engine.registry.get('Group'), { name }, { strict: false });
}

/** Returns the contenders in the line of the only account, in order. */
export async function lineOf(database: Database): Promise<readonly unknown[]> {
  const text = 'select contender from turns where until > clock_timestamp() order by place, contender';
  return (await rowsOf(database, text)).map(({ contender }) => contender);
}

/** Creates the turns of a server that receives no notices of other servers. */
export function turnsOf(database: Database, name: string, turnTimes = times) {
  return createTurns(database, createNoticeBoard(), name, turnTimes);
}

/** Returns the same database, and the number of answered account transactions that contain this text in a statement. */
export function counting(database: Database, text: string): { readonly counted: Database; count(): number } {
  let count = 0;
  const inAccount = async (id: string, statements: readonly CompiledQuery<unknown>[], options?: object) => {
    const rows = await database.inAccount(id, statements, options);
    if (statements.some(({ sql }) => sql.includes(text))) count += 1;
    return rows;
  };
  // The cast is safe: the rows are those of the inner database.
  return { counted: withInAccount(database, inAccount as unknown as Database['inAccount']), count: () => count };
}

/** Lists the database connections that listen for notices. */
export const listening =
  "select pid from pg_stat_activity where query = 'listen heddle' and datname = current_database()";
