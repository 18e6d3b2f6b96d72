import { sha256Base64 } from '../../lib/node-pure.ts';
import type { GeneratedValues, GeneratorInput } from '../../model/declare/kind.ts';
import { mask } from '../../model/schema/sealing.ts';
import type { Stored } from '../../model/state/stored.ts';
import { isUsedUp } from './rules.ts';

/**
 * Generates the value of a key. It is shown once. Its hash, its first characters and its expiry are stored. With
 * `expires_in` 0 it never expires.
 */
export function makeKey(object: Stored<'SetupKey'>, { now, random }: GeneratorInput): GeneratedValues {
  const key = upperCaseUuid(random(16));
  const seconds = Number(object.spec.expires_in);
  const end = seconds === 0 ? {} : { expires: new Date(Date.parse(now) + seconds * 1000).toISOString() };
  const derived = { key_hash: sha256Base64(key), key_mask: `${key.slice(0, 5)}${mask}`, ...end };
  return { derived, outputs: { key } };
}

/** Maximum number of earlier values that keep working. The newest are kept. */
const maxFormerValues = 8;

/**
 * Generates a new value. The previous one keeps working until it expires, so that machines that have it can still
 * enrol. The uses of all values count together, starting at 0. Earlier values of a used-up key stop working.
 */
export function renewKey(object: Stored<'SetupKey'>, input: GeneratorInput): GeneratedValues {
  const { key_hash, expires, former = [] } = object.derived;
  const { derived, outputs } = makeKey(object, input);
  const present = key_hash === undefined || expires === undefined ? [] : [{ key_hash, expires }];
  const kept = isUsedUp(object) ? [] : [...former, ...present].filter((one) => one.expires > input.now);
  return { derived: { ...derived, former: kept.slice(-maxFormerValues), used_times: 0 }, ...(outputs && { outputs }) };
}

/** Returns the expiry of a key's value. Returns `undefined` for a revoked key, whose value is not replaced. */
export function expiryOf({ spec, derived }: Stored<'SetupKey'>): string | undefined {
  return spec.revoked === true ? undefined : derived.expires;
}

/** Returns the hashes of all values of a key that may still work. */
export function hashesOf({ derived: { key_hash, former = [] } }: Stored<'SetupKey'>): readonly string[] {
  return [...(key_hash === undefined ? [] : [key_hash]), ...former.map((one) => one.key_hash)];
}

/** Formats random bytes as a version 4 UUID in upper case. */
function upperCaseUuid(bytes: Uint8Array): string {
  const marked = bytes.map((byte, at) => (at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte));
  const hex = [...marked].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5').toUpperCase();
}
