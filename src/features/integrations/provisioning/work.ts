import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { OtherUses } from '../../../objects/invite-uses.ts';
import type { Finding, FindingCode, ProvisioningChange, ProvisioningIntegration } from './change.ts';
import { createDrafts, type Drafts } from './drafts.ts';

/** Input from which a provisioning change is planned. */
export interface ProvisioningInput {
  readonly state: Snapshot;
  readonly integration: ProvisioningIntegration;
  readonly change: ProvisioningChange;
  /** Current time, in ISO 8601. */
  readonly now: string;
  newId(): string;
  /** Ids of users who have signed in already, by the id that the provider gives them. */
  readonly linked?: ReadonlyMap<string, string>;
  /**
   * Ids of users with a password or their own sign-in, among the users whose e-mail address the change would replace.
   */
  readonly usersWithSignIn?: ReadonlySet<string>;
  /** Uses of groups in pending invites. */
  readonly usedByInvites?: OtherUses;
  /** Removals before this time (ISO 8601) do not count for the guards. Absent: all removals count. */
  readonly countedSince?: string;
  /** True when an approval covers the removals of this change. They do not count together with later removals. */
  readonly isApproved?: boolean;
}

/** State of a change while it is planned. */
export interface PlanningState extends Required<Omit<ProvisioningInput, 'change'>> {
  readonly keys: ProvisioningChange['keys'];
  readonly users: Drafts<'User'>;
  readonly groups: Drafts<'Group'>;
  /** Ids of users and groups, by the keys under which the provider named them. */
  readonly ids: Map<string, string>;
  /**
   * Ids of the users that got an e-mail address or a login in this change, by `email …` and `login …` in lower case.
   */
  readonly claimed: Map<string, string>;
  /** Ids of users who leave a group but are not removed themselves, by id of the group. */
  readonly leaving: Map<string, Set<string>>;
  /** Number of users who join a group, by id of the group. */
  readonly joining: Map<string, number>;
  readonly findings: Finding[];
  addFinding(code: FindingCode, key: string, message: string): void;
  /** Whether the provider brought the group. */
  isOfProvider(group: string): boolean;
}

/** Returns the initial state for planning a change. */
export function createPlanningState(input: ProvisioningInput): PlanningState {
  const { state, integration, change, now } = input;
  const naming = { by: integration.id, keys: change.keys, now };
  const groups = createDrafts(state, 'Group', naming);
  const findings: Finding[] = [];
  return {
    ...{ linked: new Map<string, string>(), usersWithSignIn: new Set<string>() },
    ...{ usedByInvites: new Map<string, readonly string[]>(), countedSince: '', isApproved: false, ...input },
    ...{ keys: change.keys, users: createDrafts(state, 'User', naming), groups, findings },
    ...{ ids: new Map<string, string>(), claimed: new Map<string, string>(), leaving: new Map<string, Set<string>>() },
    joining: new Map<string, number>(),
    addFinding: (code, key, message) => void findings.push({ code, key, message }),
    isOfProvider: (group) => groups.get(group)?.derived.provided?.by === integration.id,
  };
}
