import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { type IdpKeyRow, listIdpKeys, type NewIdpKey, renewIdpKeys } from '../../../db/accounts/idp-keys.ts';
import type { Database } from '../../../db/database.ts';
import { sealContexts, type Vault } from '../../../model/schema/sealing.ts';

/** Algorithm of token signatures. */
export const signingAlgorithm = 'ES256';

/** A private key as JWK, with its key id. */
export type SigningKey = JsonWebKey & { readonly kid: string };

/** The keys of the provider at one time. */
export interface KeyRing {
  /** Number that changes whenever the keys change. */
  readonly epoch: number;
  /** Keys of token signatures. The first one signs; the others only verify. */
  readonly signing: readonly SigningKey[];
  /** Secret that signs cookies and forms. */
  readonly cookieSecret: string;
}

/** The keys of the provider. They are stored in the database, so that all servers use the same keys. */
export interface ProviderKeys {
  /** Returns the keys as they are, or were a moment ago, in the database. */
  current(): Promise<KeyRing>;
  /** Replaces the signing key with a new one when it is old enough; with `now`, in any case. */
  renew(when?: 'now'): Promise<KeyRing>;
  /** Finds the key of a token, including a key that another server has just created. */
  readonly find: JWTVerifyGetKey;
  epoch(): number;
}

export interface ProviderKeysOptions {
  readonly database: Database;
  readonly vault: Vault;
  /** Age at which the signing key is replaced, in seconds. */
  readonly rotateAfter: number;
  /** How long keys are used before they are read again, in milliseconds. */
  readonly freshMs?: number;
}

/** How long a replaced key is kept, in seconds: longer than the lifetime of any token that it signed. */
const retiredKeySeconds = 2 * 3600;

/** Opens the keys. They are created when they are first read. */
export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const { database, vault, rotateAfter, freshMs = 2000 } = options;
  let ring: (KeyRing & { readonly ids: string; readonly verify: JWTVerifyGetKey }) | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const renewed = async (seconds: number) => {
    await renewIdpKeys(database, { rotateAfter: seconds, keepRetired: retiredKeySeconds }, (purpose) =>
      makeKey(vault, purpose),
    );
    return await read();
  };
  const read = async (): Promise<NonNullable<typeof ring>> => {
    const rows = await listIdpKeys(database);
    if (!rows.some(({ purpose, retired_at }) => purpose === 'sign' && retired_at === null)) return renewed(rotateAfter);
    readAt = performance.now();
    const ids = rows.map(({ id, retired_at }) => `${id}${retired_at === null ? '' : '-'}`).join(' ');
    if (ring?.ids !== ids) ring = { ids, epoch: (ring?.epoch ?? 0) + 1, ...openRing(vault, rows) };
    return ring;
  };
  const fresh = async (olderMs: number) =>
    ring !== undefined && performance.now() - readAt < olderMs ? ring : await read();
  return {
    current: () => fresh(freshMs),
    renew: (when) => renewed(when === 'now' ? 0 : rotateAfter),
    epoch: () => ring?.epoch ?? 0,
    async find(header, token) {
      const known = await fresh(60_000);
      try {
        return await known.verify(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // Another server may have created a key since. The limit prevents a query for every request with an invented
        // key id.
        return await (await fresh(1000)).verify(header, token);
      }
    },
  };
}

/**
 * Replaces the signing key with a new one on every server, and returns the id of the new key. Tokens that the previous
 * key signed stay valid until they expire.
 */
export async function rotateKeys({
  database,
  vault,
}: Pick<ProviderKeysOptions, 'database' | 'vault'>): Promise<string> {
  const [signing] = (await createProviderKeys({ database, vault, rotateAfter: 0 }).renew('now')).signing;
  if (signing === undefined) throw new Error('a new key was made but is missing');
  return signing.kid;
}

function makeKey(vault: Vault, purpose: IdpKeyRow['purpose']): NewIdpKey {
  const id = randomBytes(12).toString('base64url');
  const context = sealContexts.providerKey(id);
  if (purpose === 'cookies') return { id, sealed: vault.seal(randomBytes(32).toString('base64url'), context) };
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return { id, sealed: vault.seal(JSON.stringify({ ...jwk, kid: id, use: 'sig', alg: signingAlgorithm }), context) };
}

function openRing(vault: Vault, rows: readonly IdpKeyRow[]) {
  const of = (purpose: IdpKeyRow['purpose']) => rows.filter((row) => row.purpose === purpose);
  // The keys were sealed by `makeKey`.
  const signing = of('sign').map((row) => JSON.parse(openKey(vault, row)) as SigningKey);
  const [cookies] = of('cookies');
  const cookieSecret = cookies === undefined ? '' : openKey(vault, cookies);
  const keys = signing.map(({ d: _, ...key }) => ({ ...key, kty: 'EC' }));
  return { signing, cookieSecret, verify: createLocalJWKSet({ keys }) };
}

function openKey(vault: Vault, { id, sealed }: IdpKeyRow): string {
  return vault.open(sealed, sealContexts.providerKey(id));
}
