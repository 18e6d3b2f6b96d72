import type { JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/actor.ts';
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

/** Who registers a source, and when. */
export interface Registration {
  readonly actor: Actor;
  /** ISO 8601. */
  readonly at: string;
  readonly requestId: string;
}

/**
 * Writes what a source is. How documents are applied belongs to the state of the account, so a change is a revision; an
 * equal source writes nothing. Answers the revision, if there is one.
 */
export async function registerSource(
  database: Database,
  account: string,
  { id, type, spec }: Pick<SourceRecord, 'id' | 'type' | 'spec'>,
  { actor, at, requestId }: Registration,
): Promise<number | undefined> {
  const [written] = await database.inAccount(
    account,
    [
      statement<{ readonly revision: number }>(registerText, [
        ...[account, id, type, JSON.stringify(spec)],
        ...[at, JSON.stringify(actor), requestId],
      ]),
    ],
    { write: true },
  );
  return written[0]?.revision;
}

const registerText = `with head as (
  update accounts set revision = revision + 1
  where account_id = $1
    and not exists (select from sources where account_id = $1 and id = $2 and type = $3 and spec = $4::jsonb)
  returning revision
), put as (
  insert into sources (account_id, id, type, spec, created_at)
  select $1, $2, $3, $4::jsonb, $5::timestamptz from head
  on conflict (account_id, id) do update set type = excluded.type, spec = excluded.spec
)
insert into revisions (account_id, revision, created_at, actor, source_id, request_id, summary)
select $1, head.revision, $5::timestamptz, $6::jsonb, $2, $7, '{"sources": 1}' from head
returning revision`;

/** Writes how a registered source fares; an equal status writes nothing. */
export async function putStatus(database: Database, account: string, id: string, status: JsonObject): Promise<void> {
  await database.inAccount(account, [statement(statusText, [account, id, JSON.stringify(status)])]);
}

const statusText = `update sources set status = $3::jsonb where account_id = $1 and id = $2 and status is distinct from $3::jsonb`;
