import { isObject, type JsonObject } from '../lib/json.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** The settings of the account. */
export function settingsOf(state: Snapshot): JsonObject {
  return section(state.get(state.account)?.spec['settings']);
}

/** The settings that are stored only where the edition has them. */
export function extraSettingsOf(state: Snapshot): JsonObject {
  return section(settingsOf(state)['extra']);
}

function section(value: unknown): JsonObject {
  // A stored section is JSON.
  return isObject(value) ? (value as JsonObject) : {};
}
