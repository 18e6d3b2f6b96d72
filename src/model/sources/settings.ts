import { type Json, type JsonObject, membersOf } from '../../lib/json.ts';

/** Every `ConflictMode`. */
export const conflictModes = ['guard', 'correct', 'observe', 'seed'] as const;

/**
 * What happens when the API changes a unit that a source states.
 * `guard`: the change is refused. `correct`: it is made and undone by the next reconcile. `observe`: it is made, stays and
 * is reported. `seed`: the source gives values at creation and owns no units afterwards.
 */
export type ConflictMode = (typeof conflictModes)[number];

/** Every `AdoptMode`. */
export const adoptModes = ['identical', 'take', 'never'] as const;

/**
 * Which unmanaged objects of the same name a document takes over. `identical`: those that it would not change.
 * `take`: any. `never`: none but those it names by annotation.
 */
export type AdoptMode = (typeof adoptModes)[number];

/** Every `MembershipMode`. */
export const membershipModes = ['additive', 'exclusive'] as const;

/** Every `ApprovalMode`. */
export const approvalModes = ['guards', 'always'] as const;

/** Which plans of a source wait for an approval: those that trip a guard, or all that change something. */
export type ApprovalMode = (typeof approvalModes)[number];

/** Whether groups keep members that others put there, or hold what sources state and nothing else. */
export type MembershipMode = (typeof membershipModes)[number];

/** What a source may state and refer to; an absent list allows everything. */
export interface Scope {
  readonly kinds?: readonly string[];
  /** Beginnings of keys, the parent's key of a child included. */
  readonly keyPrefixes?: readonly string[];
  /** Keys or names of groups that documents may refer to and change beside their own; a `*` at the end stands for any ending. */
  readonly groups?: readonly string[];
}

/** From how much on a plan of a source wants to be approved. Shares are between 0 and 1. */
export type GuardLimits = {
  /** So many deletes always pass. */
  readonly deletes: number;
  readonly deleteShare: number;
  readonly kindShare: number;
  readonly updateShare: number;
  /** So many pairs may lose or gain some access; any number, when it is not said. */
  readonly maxAccessLost?: number;
  readonly maxAccessGained?: number;
  /** How the management service is reached inside the mesh: the caller keeps its access to it. */
  readonly lostOwnAccess?: string;
};

/** How the documents of a source are applied. */
export interface SourceSettings {
  readonly conflictMode: ConflictMode;
  readonly adopt: AdoptMode;
  readonly membership: MembershipMode;
  readonly prune: boolean;
  readonly allowEmpty: boolean;
  /** Files that are none of ours are refused, and not ignored. */
  readonly strictFiles: boolean;
  readonly approval: ApprovalMode;
  readonly limits: GuardLimits;
  readonly scope: Scope;
  /** By the API, or by a rollback. */
  readonly suspended: boolean;
  /** By its resource in a cluster. */
  readonly suspendedInCluster?: true;
  /** A server reads its documents and applies them by itself; they are not pushed. */
  readonly isRun: boolean;
  /** The revision that rolled it back, until a plan that takes this back was approved. */
  readonly rolledBack?: number;
}

/** The settings of a source that says nothing else. */
export const plainSettings: SourceSettings = {
  conflictMode: 'guard',
  adopt: 'identical',
  membership: 'additive',
  prune: true,
  allowEmpty: false,
  strictFiles: false,
  approval: 'guards',
  limits: { deletes: 5, deleteShare: 0.2, kindShare: 0.5, updateShare: 0.4 },
  scope: {},
  suspended: false,
  isRun: false,
};

/** Whether the resource of a source in a cluster asks for it to be suspended. */
export function isSuspendedInCluster(spec: JsonObject): boolean {
  return membersOf(spec['requested'])['suspend'] === true;
}

/** Whether a source is suspended, by the API or by its resource in a cluster. */
export function isSourceSuspended({
  suspended,
  spec,
}: {
  readonly suspended: boolean;
  readonly spec: JsonObject;
}): boolean {
  return suspended || isSuspendedInCluster(spec);
}

/** Whether nothing of a source is applied until it is resumed. */
export function isSuspended({ suspended, suspendedInCluster }: SourceSettings): boolean {
  return suspended || suspendedInCluster === true;
}

/** What is stored of a source beside its spec. */
export interface SourceFacts {
  readonly type: string;
  readonly suspended: boolean;
  readonly rolledBack: number | null;
}

/** Reads the settings out of a source's stored spec; members that are not there are as in `plainSettings`. */
export function readSettings(spec: JsonObject, { type, suspended, rolledBack }: SourceFacts): SourceSettings {
  const limits = membersOf(spec['limits']);
  return {
    conflictMode: wordOf(spec['conflictMode'], conflictModes, plainSettings.conflictMode),
    adopt: wordOf(spec['adopt'], adoptModes, plainSettings.adopt),
    membership: wordOf(spec['membership'], membershipModes, plainSettings.membership),
    prune: spec['prune'] !== false,
    allowEmpty: spec['allowEmpty'] === true,
    strictFiles: spec['strictFiles'] === true,
    approval: wordOf(spec['approval'], approvalModes, plainSettings.approval),
    limits: {
      deletes: numberOf(limits['deletes'], plainSettings.limits.deletes),
      deleteShare: numberOf(limits['deleteShare'], plainSettings.limits.deleteShare),
      kindShare: numberOf(limits['kindShare'], plainSettings.limits.kindShare),
      updateShare: numberOf(limits['updateShare'], plainSettings.limits.updateShare),
      ...readAccessLimits(limits),
    },
    scope: readScope(membersOf(spec['scope'])),
    suspended,
    ...(isSuspendedInCluster(spec) ? { suspendedInCluster: true } : {}),
    isRun: type !== 'push',
    ...(rolledBack === null ? {} : { rolledBack }),
  };
}

function readAccessLimits(
  limits: JsonObject,
): Pick<GuardLimits, 'maxAccessLost' | 'maxAccessGained' | 'lostOwnAccess'> {
  const { maxAccessLost, maxAccessGained, lostOwnAccess } = limits;
  return {
    ...(typeof maxAccessLost === 'number' ? { maxAccessLost } : {}),
    ...(typeof maxAccessGained === 'number' ? { maxAccessGained } : {}),
    ...(typeof lostOwnAccess === 'string' ? { lostOwnAccess } : {}),
  };
}

function readScope(scope: JsonObject): Scope {
  const lists = (['kinds', 'keyPrefixes', 'groups'] as const).flatMap((name) => {
    const list = scope[name];
    return Array.isArray(list) ? [[name, list.map(String)] as const] : [];
  });
  return Object.fromEntries(lists);
}

function wordOf<const Word extends string>(value: Json | undefined, words: readonly Word[], fallback: Word): Word {
  return words.find((word) => word === value) ?? fallback;
}

function numberOf(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
