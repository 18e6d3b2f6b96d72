import { expect, test } from 'vitest';
import { deriveKey, keyBytes } from '../../src/db/sealing/derive-key.ts';

test('every purpose derives a separate and reproducible key', () => {
  const key = new Uint8Array(keyBytes).fill(7);
  const purposes = ['cipher object', 'cipher plan', 'nonce object', 'fingerprint'];
  const derived = purposes.map((purpose) => deriveKey(key, purpose));
  const kinds = new Set(derived.map((one) => one.export().toString('hex')));
  expect(kinds.size).toBe(purposes.length);
  expect(purposes.map((purpose, at) => derived[at]?.equals(deriveKey(key, purpose)))).toEqual([true, true, true, true]);
  expect(kinds.has(Buffer.from(key).toString('hex'))).toBe(false);
});
