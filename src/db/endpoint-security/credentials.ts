import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { type HeldIntegration, isHeld, write } from './progress.ts';

/** What a product says about the credentials of an integration. */
export interface CredentialLife {
  /** Stands for the credentials. */
  readonly basis: string;
  /** Absent: it says nothing of an end. */
  readonly ends: string | undefined;
}

/** Notes when the credentials end, as the product says now. Returns `false` when the lease is lost. */
export async function noteCredential(
  database: Database,
  held: HeldIntegration,
  { basis, ends = '' }: CredentialLife,
): Promise<boolean> {
  return (await write(database, held, lifeText, [basis, ends])).length > 0;
}

// With another end, what was warned of is another thing.
const lifeText = `update endpoint_security set credential_checked_at = clock_timestamp(), credential_basis = $5,
  credential_ends_at = nullif($6::text, '')::timestamptz,
  credential_warned = case when credential_basis = $5
    and credential_ends_at is not distinct from nullif($6::text, '')::timestamptz then credential_warned end
where account_id = $1 and integration_id = $2 and ${isHeld} returning 1`;

/** An event about the end of credentials. */
export interface CredentialWarning {
  /** How many days before; 0: they have ended. */
  readonly days: number;
  readonly basis: string;
  readonly entry: AuditEntry;
}

/** Writes the audit event that says that credentials end within so many days, once for each number of days. */
export async function warnOfCredential(
  database: Database,
  { account, integration }: HeldIntegration,
  { days, basis, entry }: CredentialWarning,
): Promise<void> {
  const parameters = [...auditParameters(account, entry), integration, days, basis];
  await database.inAccount(account, [statement(warnText, parameters)], { write: true });
}

const ifSame = (column: string): string => `${column} = case when credential_basis = $11 then ${column} end`;

const warnText = `with ending as (
  update endpoint_security set credential_basis = $11, credential_warned = $10,
    ${ifSame('credential_checked_at')}, ${ifSame('credential_ends_at')}
  where account_id = $1 and integration_id = $9
    and (credential_basis is distinct from $11 or credential_warned is null or credential_warned > $10) returning 1
), ${headAfter('ending')} ${insertAuditText}`;
