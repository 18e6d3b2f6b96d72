import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import type { Call, Engine } from '../../../commit/engine.ts';
import {
  addFirstKey,
  listWebhookKeys,
  type NewWebhookKey,
  replaceWebhookKey,
} from '../../../db/deliveries/webhook-keys.ts';
import { sealContexts } from '../../../model/schema/sealing.ts';

/** Signs the webhooks of accounts. */
export interface WebhookSigner {
  /**
   * Returns the signatures of a text by all signing keys, in the form of Standard Webhooks. Makes the first key when it
   * is needed.
   */
  sign(account: string, text: string): Promise<string>;
}

/**
 * Time for which keys that were read are used, in milliseconds. A key that is replaced in this time remains valid for a
 * day.
 */
const keyCacheMs = 30_000;

/** Creates a signer. It reads the keys from the database, so that all servers have the same keys. */
export function createWebhookSigner(engine: Pick<Engine, 'database' | 'planEnvironment' | 'newId'>): WebhookSigner {
  const known = new Map<string, { readonly keys: readonly KeyObject[]; readonly readAt: number }>();
  const keysOf = async (account: string): Promise<readonly KeyObject[]> => {
    const before = known.get(account);
    if (before !== undefined && performance.now() - before.readAt < keyCacheMs) return before.keys;
    const readAt = performance.now();
    let rows = await listWebhookKeys(engine.database, account);
    if (!rows.some(({ retired_at }) => retired_at === null)) {
      await addFirstKey(engine.database, account, makeKey(engine, account));
      rows = await listWebhookKeys(engine.database, account);
    }
    const { vault } = engine.planEnvironment;
    const keys = rows.map(({ id, sealed }) => {
      // Only `makeKey` seals this text.
      const jwk = JSON.parse(vault.open(sealed, sealContexts.webhookKey(account, id))) as JsonWebKey;
      return createPrivateKey({ key: jwk, format: 'jwk' });
    });
    evictStaleKeys(known, readAt);
    known.set(account, { keys, readAt });
    return keys;
  };
  return {
    async sign(account, text) {
      const keys = await keysOf(account);
      return keys.map((key) => `v1a,${sign(null, Buffer.from(text), key).toString('base64')}`).join(' ');
    },
  };
}

function evictStaleKeys(known: Map<string, { readonly readAt: number }>, now: number): void {
  for (const [account, { readAt }] of known) if (now - readAt > keyCacheMs) known.delete(account);
}

function makeKey(
  { planEnvironment, newId }: Pick<Engine, 'planEnvironment' | 'newId'>,
  account: string,
): NewWebhookKey {
  const id = newId();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }));
  return {
    id,
    public_key: `whpk_${Buffer.from(x, 'base64url').toString('base64')}`,
    sealed: planEnvironment.vault.seal(jwk, sealContexts.webhookKey(account, id)),
  };
}

/** A public key with which receivers verify webhooks. */
export interface PublicWebhookKey {
  readonly id: string;
  readonly key: string;
  readonly created_at: string;
  readonly retired_at?: string;
}

/**
 * Returns the public keys with which receivers verify an account's webhooks, newest first. Empty when there is no such
 * account.
 */
export async function listPublicKeys(
  { database }: Pick<Engine, 'database'>,
  account: string,
): Promise<readonly PublicWebhookKey[]> {
  const rows = await listWebhookKeys(database, account);
  return rows.map(({ id, public_key: key, created_at, retired_at }) => ({
    ...{ id, key, created_at: created_at.toISOString() },
    ...(retired_at === null ? {} : { retired_at: retired_at.toISOString() }),
  }));
}

/** Replaces the signing key with a new one. The former key also signs for another day. Returns the public keys. */
export async function rotateWebhookKey(engine: Engine, { account, actor }: Call): Promise<readonly PublicWebhookKey[]> {
  const key = makeKey(engine, account);
  const event = { code: 'notification.webhook_key.rotate', target: account, meta: { key: key.id } } as const;
  await replaceWebhookKey(engine.database, account, key, { actor, event, at: engine.now() });
  return listPublicKeys(engine, account);
}
