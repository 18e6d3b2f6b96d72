import type { JsonObject } from '../../lib/json.ts';

/** What the server stores about a user or a group that an identity provider provisioned through an integration. */
export type Provided = {
  /** Id of the integration. */
  readonly by: string;
  /** Id that the provider assigned. */
  readonly external_id?: string;
  /** Sign-in name of a person at the provider, in its original spelling. */
  readonly login?: string;
  /** Since when the provider has deactivated the person, in ISO 8601. The user is blocked during this time. */
  readonly inactive_since?: string;
  /**
   * Since when the person is in none of the groups whose users are provisioned, in ISO 8601. The user is blocked during
   * this time.
   */
  readonly unassigned_since?: string;
  /** Since when the provider no longer has the user or group, in ISO 8601. */
  readonly removed_since?: string;
  /** Since when the provider cannot restore the user or group either, in ISO 8601. */
  readonly deleted_since?: string;
  /**
   * Number of users who left the group minus the number who joined it, and since when they are counted. Users who leave
   * soon afterwards are added to the count.
   */
  readonly left?: { readonly since: string; readonly count: number };
  /** Other attributes from the provider, which it may read back. */
  readonly facts?: JsonObject;
};

/** Index of users and groups by what their provider calls them. */
export const providedIndex = 'provided';

/**
 * Returns a value of the index: an id that the provider assigned, or the sign-in name of a person, ignoring letter
 * case.
 */
export function providedValue(by: string, what: 'id' | 'login', value: string): string {
  return `${by} ${what} ${what === 'login' ? value.toLowerCase() : value}`;
}

/** Returns the index values of a user or group. */
export function providedValues(provided: Provided | undefined): readonly string[] {
  if (provided === undefined) return [];
  const { by, external_id: id, login } = provided;
  return [
    ...(id === undefined ? [] : [providedValue(by, 'id', id)]),
    ...(login === undefined ? [] : [providedValue(by, 'login', login)]),
  ];
}

/** Kind of directory entry for users and groups that their provider no longer has. */
export const removedEntry = 'removed';

/**
 * Kind of directory entry that finds an integration by the hash of the token with which its provider calls the server.
 */
export const scimTokenEntry = 'scim-token';
