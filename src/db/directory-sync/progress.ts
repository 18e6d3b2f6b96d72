import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';

/** How far reading a directory is, and how it fares. */
export interface DirectorySyncRow {
  /** Stands for the settings that the links are for. */
  readonly basis: string;
  readonly generation: number;
  /** Everything is being read anew. */
  readonly full: boolean;
  readonly groups_link: string | null;
  /** All groups were read; behind the link is what changed since. */
  readonly groups_read: boolean;
  readonly users_link: string | null;
  readonly users_read: boolean;
  /** How old the links are, in milliseconds. */
  readonly link_age_ms: number | null;
  readonly failures: number;
  /** Whether an event says already that it fails. */
  readonly reported: boolean;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
  readonly next_at: Date | null;
  /** The revision of the account when what was read was applied. */
  readonly applied_revision: number | null;
  /** Why what was read is not applied. */
  readonly waiting: string | null;
  readonly secret_basis: string | null;
  readonly secret_age_ms: number | null;
  readonly secret_ends_at: Date | null;
  readonly secret_note: string | null;
  /** How many days before its end an event said so. */
  readonly secret_warned: number | null;
}

/** An integration whose directory this server reads. What it writes is refused when the lease is lost. */
export interface HeldSync {
  readonly account: string;
  readonly integration: string;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

/** The condition of every write: the row is that of the integration, and the lease is held. Its parameters are the first four. */
export const isHeld = `s.account_id = $1 and s.integration_id = $2 and exists (
  select from leases l where l.account_id = $1 and l.name = $3 and l.fence = $4 and l.until > clock_timestamp())`;

/** The first four parameters of every write. */
export function heldParameters({ account, integration, lease }: HeldSync): readonly unknown[] {
  return [account, integration, lease.name, lease.fence];
}

/** How a sync stands; a new one has read nothing. */
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

/** Forgets where reading was: everything is read anew, for these settings. An integration that is being deleted begins nothing. */
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

/** How a run ended that came to its end. */
export interface SyncEnd {
  /** Until the next one, in milliseconds. */
  readonly waitMs: number;
  /** The version of the integration: with another one it runs at once. */
  readonly revision: number;
  /** The revision of the account when what was read was applied; absent: it was not. */
  readonly appliedRevision?: number | undefined;
  /** Why it was not. */
  readonly waiting?: string | undefined;
}

/** Notes that a run begins, and when the next one does if this one comes to no end. Returns `false` when the lease is lost. */
export function noteSyncAttempt(
  database: Database,
  held: HeldSync,
  { waitMs, revision }: Pick<SyncEnd, 'waitMs' | 'revision'>,
): Promise<boolean> {
  return write(database, held, attemptText, [waitMs, revision]);
}

const attemptText = `update directory_syncs s set next_at = clock_timestamp() + $5::float8 * interval '1 millisecond',
  tried_revision = $6
where ${isHeld} returning 1`;

/** Notes the end of a run. */
export function noteSyncEnd(database: Database, held: HeldSync, end: SyncEnd): Promise<boolean> {
  const { waitMs, revision, appliedRevision = null, waiting = null } = end;
  return write(database, held, endText, [waitMs, revision, appliedRevision, waiting]);
}

const endText = `update directory_syncs s set failures = 0, reported = false, ended_at = clock_timestamp(),
  next_at = clock_timestamp() + $5::float8 * interval '1 millisecond', tried_revision = $6, applied_revision = $7, waiting = $8
where ${isHeld} returning 1`;

/** Why a run came to no end. */
export interface SyncFault extends Pick<SyncEnd, 'waitMs' | 'revision'> {
  readonly reason: string;
  /** How many times in a row. */
  readonly failures: number;
}

/** Notes a run that failed. */
export function noteSyncFault(database: Database, held: HeldSync, fault: SyncFault): Promise<boolean> {
  const { reason, failures, waitMs, revision } = fault;
  return write(database, held, faultText, [reason, waitMs, revision, failures]);
}

const faultText = `update directory_syncs s set failures = $8, last_error = $5, last_error_at = clock_timestamp(),
  next_at = clock_timestamp() + $6::float8 * interval '1 millisecond', tried_revision = $7
where ${isHeld} returning 1`;

/** Writes the audit event that says that syncs fail, once for each time that they do. */
export async function reportSyncFault(
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

/** What is known of the secret with which an integration signs in. */
export interface SecretLife {
  /** Stands for the secret. */
  readonly basis: string;
  /** ISO 8601; absent: the directory does not say. */
  readonly ends?: string | undefined;
  /** Why it does not. */
  readonly note?: string | undefined;
}

/** Notes when the secret ends. */
export function noteSecretLife(
  database: Database,
  held: HeldSync,
  { basis, ends = '', note = '' }: SecretLife,
): Promise<boolean> {
  return write(database, held, secretText, [basis, ends, note]);
}

const secretText = `update directory_syncs s set secret_checked_at = clock_timestamp(), secret_basis = $5,
  secret_ends_at = nullif($6::text, '')::timestamptz, secret_note = nullif($7::text, ''),
  secret_warned = case when s.secret_basis = $5 and s.secret_ends_at = nullif($6::text, '')::timestamptz then s.secret_warned end
where ${isHeld} returning 1`;

/** Writes the audit event that says that the secret ends within so many days, once. Returns whether it did. */
export async function warnOfSecretEnd(
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
