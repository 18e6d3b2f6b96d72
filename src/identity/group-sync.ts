import { settingsOf } from '../engine/account-settings.ts';
import type { Call, Engine } from '../engine/engine.ts';
import { hasProvidedGroups, provideGroups } from '../engine/provided-groups.ts';
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

/** Gives the user the groups that the token names, when the account wants it and anything differs; a comparison otherwise. */
export async function syncGroups(engine: Engine, call: Call, state: Snapshot, claims: Claims): Promise<Call> {
  const settings = groupSettings(state);
  const user = state.get(call.actor.id);
  if (!settings.enabled || claims.issuer.kind === 'embedded' || user === undefined) return call;
  const names = groupNames(claims, settings.claim);
  return hasProvidedGroups(state, user, names) ? call : await provideGroups(engine, call, names);
}

interface GroupSettings {
  readonly enabled: boolean;
  readonly claim: string;
  readonly allowed: readonly string[];
}

/** What the account wants to know about groups in tokens. */
function groupSettings(state: Snapshot): GroupSettings {
  const { jwt_groups_enabled: enabled, jwt_groups_claim_name: claim, jwt_allow_groups: allowed } = settingsOf(state);
  return {
    enabled: enabled === true,
    claim: typeof claim === 'string' && claim !== '' ? claim : 'groups',
    allowed: Array.isArray(allowed) ? allowed.map(String) : [],
  };
}

/** How many groups one person has at most, and how long a name may be. */
const most = { groups: 500, characters: 255 };

/** The names that a claim lists, once each. */
function groupNames({ all }: Claims, claim: string): readonly string[] {
  const listed = all[claim];
  const names = Array.isArray(listed) ? listed : typeof listed === 'string' ? [listed] : [];
  const texts = names.flatMap((name) => (typeof name === 'string' ? [name.trim()] : []));
  return [...new Set(texts.filter((name) => name !== '' && name.length <= most.characters))].slice(0, most.groups);
}
