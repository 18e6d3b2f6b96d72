import { randomBytes } from 'node:crypto';
import { encodeQR } from 'qr';
import type { Credentials } from '../../../db/accounts/credentials.ts';
import {
  beginTotp,
  confirmTotp,
  disableTotp,
  renewRecoveryCodes,
  useRecoveryCode,
  useTotpStep,
} from '../../../db/accounts/totp.ts';
import type { AuditEntry } from '../../../db/audit-entry.ts';
import { isObject } from '../../../lib/json.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { ActivityCode } from '../../../model/declare/activities.ts';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import { type SealContext, sealContexts } from '../../../model/schema/sealing.ts';
import { requireAccount } from '../../accounts/tenants/steps.ts';
import type { ProviderContext } from './host.ts';
import type { Person } from './people.ts';
import { base32, matchingStep, newTotpSecret, totpUri } from './totp.ts';

/** Number of recovery codes (each replaces the app once), and number of bytes of each. */
const [many, bytes] = [10, 10];

/** The person whose second factor is used or changed, and their credentials. */
export interface FactorContext {
  readonly host: ProviderContext;
  readonly person: Person;
  readonly credentials: Credentials;
}

/** Returns whether the account of a person requires a second factor for every sign-in with a password. */
export async function requiresSecondFactor(
  { snapshots }: ProviderContext['engine'],
  { account, revision }: Pick<Person, 'account' | 'revision'>,
): Promise<boolean> {
  const { settings } = requireAccount(await snapshots.atLeast(account, revision)).spec;
  return isObject(settings) && settings['local_mfa_enabled'] === true;
}

/** Values for setting up an authenticator app: a secret, as text, as an `otpauth:` address and as a picture (SVG). */
export interface AppSetup {
  readonly secret: string;
  readonly uri: string;
  readonly picture: string;
}

/** Returns the values for setting up an authenticator app. */
export function createAppSetup(secret: string, email: string): AppSetup {
  const uri = totpUri(secret, email);
  return { secret, uri, picture: encodeQR(uri, 'svg', { border: 1 }) };
}

/** Uses up a code of the app or a recovery code. Returns whether the code was right. */
export async function useSecondFactor(factor: FactorContext, typed: string): Promise<boolean> {
  if (await useAppCode(factor, typed)) return true;
  const hash = recoveryHash(typed);
  if (hash === undefined) return false;
  const { host, credentials } = factor;
  return await useRecoveryCode(host.engine.database, credentials, hash, auditEntry(factor, 'user.mfa.recovery.use'));
}

/** Uses up a code of the app, so that it cannot be used again. Returns whether the code was right. */
export async function useAppCode({ host, credentials }: FactorContext, typed: string): Promise<boolean> {
  const { database, planEnvironment } = host.engine;
  const step = matchingStep(openTotp(planEnvironment, credentials), typed, host.now());
  return step !== undefined && (await useTotpStep(database, credentials, step));
}

/** Returns the secret of a person's app. */
export function openTotp({ vault }: Pick<PlanEnvironment, 'vault'>, credentials: Credentials): string {
  return vault.open(credentials.totpSecret ?? '', totpContext(credentials));
}

function totpContext({ account, email }: Credentials): SealContext {
  return sealContexts.secondFactor(account, email);
}

/**
 * Begins the setup of an app with a new secret; cancels the setup when `isOn` is false. Does nothing when the second
 * factor is on already.
 */
export async function prepareAppSetup({ host, credentials }: FactorContext, isOn: boolean): Promise<void> {
  const { database, planEnvironment } = host.engine;
  await beginTotp(
    database,
    credentials,
    isOn ? planEnvironment.vault.seal(newTotpSecret(), totpContext(credentials)) : null,
  );
}

/**
 * Switches the second factor on. Returns the recovery codes; `undefined` when a concurrent request changed the setup.
 */
export async function enableSecondFactor(factor: FactorContext): Promise<readonly string[] | undefined> {
  const { host, credentials } = factor;
  const { codes, hashes } = newRecoveryCodes();
  const entry = auditEntry(factor, 'user.mfa.enable');
  return (await confirmTotp(host.engine.database, credentials, hashes, entry)) ? codes : undefined;
}

/** Switches the second factor off. */
export async function disableSecondFactor(factor: FactorContext): Promise<void> {
  await disableTotp(factor.host.engine.database, factor.credentials, auditEntry(factor, 'user.mfa.disable'));
}

/** Creates new recovery codes. The previous codes become invalid. */
export async function replaceRecoveryCodes(factor: FactorContext): Promise<readonly string[]> {
  const { codes, hashes } = newRecoveryCodes();
  const entry = auditEntry(factor, 'user.mfa.recovery.renew');
  await renewRecoveryCodes(factor.host.engine.database, factor.credentials, hashes, entry);
  return codes;
}

function auditEntry({ host, person }: FactorContext, code: ActivityCode): AuditEntry {
  const { id, name, email } = person;
  return {
    actor: { type: 'user', id, name, email },
    event: { code, target: id, meta: { name } },
    at: host.engine.now(),
  };
}

function newRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly string[] } {
  const codes = Array.from({ length: many }, () =>
    (base32(randomBytes(bytes)).toLowerCase().match(/.{4}/g) ?? []).join('-'),
  );
  return { codes, hashes: codes.flatMap((code) => recoveryHash(code) ?? []) };
}

/**
 * Returns the hash of a recovery code as it is stored, independent of case, spaces and hyphens; `undefined` when the
 * text cannot be a code. Codes are too long to be guessed from their hash.
 */
function recoveryHash(typed: string): string | undefined {
  const bare = typed.toLowerCase().replace(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(bare) ? sha256(bare) : undefined;
}
