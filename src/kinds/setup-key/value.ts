import { sha256Base64 } from '../../lib/node-pure.ts';
import type { GeneratedValues, GeneratorInput } from '../../model/declare/kind.ts';
import { mask } from '../../model/schema/sealing.ts';
import type { Stored } from '../../model/state/stored.ts';
import { isUsedUp } from './rules.ts';

/** Makes the value of a key. It is shown once; what is kept is its hash, how it begins, and when it expires; with 0 seconds it never does. */
export function makeKey(object: Stored<'SetupKey'>, { now, random }: GeneratorInput): GeneratedValues {
  const key = upperCaseUuid(random(16));
  const seconds = Number(object.spec.expires_in);
  const end = seconds === 0 ? {} : { expires: new Date(Date.parse(now) + seconds * 1000).toISOString() };
  const derived = { key_hash: sha256Base64(key), key_mask: `${key.slice(0, 5)}${mask}`, ...end };
  return { derived, outputs: { key } };
}

/** So many earlier values go on working at the most, the newest of them. */
const mostFormer = 8;

/**
 * Makes another value. The one before goes on working until it ends, so that machines that have it already still enrol; both
 * count together, from nothing on. One that was used up stays so.
 */
export function renewKey(object: Stored<'SetupKey'>, input: GeneratorInput): GeneratedValues {
  const { key_hash, expires, former = [] } = object.derived;
  const { derived, outputs } = makeKey(object, input);
  const present = key_hash === undefined || expires === undefined ? [] : [{ key_hash, expires }];
  const kept = isUsedUp(object) ? [] : [...former, ...present].filter((one) => one.expires > input.now);
  return { derived: { ...derived, former: kept.slice(-mostFormer), used_times: 0 }, ...(outputs && { outputs }) };
}

/** When the value of a key ends; one that is called back has none that could be replaced. */
export function expiryOf({ spec, derived }: Stored<'SetupKey'>): string | undefined {
  return spec.revoked === true ? undefined : derived.expires;
}

/** The hashes of all values of a key that may still work. */
export function hashesOf({ derived: { key_hash, former = [] } }: Stored<'SetupKey'>): readonly string[] {
  return [...(key_hash === undefined ? [] : [key_hash]), ...former.map((one) => one.key_hash)];
}

/** A UUID of version 4. */
function upperCaseUuid(bytes: Uint8Array): string {
  const marked = bytes.map((byte, at) => (at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte));
  const hex = [...marked].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5').toUpperCase();
}
