import type { JsonObject } from '../../lib/json.ts';
import type { Problem } from '../problem.ts';

/**
 * Type of a condition. `Ready`: the current content is applied. `Reconciling`: the content is being applied, or will be
 * retried automatically. `Stalled`: nothing more happens until something changes. `Drifted`: a stated value differs in
 * the account. `Conflicted`: other sources state other values for the same units. `Suspended`: the source's loop is
 * stopped.
 */
export type ConditionType = (typeof conditionTypes)[number];

/** Every `ConditionType`. */
export const conditionTypes = ['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Conflicted', 'Suspended'] as const;

/** Values of a condition's status. */
export const conditionStatuses = ['True', 'False', 'Unknown'] as const;

/** A condition, and the time since which it has its status. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: (typeof conditionStatuses)[number];
  /** Reason in one word, for programs. */
  readonly reason: string;
  readonly message: string;
  /** Time at which the status last changed, in ISO 8601. */
  readonly lastTransitionTime: string;
  /** Generation of the settings under which the condition was found. */
  readonly observedGeneration: number;
}

/** State of a source, in one word. */
export type SourceState = (typeof sourceStates)[number];

/** Every `SourceState`. */
export const sourceStates = [
  ...(['pending', 'applied', 'needs_approval', 'invalid', 'conflicted', 'unavailable', 'failed'] as const),
  ...(['stalled', 'suspended'] as const),
] as const;

/** An attempt that differs from the one before in its result or content, or that made a revision. */
export interface HistoryEntry {
  readonly digest: string;
  readonly commit?: string;
  readonly result: SourceState;
  readonly message: string;
  readonly revision?: number;
  readonly at: string;
}

/** Status of a source, as stored and shown. Revisions are revisions of the account; digests identify content. */
export interface SourceStatus {
  readonly state: SourceState;
  /** Explanation for people. */
  readonly message: string;
  readonly conditions: readonly Condition[];
  readonly observedGeneration: number;
  readonly observedRevision?: number;
  readonly observedDigest?: string;
  readonly observedCommit?: string;
  readonly lastAttemptedRevision?: number;
  readonly lastAttemptedDigest?: string;
  readonly lastAppliedRevision?: number;
  readonly lastAppliedAt?: string;
  readonly lastAppliedDigest?: string;
  readonly lastAppliedCommit?: string;
  /** For a cluster: UIDs of the namespace and the custom resource definitions of the content that was applied last. */
  readonly lastAppliedUids?: string;
  /**
   * For a cluster: version of its store at that time; `lost` once the cluster was found to be restored to an earlier
   * state.
   */
  readonly lastAppliedVersion?: string;
  /** Digest and stored id of the plan that waits for an approval. */
  readonly planDigest?: string;
  readonly planId?: string;
  readonly problems?: readonly Problem[];
  /** Number of files that the last applied attempt held back because of problems. */
  readonly heldBack?: number;
  /** Number of objects about which the source states something, by kind. */
  readonly inventory?: Readonly<Record<string, number>>;
  /** Number of stated units that had another value at the last applied attempt. */
  readonly drifted?: number;
  /** Newest first. */
  readonly history: readonly HistoryEntry[];
  readonly nextRunAt?: string;
  /** Time at which the reminder of its suspension was sent, in ISO 8601. */
  readonly remindedAt?: string;
  /** Newest request to reconcile that was handled. */
  readonly lastHandledReconcileAt?: string;
}

/** Identification of a source's content at one attempt. */
export interface ContentIdentity {
  readonly digest: string;
  readonly commit?: string;
  readonly uids?: string;
  readonly version?: string;
}

/** Whether the status of a condition is `True`. */
export function isConditionTrue(status: SourceStatus, type: ConditionType): boolean {
  return status.conditions.some((condition) => condition.type === type && condition.status === 'True');
}

/** Status of a source before its first reconcile. */
export const initialStatus: SourceStatus = {
  state: 'pending',
  message: 'not reconciled yet',
  conditions: [],
  observedGeneration: 0,
  history: [],
};

/**
 * Whether two statuses differ only in times, revisions looked at and the version of a cluster's store. The difference
 * is then not written.
 */
export function isSameStatus(a: SourceStatus, b: SourceStatus): boolean {
  return JSON.stringify(comparableStatus(a)) === JSON.stringify(comparableStatus(b));
}

function comparableStatus({
  observedRevision: _,
  lastAttemptedRevision: __,
  nextRunAt: ___,
  lastAppliedVersion: ____,
  conditions,
  ...rest
}: SourceStatus) {
  const plain = conditions.map(({ type, status, reason, message, observedGeneration }) => [
    type,
    status,
    reason,
    message,
    observedGeneration,
  ]);
  return { ...sorted(rest), plain };
}

function sorted(members: object): object {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the status to show for the current generation of the settings. Findings under an earlier generation do not
 * make a source ready, and a suspended source is shown as suspended whatever its state.
 */
export function shownStatus(
  status: SourceStatus,
  { generation, suspended }: { readonly generation: number; readonly suspended: boolean },
): SourceStatus {
  const shown = suspended ? { ...status, state: 'suspended' as const, message: suspendedMessage } : status;
  if (status.observedGeneration >= generation) return shown;
  const message = 'the settings changed, and the source was not reconciled since';
  const conditions = status.conditions.map((condition) =>
    condition.type === 'Ready' && condition.status === 'True'
      ? { ...condition, status: 'Unknown' as const, reason: 'Outdated', message }
      : condition,
  );
  return { ...shown, conditions };
}

const suspendedMessage = 'suspended: documents are not read until the source is resumed';

/** Reads a stored status, written by this version or an older one. */
export function readStatus(stored: JsonObject): SourceStatus {
  // An older version may have stored only some of the members.
  const known = stored;
  return { ...initialStatus, ...known };
}
