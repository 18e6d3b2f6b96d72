import type { JsonObject } from '../../lib/json.ts';

/** What the server keeps about a user or a group that an identity provider brought through an integration. */
export type Provided = {
  /** The id of the integration. */
  readonly by: string;
  /** The id that the provider gave it. */
  readonly external_id?: string;
  /** The name by which the provider knows a person, as it is written. */
  readonly login?: string;
  /** Since when the provider keeps the person out, ISO 8601. The user is blocked for as long. */
  readonly inactive_since?: string;
  /** Since when the person is in none of the groups by which users are taken over, ISO 8601. The user is blocked for as long. */
  readonly unassigned_since?: string;
  /** Since when the provider does not have it any more, ISO 8601. */
  readonly removed_since?: string;
  /** Since when the provider cannot bring it back either, ISO 8601. */
  readonly deleted_since?: string;
  /** Since when how many more users left a group than joined it: who leaves soon afterwards counts with them. */
  readonly left?: { readonly since: string; readonly count: number };
  /** What else the provider said about it, which it may read again. */
  readonly facts?: JsonObject;
};

/** The index by which users and groups are found that providers brought. */
export const providedIndex = 'provided';

/** A value of the index: an id that the provider gave, or the name of a person, whose letter case does not matter. */
export function providedValue(by: string, what: 'id' | 'login', value: string): string {
  return `${by} ${what} ${what === 'login' ? value.toLowerCase() : value}`;
}

/** The values of the index by which something is found. */
export function providedValues(provided: Provided | undefined): readonly string[] {
  if (provided === undefined) return [];
  const { by, external_id: id, login } = provided;
  return [
    ...(id === undefined ? [] : [providedValue(by, 'id', id)]),
    ...(login === undefined ? [] : [providedValue(by, 'login', login)]),
  ];
}

/** The kind of entries of the directory for users and groups that their provider does not have any more. */
export const removedEntry = 'removed';

/** The kind of entries of the directory by which an integration is found that its provider calls, by the hash of its token. */
export const scimTokenEntry = 'scim-token';
