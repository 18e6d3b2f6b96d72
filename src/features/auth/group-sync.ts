import { settingsOf } from '../../commit/account-settings.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { type GroupRules, isSignInAllowed, readGroupRules } from '../../model/declare/allowed-groups.ts';
import { Unauthenticated } from '../../model/errors.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { isStorable } from '../../model/storable-text.ts';
import { hasProvidedGroups, provideGroups } from '../accounts/provided-groups.ts';
import type { Claims } from './bearer.ts';

/**
 * Throws `Unauthenticated` for people whom the account's settings exclude: their token names none of the allowed
 * groups.
 */
export function requireAllowedGroup(state: Snapshot, claims: Claims): void {
  if (claims.issuer.kind === 'embedded') return;
  if (!isSignInAllowed(groupSettings(state), (claim) => groupNames(claims, claim)))
    throw new Unauthenticated('token invalid');
}

/**
 * Gives the user the groups that the token names, when the account requires it and the groups differ. Otherwise only
 * compares them.
 */
export async function syncGroups(engine: Engine, call: Call, state: Snapshot, claims: Claims): Promise<Call> {
  const settings = groupSettings(state);
  const user = state.find('User', call.actor.id);
  if (!settings.enabled || claims.issuer.kind === 'embedded' || user === undefined) return call;
  const names = groupNames(claims, settings.claim);
  return hasProvidedGroups(state, user, names) ? call : await provideGroups(engine, call, names);
}

function groupSettings(state: Snapshot): GroupRules {
  return readGroupRules(settingsOf(state));
}

/** Maximum number of groups of one person, and maximum length of a name, in characters. */
const groupLimits = { groups: 500, characters: 255 };

/**
 * Returns the names that a claim lists, without duplicates. Names that no group can have are left out: empty and long
 * ones, and those with characters that the database cannot store.
 */
export function groupNames({ all }: Claims, claim: string): readonly string[] {
  const listed = all[claim];
  const names = Array.isArray(listed) ? listed : typeof listed === 'string' ? [listed] : [];
  const texts = names.flatMap((name) => (typeof name === 'string' ? [name.trim()] : []));
  return [...new Set(texts.filter(isUsableName))].slice(0, groupLimits.groups);
}

function isUsableName(name: string): boolean {
  return name !== '' && name.length <= groupLimits.characters && isStorable(name);
}
