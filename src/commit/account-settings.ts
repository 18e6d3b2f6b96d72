import type { Snapshot } from '../model/state/snapshot.ts';
import type { Stored } from '../model/state/stored.ts';

/** The stored settings of an account. */
export type AccountSettings = NonNullable<Stored<'Account'>['spec']['settings']>;

/** Returns the stored settings of the account. */
export function settingsOf(state: Snapshot): AccountSettings {
  return state.find('Account', state.account)?.spec.settings ?? {};
}

/** Returns the settings that are stored only in editions that have them. */
export function extraSettingsOf(state: Snapshot): NonNullable<AccountSettings['extra']> {
  return settingsOf(state).extra ?? {};
}
