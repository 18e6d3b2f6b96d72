import { sha256Base64 } from '../../lib/node-pure.ts';
import type { GeneratedValues, GeneratorInput } from '../../model/declare/kind.ts';
import { mask } from '../../model/schema/sealing.ts';
import type { Stored } from '../../model/state/stored.ts';

/** Makes the value of a key. It is shown once; what is kept is its hash, how it begins, and when it expires. */
export function makeKey(object: Stored<'SetupKey'>, { now, random }: GeneratorInput): GeneratedValues {
  const key = upperCaseUuid(random(16));
  const lifetime = Number(object.spec.expires_in) * 1000;
  const expires = new Date(Date.parse(now) + lifetime).toISOString();
  return { derived: { key_hash: sha256Base64(key), key_mask: `${key.slice(0, 5)}${mask}`, expires }, outputs: { key } };
}

/** A UUID of version 4. */
function upperCaseUuid(bytes: Uint8Array): string {
  const marked = bytes.map((byte, at) => (at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte));
  const hex = [...marked].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5').toUpperCase();
}
