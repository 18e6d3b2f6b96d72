import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Length of a key, in bytes. */
export const keyBytes = 32;

/** The key for one purpose out of a key of the server (HKDF-SHA-256): what one purpose reveals says nothing about another. */
export function deriveKey(key: Uint8Array, purpose: string): KeyObject {
  // Handed over as bytes, a key costs more to take in than to use.
  return createSecretKey(new Uint8Array(hkdfSync('sha256', key, '', `heddle ${purpose}`, keyBytes)));
}

/** The id of a key in texts that it sealed or signed; the key cannot be derived from it. */
export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update('heddle key id').update(key).digest('hex').slice(0, 12);
}
