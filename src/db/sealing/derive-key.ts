import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Length of a key, in bytes. */
export const keyBytes = 32;

/**
 * Derives the key for one purpose from a key of the server (HKDF-SHA-256). The derived key reveals nothing about keys
 * of other purposes.
 */
export function deriveKey(key: Uint8Array, purpose: string): KeyObject {
  // A `KeyObject` is imported once. Importing a key from bytes at each use costs more than the use itself.
  return createSecretKey(new Uint8Array(hkdfSync('sha256', key, '', `heddle ${purpose}`, keyBytes)));
}

/** Returns the id by which sealed or signed texts name their key. The key cannot be derived from it. */
export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update('heddle key id').update(key).digest('hex').slice(0, 12);
}
