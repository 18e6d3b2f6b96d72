import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';

/** Progress and status of the sync of a directory. */
export interface DirectorySyncRow {
  /** Hash of the settings for which the links are valid. */
  readonly basis: string;
  readonly generation: number;
  /** Whether the whole directory is being read again. */
  readonly full: boolean;
  readonly groups_link: string | null;
  /** Whether all groups were read. If so, the link leads to the changes since then. */
  readonly groups_read: boolean;
  readonly users_link: string | null;
  readonly users_read: boolean;
  /** Age of the links, in milliseconds. */
  readonly link_age_ms: number | null;
  readonly failures: number;
  /** Whether an audit event has reported the failure already. */
  readonly reported: boolean;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
  readonly next_at: Date | null;
  /** Revision of the account when the read data was applied. Null when it was not applied. */
  readonly applied_revision: number | null;
  /** Reason why the read data is not applied. */
  readonly waiting: string | null;
  readonly secret_basis: string | null;
  readonly secret_age_ms: number | null;
  readonly secret_ends_at: Date | null;
  readonly secret_note: string | null;
  /** Days before the end of the secret at which the last warning was written. */
  readonly secret_warned: number | null;
}

/** An integration whose directory this server reads. Its writes are refused when the lease is lost. */
export interface HeldSync {
  readonly account: string;
  readonly integration: string;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

/**
 * Condition of every write: the row belongs to the integration, and the lease is held. It uses the parameters `$1` to
 * `$4`.
 */
export const isHeld = `s.account_id = $1 and s.integration_id = $2 and exists (
  select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())`;

/** Returns the first four parameters of every write. */
export function heldParameters({ account, integration, lease }: HeldSync): readonly unknown[] {
  return [account, integration, lease.name, lease.fence];
}

/** Returns the progress and status of a sync, or `undefined` before the first read. */
export async function readSync(
  database: Database,
  account: string,
  integration: string,
): Promise<DirectorySyncRow | undefined> {
  const [[row]] = await database.inAccount(account, [statement<DirectorySyncRow>(readText, [account, integration])]);
  return row;
}

const readText = `select basis, generation, "full", groups_link, groups_read, users_link, users_read, failures, reported, last_error, last_error_at, next_at,
  applied_revision, waiting, secret_basis, secret_ends_at, secret_note, secret_warned,
  (extract(epoch from clock_timestamp() - linked_at) * 1000)::float8 as link_age_ms,
  (extract(epoch from clock_timestamp() - secret_checked_at) * 1000)::float8 as secret_age_ms
from directory_syncs where account_id = $1 and integration_id = $2`;

/**
 * Resets the progress of a sync: everything is read again, for the settings `basis`. Returns false when the lease is
 * lost or the integration is deleted.
 */
export function beginFullSync(database: Database, held: HeldSync, basis: string): Promise<boolean> {
  return write(database, held, beginText, [basis]);
}

const beginText = `insert into directory_syncs as s (account_id, integration_id, basis)
select $1, o.id, $5 from objects o where o.account_id = $1 and o.id = $2
  and exists (select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())
for key share of o
on conflict (account_id, integration_id) do update set basis = excluded.basis, "full" = true, generation = s.generation + 1,
  groups_link = null, groups_read = false, users_link = null, users_read = false, linked_at = null, applied_revision = null
returning 1`;

/** Result of a completed sync. */
export interface SyncResult {
  /** Milliseconds until the next sync. */
  readonly waitMs: number;
  /** Revision of the integration at this sync. When the integration changes, it is synced at once. */
  readonly revision: number;
  /** Revision of the account when the read data was applied. Absent: it was not applied. */
  readonly appliedRevision?: number | undefined;
  /** Reason why it was not applied. */
  readonly waiting?: string | undefined;
}

/**
 * Records the start of a sync, and the time of the next one in case this one does not complete. Returns false when the
 * lease is lost.
 */
export function recordSyncAttempt(
  database: Database,
  held: HeldSync,
  { waitMs, revision }: Pick<SyncResult, 'waitMs' | 'revision'>,
): Promise<boolean> {
  return write(database, held, attemptText, [waitMs, revision]);
}

const attemptText = `update directory_syncs s set next_at = clock_timestamp() + $5::float8 * interval '1 millisecond',
  tried_revision = $6
where ${isHeld} returning 1`;

/** Records a completed sync. Returns false when the lease is lost. */
export function recordSyncResult(database: Database, held: HeldSync, end: SyncResult): Promise<boolean> {
  const { waitMs, revision, appliedRevision = null, waiting = null } = end;
  return write(database, held, endText, [waitMs, revision, appliedRevision, waiting]);
}

const endText = `update directory_syncs s set failures = 0, reported = false, ended_at = clock_timestamp(),
  next_at = clock_timestamp() + $5::float8 * interval '1 millisecond', tried_revision = $6, applied_revision = $7, waiting = $8
where ${isHeld} returning 1`;

/** A sync that did not complete. */
export interface SyncFailure extends Pick<SyncResult, 'waitMs' | 'revision'> {
  readonly reason: string;
  /** Number of consecutive failures. */
  readonly failures: number;
}

/** Records a failed sync. Returns false when the lease is lost. */
export function recordSyncFailure(database: Database, held: HeldSync, fault: SyncFailure): Promise<boolean> {
  const { reason, failures, waitMs, revision } = fault;
  return write(database, held, failedText, [reason, waitMs, revision, failures]);
}

const failedText = `update directory_syncs s set failures = $8, last_error = $5, last_error_at = clock_timestamp(),
  next_at = clock_timestamp() + $6::float8 * interval '1 millisecond', tried_revision = $7
where ${isHeld} returning 1`;

/** Writes the audit event that reports failing syncs. Writes it once per failure, until a sync completes again. */
export async function reportSyncFailure(
  database: Database,
  { account, integration }: HeldSync,
  entry: AuditEntry,
): Promise<void> {
  const parameters = [...auditParameters(account, entry), integration];
  await database.inAccount(account, [statement(reportText, parameters)], { write: true });
}

const reportText = `with failing as (
  update directory_syncs set reported = true where account_id = $1 and integration_id = $9 and not reported returning 1
), ${headAfter('failing')} ${insertAuditText}`;

/** Expiry of the client secret of an integration. */
export interface SecretExpiry {
  /** Hash that identifies the secret. */
  readonly basis: string;
  /** Time of expiry, in ISO 8601. Absent when the directory does not report it. */
  readonly ends?: string | undefined;
  /** Reason why the directory does not report it. */
  readonly note?: string | undefined;
}

/** Records the expiry of the secret. Returns false when the lease is lost. */
export function recordSecretExpiry(
  database: Database,
  held: HeldSync,
  { basis, ends = '', note = '' }: SecretExpiry,
): Promise<boolean> {
  return write(database, held, secretText, [basis, ends, note]);
}

const secretText = `update directory_syncs s set secret_checked_at = clock_timestamp(), secret_basis = $5,
  secret_ends_at = nullif($6::text, '')::timestamptz, secret_note = nullif($7::text, ''),
  secret_warned = case when s.secret_basis = $5 and s.secret_ends_at = nullif($6::text, '')::timestamptz then s.secret_warned end
where ${isHeld} returning 1`;

/** Writes the audit event that the secret expires within `days` days, once for each number of days. */
export async function warnOfSecretExpiry(
  database: Database,
  { account, integration }: HeldSync,
  days: number,
  entry: AuditEntry,
): Promise<void> {
  const parameters = [...auditParameters(account, entry), integration, days];
  await database.inAccount(account, [statement(warnText, parameters)], { write: true });
}

const warnText = `with ending as (
  update directory_syncs set secret_warned = $10
  where account_id = $1 and integration_id = $9 and (secret_warned is null or secret_warned > $10) returning 1
), ${headAfter('ending')} ${insertAuditText}`;

async function write(database: Database, held: HeldSync, text: string, values: readonly unknown[]): Promise<boolean> {
  const parameters = [...heldParameters(held), ...values];
  const [rows] = await database.inAccount(held.account, [statement<object>(text, parameters)], { write: true });
  return rows.length > 0;
}
