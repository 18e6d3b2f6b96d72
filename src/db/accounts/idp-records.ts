import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** A temporary record of the embedded identity provider. Ids are hashes, and the payload is sealed. */
export interface IdpRecord {
  readonly model: string;
  readonly id: string;
  readonly payload: string;
  /** User id. Absent while the person is still unknown. */
  readonly user?: string | undefined;
  readonly grant?: string | undefined;
  readonly uid?: string | undefined;
  readonly code?: string | undefined;
  readonly lifetimeSeconds: number;
}

/** A stored record. */
export interface FoundRecord {
  readonly id: string;
  readonly payload: string;
  /** Time at which the record was used up. Null when it is unused. */
  readonly consumed_at: Date | null;
}

/** Columns by which a record can be looked up. */
export type RecordKey = 'id' | 'uid_hash' | 'code_hash';

/** Stores a record, and replaces an existing one with the same model and id. */
export async function putRecord(database: Database, record: IdpRecord): Promise<void> {
  const { model, id, payload, user, grant, uid, code, lifetimeSeconds } = record;
  await database.lookUp(
    statement(putText, [
      model,
      id,
      payload,
      user ?? null,
      grant ?? null,
      uid ?? null,
      code ?? null,
      String(lifetimeSeconds),
    ]),
  );
}

const putText = `insert into idp_records (model, id, payload, user_id, grant_hash, uid_hash, code_hash, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, now() + $8::text::interval second)
on conflict (model, id) do update set payload = excluded.payload, user_id = excluded.user_id,
  grant_hash = excluded.grant_hash, uid_hash = excluded.uid_hash, code_hash = excluded.code_hash, expires_at = excluded.expires_at`;

/** Returns the record with a key, even when it has expired. */
export async function findRecord(
  database: Database,
  model: string,
  key: RecordKey,
  value: string,
): Promise<FoundRecord | undefined> {
  const [row] = await database.lookUp(
    statement<FoundRecord>(
      `select id, payload, consumed_at from idp_records where model = $1 and ${key} = $2 order by expires_at desc limit 1`,
      [model, value],
    ),
  );
  return row;
}

/** Marks a record as used up. Returns true when it was unused: of several concurrent calls, only one returns true. */
export async function consumeRecord(database: Database, model: string, id: string): Promise<boolean> {
  const rows = await database.lookUp(
    statement<{ readonly id: string }>(
      'update idp_records set consumed_at = now() where model = $1 and id = $2 and consumed_at is null returning id',
      [model, id],
    ),
  );
  return rows.length === 1;
}

/**
 * Reserves a name for a number of seconds. Returns true when it was free: of several concurrent calls, only one returns
 * true.
 */
export async function reserveName(database: Database, model: string, id: string, seconds: number): Promise<boolean> {
  const rows = await database.lookUp(
    statement<{ readonly id: string }>(
      `insert into idp_records (model, id, payload, expires_at) values ($1, $2, '', now() + $3::text::interval second)
       on conflict (model, id) do update set expires_at = excluded.expires_at where idp_records.expires_at <= now()
       returning id`,
      [model, id, String(seconds)],
    ),
  );
  return rows.length === 1;
}

/**
 * Returns whether a grant exists and has not expired. Sessions and tokens of the grant are valid only as long as the
 * grant exists.
 */
export async function hasGrant(database: Database, grant: string): Promise<boolean> {
  const rows = await database.lookUp(
    statement("select 1 from idp_records where grant_hash = $1 and model = 'Grant' and expires_at > now()", [grant]),
  );
  return rows.length > 0;
}

/** Deletes a record. */
export async function deleteRecord(database: Database, model: string, id: string): Promise<void> {
  await database.lookUp(statement('delete from idp_records where model = $1 and id = $2', [model, id]));
}

/** Deletes a grant and every record that belongs to it. */
export async function deleteGrant(database: Database, grant: string): Promise<void> {
  await database.lookUp(statement('delete from idp_records where grant_hash = $1', [grant]));
}

/** Deletes the sessions, grants and tokens of a person, except the session with the uid hash `keepUid`. */
export async function deleteRecordsOfUser(database: Database, user: string, keepUid = ''): Promise<void> {
  await database.lookUp(
    statement('delete from idp_records where user_id = $1 and (uid_hash is null or uid_hash <> $2)', [user, keepUid]),
  );
}

/** Deletes the sessions, grants and tokens of the given people. */
export async function deleteRecordsOfUsers(database: Database, users: readonly string[]): Promise<void> {
  await database.lookUp(statement('delete from idp_records where user_id = any($1::text[])', [users]));
}

/**
 * Deletes records that expired more than 5 minutes ago, and the sessions, grants and refresh tokens of people who no
 * longer exist. Returns the number of deleted records.
 */
export async function deleteEndedRecords(database: Database): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>(
      `with gone as (
         delete from idp_records r where expires_at < now() - interval '5 minutes' or (
           model in ('Session', 'Grant', 'RefreshToken')
           and not exists (select from directory d where d.kind = 'user' and d.value = r.user_id)
         ) returning id
       ) select count(*) as count from gone`,
      [],
    ),
  );
  return row?.count ?? 0;
}
