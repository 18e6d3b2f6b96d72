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

/** An integration whose lease a worker holds. Its writes are refused when the lease is lost. */
export interface HeldIntegration {
  readonly account: string;
  readonly integration: string;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

/** Condition that the lease with the name `$3` and the fence `$4` is held in the account `$1`. */
export const isHeld = `exists (
  select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())`;

type Values = readonly (string | number | boolean | null)[];

/** Runs a write. Returns no rows when the write was refused. */
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

/** A product's verdict on a peer: the problem with the peer, or an empty text. */
export interface VerdictUpdate {
  readonly peer: string;
  /** Absent: the product no longer decides about the peer. */
  readonly verdict?: string;
  /** Audit event to write. Absent when none is needed. */
  readonly entry?: AuditEntry;
}

/**
 * Writes the changed verdicts of a product on peers, with their audit events. Each peer may occur once. Returns false
 * when the lease is lost.
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
  // The head row is locked first, as commits do, so that the two never deadlock.
  const reports =
    events.length === 0 ? [] : [statement(eventsText, [account, lease.name, lease.fence, JSON.stringify(events)])];
  const results = await database.inAccount(
    account,
    [...reports, statement<object>(verdictsText, [...parameters, JSON.stringify(rows)])],
    { write: true },
  );
  database.countWrittenRows(rows.length);
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

/** Result of a complete sync. */
export interface SyncResult {
  readonly devices: number;
  /** Milliseconds until the product is queried again. */
  readonly waitMs: number;
  /** Revision of the integration at this sync. When the integration changes, its product is queried at once. */
  readonly revision: number;
}

/**
 * Records the start of a sync, and the time of the next one in case this one does not complete. Returns false when the
 * lease is lost, or when the sync is not due and not forced.
 */
export async function recordSyncAttempt(
  database: Database,
  held: HeldIntegration,
  { waitMs, revision, isForced }: Pick<SyncResult, 'waitMs' | 'revision'> & { readonly isForced: boolean },
): Promise<boolean> {
  return (await write(database, held, attemptText, [waitMs, revision, isForced])).length > 0;
}

/** Records a complete sync. From then on the product decides about peers. Returns false when the lease is lost. */
export async function recordSyncResult(
  database: Database,
  held: HeldIntegration,
  result: SyncResult,
): Promise<boolean> {
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

/** A failed sync. */
export interface SyncFailure {
  readonly reason: string;
  readonly waitMs: number;
  readonly revision: number;
  /** Number of devices found, when it is so low that an approval is needed. */
  readonly doubted?: number | undefined;
  /** Hours without a complete sync after which verdicts no longer count. */
  readonly trustedHours: number;
  /** Reason to store when verdicts no longer count. */
  readonly untrusted: string;
}

/**
 * Records a sync that failed, or whose result waits for an approval. Earlier verdicts are kept. Returns the reason why
 * they no longer count, or null if they still count. Returns `undefined` when the lease is lost.
 */
export async function recordSyncFailure(
  database: Database,
  held: HeldIntegration,
  failure: SyncFailure,
): Promise<{ readonly untrusted: string | null } | undefined> {
  const { reason, waitMs, revision, doubted = null, trustedHours, untrusted } = failure;
  const values = [reason, waitMs, revision, doubted, trustedHours, untrusted];
  const [row] = await write<{ readonly untrusted: string | null }>(database, held, failedText, values);
  return row;
}

// A product that responds but waits for an approval stays trusted, with the verdicts of its last complete sync.
const failedText = `update endpoint_security set failures = failures + 1, last_error = $5, last_error_at = clock_timestamp(),
  next_at = ${nextAt('$6')}, tried_revision = $7, doubted = $8,
  untrusted = case when $8::int is null and last_synced_at < clock_timestamp() - $9::float8 * interval '1 hour' then $10 end
where account_id = $1 and integration_id = $2 and ${isHeld} returning untrusted`;

/**
 * Writes the audit event that reports the problem of an integration. Writes it once per problem, until a sync completes
 * again.
 */
export async function reportSyncFailure(database: Database, held: HeldIntegration, entry: AuditEntry): Promise<void> {
  const { account, integration } = held;
  const parameters = [...auditParameters(account, entry), integration];
  await database.inAccount(account, [statement(reportText, parameters)], { write: true });
}

const reportText = `with failing as (
  update endpoint_security set reported = true
  where account_id = $1 and integration_id = $9 and not reported returning 1
), ${headAfter('failing')} ${insertAuditText}`;
