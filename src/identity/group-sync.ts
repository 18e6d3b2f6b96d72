import { isObject } from '../lib/json.ts';
import { Unauthenticated } from '../model/errors.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Claims } from './bearer.ts';

/** Keeps out whom the account's settings keep out: people whose token names none of the groups that are let in. */
export function requireAllowed(state: Snapshot, claims: Claims): void {
  const settings = groupSettings(state);
  if (!settings.enabled || settings.allowed.length === 0 || claims.issuer.kind === 'embedded') return;
  const names = groupNames(claims, settings.claim);
  if (!names.some((name) => settings.allowed.includes(name))) throw new Unauthenticated('token invalid');
}

interface GroupSettings {
  readonly enabled: boolean;
  readonly claim: string;
  readonly allowed: readonly string[];
}

/** What the account wants to know about groups in tokens. */
function groupSettings(state: Snapshot): GroupSettings {
  const settings = state.ofKind('Account')[0]?.spec['settings'];
  if (!isObject(settings)) return { enabled: false, claim: '', allowed: [] };
  const { jwt_groups_enabled: enabled, jwt_groups_claim_name: claim, jwt_allow_groups: allowed } = settings;
  return {
    enabled: enabled === true,
    claim: typeof claim === 'string' && claim !== '' ? claim : 'groups',
    allowed: Array.isArray(allowed) ? allowed.map(String) : [],
  };
}

/** The names that a claim lists, once each. */
function groupNames({ all }: Claims, claim: string): readonly string[] {
  const listed = all[claim];
  const names = Array.isArray(listed) ? listed : typeof listed === 'string' ? [listed] : [];
  return [...new Set(names.flatMap((name) => (typeof name === 'string' && name.trim() !== '' ? [name.trim()] : [])))];
}
