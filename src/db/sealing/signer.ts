import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Signer } from '../../model/declare/signing.ts';
import { Internal } from '../../model/errors.ts';
import { deriveKey, keyIdOf } from './derive-key.ts';

/**
 * Creates a signer for texts of one purpose (HMAC-SHA-256). It signs with the first key of the server, and verifies
 * signatures of all of its keys.
 */
export function createSigner(keys: readonly Uint8Array[], purpose: string): Signer {
  const known = new Map(keys.map((key) => [keyIdOf(key), deriveKey(key, `signature of ${purpose}`)]));
  const [current] = known;
  if (current === undefined) throw new Internal('a signer needs a key');
  const [keyId, first] = current;
  return {
    keyId,
    keyIds: [...known.keys()],
    sign: (text) => digestOf(first, text).toString('hex'),
    verify(text, { key, signature }) {
      const by = known.get(key);
      return by === undefined ? undefined : isSame(digestOf(by, text), Buffer.from(signature, 'hex'));
    },
  };
}

function digestOf(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
