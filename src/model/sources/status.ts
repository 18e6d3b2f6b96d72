import type { JsonObject } from '../../lib/json.ts';
import type { Problem } from '../problem.ts';

/**
 * What can be said of a source. `Ready`: what it holds now is applied. `Reconciling`: it is being applied, or will be tried
 * again without anybody's help. `Stalled`: nothing more happens until something changes. `Drifted`: something that it states
 * is different in the account. `Conflicted`: others state differently what it states. `Suspended`: its loop is stopped.
 */
export type ConditionType = (typeof conditionTypes)[number];

/** Every `ConditionType`. */
export const conditionTypes = ['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Conflicted', 'Suspended'] as const;

/** Whether a condition holds. */
export const conditionStatuses = ['True', 'False', 'Unknown'] as const;

/** One condition, and since when it is so. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: (typeof conditionStatuses)[number];
  /** One word for programs. */
  readonly reason: string;
  readonly message: string;
  /** ISO 8601. */
  readonly lastTransitionTime: string;
  /** The settings that it was found under. */
  readonly observedGeneration: number;
}

/** How a source fares in one word. */
export type SourceState = (typeof sourceStates)[number];

/** Every `SourceState`. */
export const sourceStates = [
  ...(['pending', 'applied', 'needs_approval', 'invalid', 'conflicted', 'unavailable', 'failed'] as const),
  ...(['stalled', 'suspended'] as const),
] as const;

/** One attempt that ended differently from the one before, or on other content. */
export interface HistoryEntry {
  readonly digest: string;
  readonly commit?: string;
  readonly result: SourceState;
  readonly message: string;
  readonly revision?: number;
  readonly at: string;
}

/** How a source fares, as it is stored and shown. Revisions are those of the account; content is named by its digest. */
export interface SourceStatus {
  readonly state: SourceState;
  /** A sentence for people. */
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
  /** Ids of the namespace and the definitions of that, in a cluster. */
  readonly lastAppliedUids?: string;
  /** How far the store of that cluster had come; `lost` once it was found to be set back. */
  readonly lastAppliedVersion?: string;
  /** The plan that waits for an approval: its digest, and the id under which it is stored. */
  readonly planDigest?: string;
  readonly planId?: string;
  readonly problems?: readonly Problem[];
  /** How many files were held back because of problems when it was applied last. */
  readonly heldBack?: number;
  /** How many objects of each kind it states something about. */
  readonly inventory?: Readonly<Record<string, number>>;
  /** How many stated units had another value when it was applied last. */
  readonly drifted?: number;
  /** Newest first. */
  readonly history: readonly HistoryEntry[];
  readonly nextRunAt?: string;
  /** When the reminder of its suspension was sent. */
  readonly remindedAt?: string;
  /** The newest request to reconcile that was heeded. */
  readonly lastHandledReconcileAt?: string;
}

/** What was seen of a source's content. */
export interface Content {
  readonly digest: string;
  readonly commit?: string;
  readonly uids?: string;
  readonly version?: string;
}

/** Whether a condition holds. */
export function isSo(status: SourceStatus, type: ConditionType): boolean {
  return status.conditions.some((condition) => condition.type === type && condition.status === 'True');
}

/** A source about which nothing is known yet. */
export const unknownStatus: SourceStatus = {
  state: 'pending',
  message: 'not reconciled yet',
  conditions: [],
  observedGeneration: 0,
  history: [],
};

/** Whether two statuses differ in nothing but times, the revision that was looked at and how far a cluster had come: not worth a write. */
export function isSameStatus(a: SourceStatus, b: SourceStatus): boolean {
  return JSON.stringify(essence(a)) === JSON.stringify(essence(b));
}

function essence({
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
 * The status as it is shown while the settings are at this generation: what was found under earlier ones does not make a
 * source ready, and one that is suspended is shown so whatever it was before.
 */
export function shownStatus(
  status: SourceStatus,
  { generation, suspended }: { readonly generation: number; readonly suspended: boolean },
): SourceStatus {
  const shown = suspended ? { ...status, state: 'suspended' as const, message: suspendedMessage } : status;
  if (status.observedGeneration >= generation) return shown;
  const message = 'its settings changed, and it was not reconciled since';
  const conditions = status.conditions.map((condition) =>
    condition.type === 'Ready' && condition.status === 'True'
      ? { ...condition, status: 'Unknown' as const, reason: 'Outdated', message }
      : condition,
  );
  return { ...shown, conditions };
}

const suspendedMessage = 'suspended: its documents are not looked at until it is resumed';

/** Reads a stored status, of this program or of an older one. */
export function readStatus(stored: JsonObject): SourceStatus {
  // Written by this program, or by one that knew some of the members.
  const known = stored;
  return { ...unknownStatus, ...known };
}
