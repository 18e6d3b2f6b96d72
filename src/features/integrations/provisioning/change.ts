import type { JsonObject } from '../../../lib/json.ts';

/** A person as an identity provider describes them. Members that are absent stay unchanged. */
export interface ProvidedUser {
  readonly key: string;
  /** Id of the person at the provider. `null`: there is none. Absent with external keys, where the key is this id. */
  readonly externalId?: string | null;
  readonly login?: string;
  readonly email?: string;
  readonly name?: string;
  /** Whether the person may sign in. Absent for a new person: they may. */
  readonly active?: boolean;
  readonly facts?: JsonObject;
}

/** A group as an identity provider describes it. Its members are keys of users. Absent values stay unchanged. */
export interface ProvidedGroup {
  readonly key: string;
  readonly externalId?: string | null;
  readonly name?: string;
  /** Keys of all its members. */
  readonly members?: readonly string[];
  readonly addedMembers?: readonly string[];
  readonly removedMembers?: readonly string[];
  readonly facts?: JsonObject;
}

/** Data that an identity provider sends at once. */
export interface ProvisioningChange {
  /**
   * Meaning of the keys. `external`: ids that the provider assigned. `objects`: ids of users and groups of the account;
   * the key of a new user or group becomes its id.
   */
  readonly keys: 'external' | 'objects';
  /** Whether this is everything that the provider has: users and groups that it does not name are gone. */
  readonly isComplete: boolean;
  readonly users: readonly ProvidedUser[];
  readonly groups: readonly ProvidedGroup[];
  /** Keys of users that the provider does not have any more. */
  readonly goneUsers: readonly string[];
  /** Keys of users that the provider deleted for good, so that it cannot restore them. */
  readonly deletedUsers?: readonly string[];
  readonly goneGroups: readonly string[];
}

/** An empty change. */
export const noChange: ProvisioningChange = {
  ...{ keys: 'objects', isComplete: false, users: [], groups: [], goneUsers: [], goneGroups: [] },
};

/** The integration through which a provider sends its data. */
export interface ProvisioningIntegration {
  readonly id: string;
  /** Prefixes of the names of groups that are imported. Empty: all groups. */
  readonly groupPrefixes: readonly string[];
  /** Prefixes of the names of groups whose users are imported. Empty: all users. */
  readonly userGroupPrefixes: readonly string[];
  /** Id of the identity provider with which the integration's users sign in. */
  readonly connector?: string;
}

/** Codes of data that could not be imported. */
export type FindingCode =
  | 'email_invalid'
  | 'email_kept'
  | 'email_taken'
  | 'external_id_taken'
  | 'group_not_adopted'
  | 'login_taken'
  | 'managed_field'
  | 'member_unknown'
  | 'name_unusable'
  | 'owner_kept'
  | 'object_unknown'
  | 'still_used';

/** Data that could not be imported as the provider sent it. Everything else is imported. */
export interface Finding {
  readonly code: FindingCode;
  /** Key of the user or group concerned. */
  readonly key: string;
  readonly message: string;
}
