import type { Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

interface Limits {
  readonly type: string;
  readonly usage_limit: number;
}

/** A key that works once has the limit that its type says. */
export function limitOneOff<S extends Partial<Limits>>(spec: S): S {
  return spec.type === 'one-off' && spec.usage_limit === 0 ? { ...spec, usage_limit: 1 } : spec;
}

export function checkLimit({ type, usage_limit }: Limits): readonly Fault[] {
  if (type !== 'one-off' || usage_limit <= 1) return [];
  const message = `a one-off key works once, not ${usage_limit} times; set \`usage_limit\` to 1 or the type to \`reusable\``;
  return [{ code: 'setup_key_limit', path: '/usage_limit', message }];
}

/** Whether the key still enrols peers, and if not, the first reason. */
export function stateOf(key: Stored<'SetupKey'>, { now }: State): 'valid' | 'expired' | 'revoked' | 'overused' {
  const expires = key.derived.expires;
  if (expires !== undefined && now !== undefined && expires <= now) return 'expired';
  if (key.spec.revoked === true) return 'revoked';
  return isUsedUp(key) ? 'overused' : 'valid';
}

/** Whether the key enrolled as many peers as it may. */
export function isUsedUp(key: Stored<'SetupKey'>): boolean {
  const limit = Number(key.spec.usage_limit);
  return limit > 0 && usesOf(key) >= limit;
}

/** How many peers the key has enrolled. */
export function usesOf(key: Stored<'SetupKey'>): number {
  const uses = key.derived.used_times;
  return typeof uses === 'number' ? uses : 0;
}
