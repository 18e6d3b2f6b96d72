import { asObjectOrEmpty, type Json, type JsonObject } from '../../lib/json.ts';

/** Every `ConflictMode`. */
export const conflictModes = ['guard', 'correct', 'observe', 'seed'] as const;

/**
 * How a source treats changes through the API to units that it states. `guard`: the change is refused. `correct`: the
 * change is made, and the next reconcile undoes it. `observe`: the change is made, stays and is reported. `seed`: the
 * source sets values only at creation and owns no units afterwards.
 */
export type ConflictMode = (typeof conflictModes)[number];

/** Every `AdoptMode`. */
export const adoptModes = ['identical', 'take', 'never'] as const;

/**
 * Which unmanaged objects of the same name a document adopts. `identical`: objects that it would not change. `take`:
 * any object. `never`: only objects that the document names by annotation.
 */
export type AdoptMode = (typeof adoptModes)[number];

/** Every `MembershipMode`. */
export const membershipModes = ['additive', 'exclusive'] as const;

/** Every `ApprovalMode`. */
export const approvalModes = ['guards', 'always'] as const;

/**
 * Which plans of a source wait for an approval. `guards`: plans that trip a guard. `always`: all plans with changes.
 */
export type ApprovalMode = (typeof approvalModes)[number];

/**
 * Whether groups keep members that other origins added (`additive`), or contain only the members that sources state
 * (`exclusive`).
 */
export type MembershipMode = (typeof membershipModes)[number];

/** What a source may state and refer to. An absent list allows everything. */
export interface Scope {
  readonly kinds?: readonly string[];
  /** Prefixes of keys. The key of a child includes its parent's key. */
  readonly keyPrefixes?: readonly string[];
  /**
   * Keys or names of groups that documents may refer to and change in addition to the source's own. A `*` at the end
   * matches any ending.
   */
  readonly groups?: readonly string[];
}

/** Limits above which a plan of a source needs an approval. Shares are between 0 and 1. */
export type GuardLimits = {
  /** Number of deletes up to which `deleteShare` is not checked. */
  readonly deletes: number;
  readonly deleteShare: number;
  readonly kindShare: number;
  readonly updateShare: number;
  /** Maximum number of pairs of peers that may lose or gain some access. Absent: no limit. */
  readonly maxAccessLost?: number;
  readonly maxAccessGained?: number;
  /**
   * Object through which the management service is reached inside the mesh. A plan that takes the caller's access to it
   * needs an approval.
   */
  readonly lostOwnAccess?: string;
};

/** Settings by which the documents of a source are applied. */
export interface SourceSettings {
  readonly conflictMode: ConflictMode;
  readonly adopt: AdoptMode;
  readonly membership: MembershipMode;
  readonly prune: boolean;
  readonly allowEmpty: boolean;
  /** Whether files without Heddle documents are refused instead of ignored. */
  readonly strictFiles: boolean;
  readonly approval: ApprovalMode;
  readonly limits: GuardLimits;
  readonly scope: Scope;
  /** Whether the API or a rollback suspended the source. */
  readonly suspended: boolean;
  /** True when the source's resource in a cluster suspends it. */
  readonly suspendedInCluster?: true;
  /** Whether a server reads and applies the documents on its own. False for sources that are pushed. */
  readonly isServerRun: boolean;
  /** Revision that rolled the source back. Absent once a later plan of the source has been applied with approval. */
  readonly rolledBack?: number;
}

/** Default settings of a source. */
export const defaultSettings: SourceSettings = {
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
  isServerRun: false,
};

/** Whether the resource of a source in a cluster requests that it be suspended. */
export function isSuspendedInCluster(spec: JsonObject): boolean {
  return asObjectOrEmpty(spec['requested'])['suspend'] === true;
}

/** Whether a stored source is suspended, by the API or by its resource in a cluster. */
export function isSourceSuspended({
  suspended,
  spec,
}: {
  readonly suspended: boolean;
  readonly spec: JsonObject;
}): boolean {
  return suspended || isSuspendedInCluster(spec);
}

/** Whether the source is suspended: nothing of it is applied until it is resumed. */
export function isSuspended({ suspended, suspendedInCluster }: SourceSettings): boolean {
  return suspended || suspendedInCluster === true;
}

/** Stored columns of a source next to its spec. */
export interface SourceColumns {
  readonly type: string;
  readonly suspended: boolean;
  readonly rolledBack: number | null;
}

/** Reads the settings from a source's stored spec. Absent members get the values of `defaultSettings`. */
export function readSettings(spec: JsonObject, { type, suspended, rolledBack }: SourceColumns): SourceSettings {
  const limits = asObjectOrEmpty(spec['limits']);
  return {
    conflictMode: wordOrDefault(spec['conflictMode'], conflictModes, defaultSettings.conflictMode),
    adopt: wordOrDefault(spec['adopt'], adoptModes, defaultSettings.adopt),
    membership: wordOrDefault(spec['membership'], membershipModes, defaultSettings.membership),
    prune: spec['prune'] !== false,
    allowEmpty: spec['allowEmpty'] === true,
    strictFiles: spec['strictFiles'] === true,
    approval: wordOrDefault(spec['approval'], approvalModes, defaultSettings.approval),
    limits: {
      deletes: numberOrDefault(limits['deletes'], defaultSettings.limits.deletes),
      deleteShare: numberOrDefault(limits['deleteShare'], defaultSettings.limits.deleteShare),
      kindShare: numberOrDefault(limits['kindShare'], defaultSettings.limits.kindShare),
      updateShare: numberOrDefault(limits['updateShare'], defaultSettings.limits.updateShare),
      ...readAccessLimits(limits),
    },
    scope: readScope(asObjectOrEmpty(spec['scope'])),
    suspended,
    ...(isSuspendedInCluster(spec) ? { suspendedInCluster: true } : {}),
    isServerRun: type !== 'push',
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

function wordOrDefault<const Word extends string>(
  value: Json | undefined,
  words: readonly Word[],
  fallback: Word,
): Word {
  return words.find((word) => word === value) ?? fallback;
}

function numberOrDefault(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
