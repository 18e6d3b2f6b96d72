import type { JsonObject } from '../../../lib/json.ts';

/** A person as an identity provider describes them. What is absent stays as it is. */
export interface ProvidedUser {
  readonly key: string;
  /** `null`: the provider has none for the person. Absent with external keys, where it is the key. */
  readonly externalId?: string | null;
  readonly login?: string;
  readonly email?: string;
  readonly name?: string;
  /** Whether the person may sign in; a new one may unless it says otherwise. */
  readonly active?: boolean;
  readonly facts?: JsonObject;
}

/** A group as an identity provider describes it, with the keys of users as its members. What is absent stays as it is. */
export interface ProvidedGroup {
  readonly key: string;
  readonly externalId?: string | null;
  readonly name?: string;
  /** All of its members. */
  readonly members?: readonly string[];
  readonly joined?: readonly string[];
  readonly left?: readonly string[];
  readonly facts?: JsonObject;
}

/** What an identity provider says at once. */
export interface ProvisioningChange {
  /** What keys are: ids that the provider gave, or ids of users and groups of the account; new ones get the ids of their keys. */
  readonly keys: 'external' | 'objects';
  /** It is all that the provider has: what it does not name is gone. */
  readonly whole: boolean;
  readonly users: readonly ProvidedUser[];
  readonly groups: readonly ProvidedGroup[];
  /** Keys of what the provider does not have any more. */
  readonly goneUsers: readonly string[];
  /** Keys of users whom the provider cannot bring back either. */
  readonly deletedUsers?: readonly string[];
  readonly goneGroups: readonly string[];
}

/** A change in which nothing is said. */
export const noChange: ProvisioningChange = {
  ...{ keys: 'objects', whole: false, users: [], groups: [], goneUsers: [], goneGroups: [] },
};

/** The integration through which a provider says it. */
export interface ProvisioningIntegration {
  readonly id: string;
  /** Only groups whose names begin so are taken over; all of them when there is none. */
  readonly groupPrefixes: readonly string[];
  /** Only users in groups whose names begin so are taken over; all of them when there is none. */
  readonly userGroupPrefixes: readonly string[];
  /** The identity provider by which its users sign in. */
  readonly connector?: string;
}

/** Codes of what cannot be taken over. */
export type FindingCode =
  | 'email_invalid'
  | 'email_kept'
  | 'email_taken'
  | 'external_id_taken'
  | 'login_taken'
  | 'managed_field'
  | 'member_unknown'
  | 'name_unusable'
  | 'owner_kept'
  | 'object_unknown'
  | 'still_used';

/** Something that could not be taken over as the provider says it; everything else is. */
export interface Finding {
  readonly code: FindingCode;
  /** The key of the user or group that it is about. */
  readonly key: string;
  readonly message: string;
}
