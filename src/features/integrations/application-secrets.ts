import { isObject, type Json } from '../../lib/json.ts';

/** A secret of an application as a directory lists it: its first characters, and its end in ISO 8601. */
export interface ExpiringSecret {
  readonly hint: string | undefined;
  readonly expiresAt: string;
}

/** Returns the secrets in a directory's list of an application's secrets that have an end. */
export function readExpiringSecrets(list: Json | undefined): readonly ExpiringSecret[] {
  return Array.isArray(list) ? list.flatMap((value: Json) => readExpiringSecret(value)) : [];
}

function readExpiringSecret(value: Json): readonly ExpiringSecret[] {
  if (!isObject(value)) return [];
  const { hint, endDateTime: ends } = value;
  if (typeof ends !== 'string' || Number.isNaN(Date.parse(ends))) return [];
  return [{ hint: typeof hint === 'string' ? hint : undefined, expiresAt: new Date(ends).toISOString() }];
}

/**
 * Returns when a secret ends, in ISO 8601. Of several listed secrets that begin with the same characters the earliest
 * end counts, so a warning is at worst too early. Returns `undefined` when none matches.
 */
export function expiryOfSecret(secrets: readonly ExpiringSecret[], secret: string): string | undefined {
  const [ends] = secrets
    .filter(({ hint }) => hint !== undefined && hint !== '' && secret.startsWith(hint))
    .map((one) => one.expiresAt)
    .sort();
  return ends;
}
