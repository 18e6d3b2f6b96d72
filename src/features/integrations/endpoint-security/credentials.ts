import type { Engine } from '../../../commit/engine.ts';
import { recordCredentialExpiry, warnOfCredentialExpiry } from '../../../db/endpoint-security/credentials.ts';
import type { HeldIntegration } from '../../../db/endpoint-security/progress.ts';
import type { IntegrationStatusRow } from '../../../db/endpoint-security/status.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { dueWarning } from '../secret-warnings.ts';
import { type Vendor, VendorFailure } from './vendor.ts';
import { systemActor } from './verdicts.ts';

/** Credentials to watch, and their integration. */
export interface CredentialWatch {
  readonly engine: Engine;
  readonly held: HeldIntegration;
  readonly row: IntegrationStatusRow;
  readonly platform: string;
  /** Hash that identifies the credentials. */
  readonly basis: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Asks the product once a day when the credentials end, and writes an event 30 and 7 days before that. */
export async function checkCredential(watch: CredentialWatch, vendor: Pick<Vendor, 'credentialExpiry'>): Promise<void> {
  const { engine, held, row, basis } = watch;
  if (vendor.credentialExpiry === undefined) return;
  const isSame = row.credential_basis === basis;
  const isKnown = isSame && row.credential_age_ms !== null && row.credential_age_ms < dayMs;
  const life = isKnown
    ? { ends: row.credential_ends_at?.toISOString() }
    : await queryCredentialExpiry(vendor.credentialExpiry);
  if (life === undefined) return;
  const { ends } = life;
  if (!isKnown && !(await recordCredentialExpiry(engine.database, held, { basis, ends }))) return;
  if (ends === undefined) return;
  // 0 records that the product refused the credentials. It accepts them now, so they have not ended.
  const warned = isSame && row.credential_warned !== 0 ? row.credential_warned : null;
  const days = dueWarning(ends, engine.now(), warned);
  if (days !== undefined) await warnOfExpiry(watch, days, { ends });
}

/** Reports that a product refuses the credentials. Most credentials have an end that the product does not announce. */
export async function reportRefusedCredential(watch: CredentialWatch, reason: string): Promise<void> {
  await warnOfExpiry(watch, 0, { reason });
}

/** Returns `undefined` when the product could not be queried now. */
async function queryCredentialExpiry(
  ask: () => Promise<string | undefined>,
): Promise<{ readonly ends: string | undefined } | undefined> {
  try {
    return { ends: await ask() };
  } catch (error) {
    if (error instanceof VendorFailure) return undefined;
    throw error;
  }
}

async function warnOfExpiry(
  { engine, held, platform, basis }: CredentialWatch,
  days: number,
  meta: JsonObject,
): Promise<void> {
  const event = { code: 'edr.sync.token.expire', target: held.integration, meta: { ...meta, platform } } as const;
  await warnOfCredentialExpiry(engine.database, held, {
    days,
    basis,
    entry: { actor: systemActor, event, at: engine.now() },
  });
}
