import type { JsonObject } from '../lib/json.ts';
import { build } from './builder.ts';
import type { Database } from './database.ts';

/** A source as it is stored. */
export interface SourceRecord {
  readonly id: string;
  readonly type: string;
  readonly spec: JsonObject;
  readonly status: JsonObject;
}

/** All sources of an account, by id. */
export async function listSources(database: Database, account: string): Promise<readonly SourceRecord[]> {
  const [rows] = await database.inAccount(account, [build.selectFrom('sources').select(['id', 'type', 'spec', 'status']).where('account_id', '=', account).orderBy('id').compile()]);
  return rows;
}

/** Writes what a source is and how it fares; equal values write nothing. */
export async function putSource(database: Database, account: string, source: SourceRecord, at: string): Promise<void> {
  const spec = JSON.stringify(source.spec);
  const status = JSON.stringify(source.status);
  await database.inAccount(account, [
    build
      .insertInto('sources')
      .values({ account_id: account, id: source.id, type: source.type, spec, status, created_at: at, lease_owner: null })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'id'])
          .doUpdateSet({ type: source.type, spec, status })
          .where((where) => where.or([where('sources.status', 'is distinct from', status), where('sources.spec', 'is distinct from', spec), where('sources.type', '!=', source.type)])),
      )
      .compile(),
  ]);
}
