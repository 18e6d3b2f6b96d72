import type { Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

interface Limits {
  readonly type: string;
  readonly usage_limit: number;
}

/** Sets the usage limit of a one-off key to 1. */
export function limitOneOff<S extends Partial<Limits>>(spec: S): S {
  return spec.type === 'one-off' && spec.usage_limit === 0 ? { ...spec, usage_limit: 1 } : spec;
}

export function checkLimit({ type, usage_limit }: Limits): readonly Fault[] {
  if (type !== 'one-off' || usage_limit <= 1) return [];
  const message = `a one-off key works once, not ${usage_limit} times; set \`usage_limit\` to 1 or the type to \`reusable\``;
  return [{ code: 'setup_key_limit', path: '/usage_limit', message }];
}

/** Returns `valid`, or the first reason why the key enrols no peers. */
export function stateOf(key: Stored<'SetupKey'>, { now }: State): 'valid' | 'expired' | 'revoked' | 'overused' {
  const expires = key.derived.expires;
  if (expires !== undefined && now !== undefined && expires <= now) return 'expired';
  if (key.spec.revoked === true) return 'revoked';
  return isUsedUp(key) ? 'overused' : 'valid';
}

/** Whether the key has reached its usage limit. 0 means no limit. */
export function isUsedUp(key: Stored<'SetupKey'>): boolean {
  const limit = Number(key.spec.usage_limit);
  return limit > 0 && usesOf(key) >= limit;
}

/** Returns the number of peers that enrolled with the key. */
export function usesOf(key: Stored<'SetupKey'>): number {
  const uses = key.derived.used_times;
  return typeof uses === 'number' ? uses : 0;
}
