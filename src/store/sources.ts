import type { JsonObject } from '../lib/json.ts';
import { build, statement } from './builder.ts';
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
  const [rows] = await database.inAccount(account, [
    build
      .selectFrom('sources')
      .select(['id', 'type', 'spec', 'status'])
      .where('account_id', '=', account)
      .orderBy('id')
      .compile(),
  ]);
  return rows;
}

/** Writes what a source is and how it fares; equal values write nothing. */
export async function putSource(database: Database, account: string, source: SourceRecord, at: string): Promise<void> {
  const { id, type, spec, status } = source;
  await database.inAccount(account, [
    statement(putText, [account, id, type, JSON.stringify(spec), JSON.stringify(status), at]),
  ]);
}

const putText = `insert into sources (account_id, id, type, spec, status, created_at) values ($1, $2, $3, $4::jsonb, $5::jsonb, $6)
on conflict (account_id, id) do update set type = excluded.type, spec = excluded.spec, status = excluded.status
where (sources.type, sources.spec, sources.status) is distinct from (excluded.type, excluded.spec, excluded.status)`;
