import { isObject, type Json } from '../../lib/json.ts';

/** A secret of an application, as a directory lists it: how it begins, and when it ends. */
export interface SecretEnd {
  readonly hint: string | undefined;
  readonly ends: string;
}

/** Reads the list of an application's secrets; what has no end is left out. */
export function readSecretEnds(list: Json | undefined): readonly SecretEnd[] {
  return Array.isArray(list) ? list.flatMap((value: Json) => readSecretEnd(value)) : [];
}

function readSecretEnd(value: Json): readonly SecretEnd[] {
  if (!isObject(value)) return [];
  const { hint, endDateTime: ends } = value;
  if (typeof ends !== 'string' || Number.isNaN(Date.parse(ends))) return [];
  return [{ hint: typeof hint === 'string' ? hint : undefined, ends: new Date(ends).toISOString() }];
}

/** When a secret ends. Of several that begin as it does, the one that ends first warns, at worst too early. */
export function endOfSecret(secrets: readonly SecretEnd[], secret: string): string | undefined {
  const [ends] = secrets
    .filter(({ hint }) => hint !== undefined && hint !== '' && secret.startsWith(hint))
    .map((one) => one.ends)
    .sort();
  return ends;
}
