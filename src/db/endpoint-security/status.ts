import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { AccountAccess, Database } from '../database.ts';

/** Stored status of an integration. */
export interface IntegrationStatusRow {
  readonly integration_id: string;
  readonly decides: boolean;
  readonly untrusted: string | null;
  readonly devices: number | null;
  readonly doubted: number | null;
  readonly last_synced_at: Date | null;
  readonly failures: number;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
  readonly next_at: Date | null;
  readonly reported: boolean;
  /** Hash of the credentials to which the other `credential_` columns belong. */
  readonly credential_basis: string | null;
  /** Milliseconds since the product was queried about the credentials. */
  readonly credential_age_ms: number | null;
  readonly credential_ends_at: Date | null;
  /** Days before the expiry at which the last warning was written. */
  readonly credential_warned: number | null;
}

/**
 * Returns the status of the integrations of an account that have a row (see `createMissingIntegrations`), ordered by
 * id. With `integration`, returns only this one.
 */
export async function listIntegrationStatus(
  database: AccountAccess,
  account: string,
  integration?: string,
): Promise<readonly IntegrationStatusRow[]> {
  const [rows] = await database.inAccount(account, [
    statement<IntegrationStatusRow>(listText, [account, integration ?? null]),
  ]);
  return rows;
}

const listText = `select integration_id, decides, untrusted, devices, doubted, last_synced_at, failures, last_error, last_error_at,
  next_at, reported, credential_basis, credential_ends_at, credential_warned,
  (extract(epoch from clock_timestamp() - credential_checked_at) * 1000)::float8 as credential_age_ms
from endpoint_security where account_id = $1 and ($2::text is null or integration_id = $2) order by integration_id`;

/** An action of a user on an integration, with its audit event. */
export interface IntegrationAction {
  readonly account: string;
  readonly integration: string;
  readonly entry: AuditEntry;
}

/**
 * Accepts the low number of devices that the product last reported. Returns this number, or `undefined` when no number
 * waits for an approval.
 */
export async function acceptDeviceLoss(database: Database, action: IntegrationAction): Promise<number | undefined> {
  const [row] = await runAction<{ readonly devices: number }>(database, action, acceptText);
  return row?.devices;
}

const acceptText = `update endpoint_security set devices = doubted, doubted = null, next_at = null, failures = 0,
  reported = false, last_error = null, last_error_at = null
where account_id = $1 and integration_id = $9 and doubted is not null returning devices`;

/** Makes an integration due at once. Returns whether the integration exists. */
export async function scheduleSync(database: Database, action: IntegrationAction): Promise<boolean> {
  return (await runAction(database, action, scheduleText)).length > 0;
}

const scheduleText = `update endpoint_security set next_at = null
where account_id = $1 and integration_id = $9 returning devices`;

async function runAction<Row extends object>(
  database: Database,
  { account, integration, entry }: IntegrationAction,
  clause: string,
): Promise<readonly Row[]> {
  const text = `with done as (${clause}), ${headAfter('done')}, noted as (${insertAuditText} returning 1)
    select done.* from done`;
  const parameters = [...auditParameters(account, entry), integration];
  const [rows] = await database.inAccount(account, [statement<Row>(text, parameters)], { write: true });
  return rows;
}
