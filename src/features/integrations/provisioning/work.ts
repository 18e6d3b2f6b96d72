import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { OtherUses } from '../../../objects/invite-uses.ts';
import type { Finding, FindingCode, ProvisioningChange, ProvisioningIntegration } from './change.ts';
import { createDrafts, type Drafts } from './drafts.ts';

/** What a change is worked out from. */
export interface ProvisioningInput {
  readonly state: Snapshot;
  readonly integration: ProvisioningIntegration;
  readonly change: ProvisioningChange;
  /** ISO 8601. */
  readonly now: string;
  newId(): string;
  /** Users who signed in already, by the ids that the provider gives them. */
  readonly linked?: ReadonlyMap<string, string>;
  /** Users with a password or a sign-in of their own, among those whose address the change would replace. */
  readonly signsIn?: ReadonlySet<string>;
  /** Groups that pending invites name. */
  readonly usedByInvites?: OtherUses;
  /** What was removed before this moment counts no more, ISO 8601; absent: it counts whenever that was. */
  readonly countedSince?: string;
  /** What is removed was approved, and does not count with what is removed later. */
  readonly isApproved?: boolean;
}

/** A change while it is worked out. */
export interface Work extends Required<Omit<ProvisioningInput, 'change'>> {
  readonly keys: ProvisioningChange['keys'];
  readonly users: Drafts<'User'>;
  readonly groups: Drafts<'Group'>;
  /** The ids of users and groups, by the keys under which they were taken over. */
  readonly ids: Map<string, string>;
  /** Who got an address or a name in this change, by these. */
  readonly claimed: Map<string, string>;
  /** The users who leave a group although they stay, by its id. */
  readonly leaving: Map<string, Set<string>>;
  /** How many users join a group, by its id. */
  readonly joining: Map<string, number>;
  readonly findings: Finding[];
  find(code: FindingCode, key: string, message: string): void;
  /** Whether a group is one that the provider brought. */
  isOfProvider(group: string): boolean;
}

/** Starts to work out a change. */
export function openWork(input: ProvisioningInput): Work {
  const { state, integration, change, now } = input;
  const naming = { by: integration.id, keys: change.keys, now };
  const groups = createDrafts(state, 'Group', naming);
  const findings: Finding[] = [];
  return {
    ...{ linked: new Map<string, string>(), signsIn: new Set<string>() },
    ...{ usedByInvites: new Map<string, readonly string[]>(), countedSince: '', isApproved: false, ...input },
    ...{ keys: change.keys, users: createDrafts(state, 'User', naming), groups, findings },
    ...{ ids: new Map<string, string>(), claimed: new Map<string, string>(), leaving: new Map<string, Set<string>>() },
    joining: new Map<string, number>(),
    find: (code, key, message) => void findings.push({ code, key, message }),
    isOfProvider: (group) => groups.get(group)?.derived.provided?.by === integration.id,
  };
}
