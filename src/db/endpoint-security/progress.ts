import {
  type AuditEntry,
  auditParameters,
  eventRow,
  headAfter,
  insertAuditText,
  insertEventsText,
  numberEventsText,
} from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';

/** An integration as its worker holds it. What it writes is refused once the lease is lost. */
export interface HeldIntegration {
  readonly account: string;
  readonly integration: string;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

/** Whether the lease, the third and the fourth parameter, is held in the account, the first one. */
export const isHeld = `exists (
  select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())`;

type Values = readonly (string | number | boolean | null)[];

/** Runs a write; it returns no row when it was refused. */
export async function write<Row extends object>(
  database: Database,
  held: HeldIntegration,
  text: string,
  values: Values,
): Promise<readonly Row[]> {
  const { account, integration, lease } = held;
  const parameters = [account, integration, lease.name, lease.fence, ...values];
  const [rows] = await database.inAccount(account, [statement<Row>(text, parameters)], { write: true });
  return rows;
}

/** What a product says about a peer: what is wrong with it, or an empty text. */
export interface VerdictUpdate {
  readonly peer: string;
  /** Absent: the product decides about it no longer. */
  readonly verdict?: string;
  /** Absent when nobody needs to know. */
  readonly entry?: AuditEntry;
}

/**
 * Writes what a product says about peers about whom it says something else than before, with the audit events that report
 * it. Each peer may occur once. Returns `false` when the lease is lost.
 */
export async function writeVerdicts(
  database: Database,
  held: HeldIntegration,
  updates: readonly VerdictUpdate[],
): Promise<boolean> {
  const { account, integration, lease } = held;
  const parameters = [account, integration, lease.name, lease.fence];
  const rows = updates.map(({ peer, verdict = null }) => ({ peer, verdict }));
  const events = updates.flatMap(({ entry }) => (entry === undefined ? [] : [eventRow(entry)]));
  // The head row is locked first, as commits lock it, so that the two never wait for each other.
  const reports =
    events.length === 0 ? [] : [statement(eventsText, [account, lease.name, lease.fence, JSON.stringify(events)])];
  const results = await database.inAccount(
    account,
    [...reports, statement<object>(verdictsText, [...parameters, JSON.stringify(rows)])],
    { write: true },
  );
  database.wrote(rows.length);
  return (results.at(-1) ?? []).length > 0;
}

const eventsText = `with ${numberEventsText(
  'json_array_length($4::json)',
  ' and exists (select from leases l where l.account_id = $1 and l.name = $2 and l.fence = $3 and l.until > clock_timestamp())',
)} ${insertEventsText('$4::json')}`;

const verdictsText = `with written as (
  insert into peer_status as s (account_id, peer_id, verdicts)
  select $1, x.peer, jsonb_build_object($2::text, x.verdict)
  from json_to_recordset($5::json) as x(peer text, verdict text)
  where ${isHeld} and exists (select from objects o where o.account_id = $1 and o.id = x.peer)
  order by x.peer
  on conflict (account_id, peer_id) do update set
    verdicts = jsonb_strip_nulls(coalesce(s.verdicts, '{}') || excluded.verdicts), written = pg_current_xact_id()
)
select 1 where ${isHeld}`;

/** How a complete sync ended. */
export interface SyncResult {
  readonly devices: number;
  /** In milliseconds: when the product is asked again. */
  readonly waitMs: number;
  /** The version of the integration: with another one it is asked at once. */
  readonly revision: number;
}

/** Notes that a sync begins, and when the product is asked again if it comes to no end. Returns `false` when the lease is lost. */
export async function noteAttempt(
  database: Database,
  held: HeldIntegration,
  { waitMs, revision, isForced }: Pick<SyncResult, 'waitMs' | 'revision'> & { readonly isForced: boolean },
): Promise<boolean> {
  return (await write(database, held, attemptText, [waitMs, revision, isForced])).length > 0;
}

/** Notes a complete sync: from now on the product decides. */
export async function noteSynced(database: Database, held: HeldIntegration, result: SyncResult): Promise<boolean> {
  const rows = await write(database, held, syncedText, [result.devices, result.waitMs, result.revision]);
  return rows.length > 0;
}

const nextAt = (wait: string): string => `clock_timestamp() + ${wait}::float8 * interval '1 millisecond'`;

const attemptText = `update endpoint_security set next_at = ${nextAt('$5')}, tried_revision = $6
where account_id = $1 and integration_id = $2 and ${isHeld}
  and ($7 or next_at is null or next_at <= clock_timestamp() or tried_revision is distinct from $6) returning 1`;

const syncedText = `update endpoint_security set decides = true, untrusted = null, devices = $5, doubted = null,
  last_synced_at = clock_timestamp(), failures = 0, reported = false, last_error = null, last_error_at = null,
  next_at = ${nextAt('$6')}, tried_revision = $7, credential_warned = nullif(credential_warned, 0)
where account_id = $1 and integration_id = $2 and ${isHeld} returning 1`;

/** How a sync failed. */
export interface SyncFailure {
  readonly reason: string;
  readonly waitMs: number;
  readonly revision: number;
  /** How many devices it found, when they are so few that an approval is needed. */
  readonly doubted?: number | undefined;
  /** After so many hours without a complete sync no verdict counts any more. */
  readonly trustedHours: number;
  /** Why then. */
  readonly untrusted: string;
}

/**
 * Notes a sync that failed, or whose result waits for an approval; the verdicts before it stay. Returns why they do not count
 * any more, if they do not; nothing when the lease is lost.
 */
export async function noteSyncFailure(
  database: Database,
  held: HeldIntegration,
  failure: SyncFailure,
): Promise<{ readonly untrusted: string | null } | undefined> {
  const { reason, waitMs, revision, doubted = null, trustedHours, untrusted } = failure;
  const values = [reason, waitMs, revision, doubted, trustedHours, untrusted];
  const [row] = await write<{ readonly untrusted: string | null }>(database, held, failedText, values);
  return row;
}

// A product that answers and waits for an approval is trusted as far as its last complete sync.
const failedText = `update endpoint_security set failures = failures + 1, last_error = $5, last_error_at = clock_timestamp(),
  next_at = ${nextAt('$6')}, tried_revision = $7, doubted = $8,
  untrusted = case when $8::int is null and last_synced_at < clock_timestamp() - $9::float8 * interval '1 hour' then $10 end
where account_id = $1 and integration_id = $2 and ${isHeld} returning untrusted`;

/** Writes the audit event that says what is wrong with an integration, once for each time that something is. */
export async function reportSyncFailure(database: Database, held: HeldIntegration, entry: AuditEntry): Promise<void> {
  const { account, integration } = held;
  const parameters = [...auditParameters(account, entry), integration];
  await database.inAccount(account, [statement(reportText, parameters)], { write: true });
}

const reportText = `with failing as (
  update endpoint_security set reported = true
  where account_id = $1 and integration_id = $9 and not reported returning 1
), ${headAfter('failing')} ${insertAuditText}`;
