import type { Problem } from '../problem.ts';
import {
  type Condition,
  type ConditionType,
  type ContentIdentity,
  type HistoryEntry,
  isConditionTrue,
  type SourceState,
  type SourceStatus,
} from './status.ts';

/** Event in the life of a source. */
export type SourceEvent =
  | (ContentIdentity & {
      readonly what: 'applied';
      readonly message: string;
      /** Revision of the account at this attempt. */
      readonly at: number;
      /** Revision that this attempt made. Absent when there was nothing to write. */
      readonly revision?: number;
      /** Revision that was applied by hand and turned out to match the source. */
      readonly confirmed?: number;
      readonly inventory: Readonly<Record<string, number>>;
      /** Problems of the files that are held back while the other files are applied. */
      readonly problems?: readonly Problem[];
      /** Number of files that are held back. */
      readonly heldBack?: number;
      /** Number of stated units that have another value in the account. */
      readonly drifted?: number;
      /** Whether the source's loop stays stopped as hot although this attempt was applied. */
      readonly isHot?: boolean;
    })
  | (ContentIdentity & {
      readonly what: 'refused';
      readonly state: 'needs_approval' | 'invalid' | 'conflicted';
      readonly message: string;
      readonly at: number;
      readonly planDigest?: string;
      readonly planId?: string;
      readonly problems?: readonly Problem[];
    })
  | {
      readonly what: 'unavailable' | 'failed' | 'hot';
      readonly message: string;
      /** Replaces the version that was applied last (`lastAppliedVersion`). */
      readonly version?: string;
    }
  | {
      readonly what: 'running' | 'suspended' | 'resumed' | 'reminded';
    };

/** Time of an event in ISO 8601, and the generation of the source's settings at that time. */
export interface EventContext {
  readonly now: string;
  readonly generation: number;
}

const historyLength = 10;
const maxShownProblems = 100;

/** Returns the status after an event. Members that the event does not mention stay unchanged. */
export function nextStatus(before: SourceStatus, event: SourceEvent, occasion: EventContext): SourceStatus {
  switch (event.what) {
    case 'applied':
      return statusAfterApply(before, event, occasion);
    case 'refused':
      return statusAfterRefusal(before, event, occasion);
    case 'unavailable':
    case 'failed':
      return {
        ...statusAfterFailure(before, event.what, event.message, occasion),
        ...(event.version === undefined ? {} : { lastAppliedVersion: event.version }),
      };
    case 'hot':
      return {
        ...before,
        state: 'stalled',
        message: event.message,
        conditions: reviseConditions(before, occasion, {
          Ready: ['False', 'HotLoop', event.message],
          Stalled: ['True', 'HotLoop', event.message],
          Reconciling: ['False', 'HotLoop', event.message],
        }),
      };
    case 'running':
      return {
        ...before,
        conditions: reviseConditions(before, occasion, {
          Reconciling: ['True', 'Applying', 'documents are being applied'],
        }),
      };
    case 'suspended':
      return {
        ...before,
        conditions: reviseConditions(before, occasion, {
          Suspended: ['True', 'Suspended', 'the source is suspended'],
          Reconciling: ['False', 'Suspended', 'the source is suspended'],
        }),
      };
    case 'reminded':
      return { ...before, remindedAt: occasion.now };
    case 'resumed':
      return { ...before, conditions: reviseConditions(before, occasion, { Suspended: ['False', 'Running', ''] }) };
    default:
      return unreachable(event);
  }
}

type AppliedEvent = Extract<SourceEvent, { readonly what: 'applied' }>;

function statusAfterApply(before: SourceStatus, event: AppliedEvent, occasion: EventContext): SourceStatus {
  const { at, revision, confirmed, inventory, problems = [], heldBack, drifted = 0, isHot = false } = event;
  const isWhole = problems.length === 0;
  const last = revision ?? confirmed;
  // An attempt that had nothing to do does not replace the message about documents that are applied already.
  const isNewState =
    revision !== undefined || !isWhole || before.state !== 'applied' || before.lastAppliedDigest !== event.digest;
  const message = isNewState ? event.message : before.message;
  const {
    planDigest: _,
    planId: __,
    problems: ___,
    heldBack: ____,
    ...kept
  } = withObservedContent(before, event, occasion);
  const drift = `${drifted} stated ${drifted === 1 ? 'value is' : 'values are'} different in the account`;
  const well: Findings = {
    Ready: isWhole ? ['True', 'Applied', message] : ['False', 'HeldBack', message],
    Reconciling: ['False', 'Applied', ''],
    Stalled: ['False', 'Applied', ''],
  };
  return {
    ...kept,
    ...(isHot ? {} : { state: 'applied', message }),
    conditions: reviseConditions(before, occasion, {
      ...(isHot ? {} : well),
      Drifted: drifted > 0 ? ['True', 'ValuesDiffer', drift] : ['False', 'InSync', ''],
      Conflicted: ['False', 'InSync', ''],
      ...notSuspendedFinding(before),
    }),
    ...(isWhole ? {} : { problems: problems.slice(0, maxShownProblems) }),
    ...(heldBack === undefined ? {} : { heldBack }),
    lastAttemptedRevision: at,
    lastAttemptedDigest: event.digest,
    lastAppliedDigest: event.digest,
    ...(event.commit === undefined ? {} : { lastAppliedCommit: event.commit }),
    ...(event.uids === undefined ? {} : { lastAppliedUids: event.uids }),
    ...(event.version === undefined ? {} : { lastAppliedVersion: event.version }),
    ...(last === undefined ? {} : { lastAppliedRevision: last, lastAppliedAt: occasion.now }),
    inventory,
    drifted,
    history: addToHistory(before, event, 'applied', occasion),
  };
}

type RefusedEvent = Extract<SourceEvent, { readonly what: 'refused' }>;

const refusalReasons: Readonly<Record<RefusedEvent['state'], string>> = {
  needs_approval: 'NeedsApproval',
  invalid: 'InvalidDocuments',
  conflicted: 'Conflicted',
};

function statusAfterRefusal(before: SourceStatus, event: RefusedEvent, occasion: EventContext): SourceStatus {
  const { state, message, at, planDigest, planId, problems } = event;
  const { planDigest: _, planId: __, problems: ___, ...kept } = withObservedContent(before, event, occasion);
  const reason = refusalReasons[state];
  return {
    ...kept,
    state,
    message,
    conditions: reviseConditions(before, occasion, {
      Ready: ['False', reason, message],
      Reconciling: ['False', reason, ''],
      Stalled: ['True', reason, message],
      Conflicted: state === 'conflicted' ? ['True', reason, message] : ['False', reason, ''],
      ...notSuspendedFinding(before),
    }),
    lastAttemptedRevision: at,
    lastAttemptedDigest: event.digest,
    ...(planDigest === undefined ? {} : { planDigest }),
    ...(planId === undefined ? {} : { planId }),
    ...(problems === undefined ? {} : { problems: problems.slice(0, maxShownProblems) }),
    history: addToHistory(before, event, state, occasion),
  };
}

function statusAfterFailure(
  before: SourceStatus,
  state: 'unavailable' | 'failed',
  message: string,
  occasion: EventContext,
): SourceStatus {
  const reason = state === 'unavailable' ? 'SourceUnavailable' : 'Failed';
  return {
    ...before,
    state,
    message,
    conditions: reviseConditions(before, occasion, {
      Ready: ['False', reason, message],
      Reconciling: ['True', reason, 'the source is retried automatically'],
      Stalled: ['False', reason, ''],
    }),
  };
}

/**
 * Returns the finding that the source is not suspended, unless it is. A reconcile that completes after the source was
 * suspended must not resume it.
 */
function notSuspendedFinding(before: SourceStatus): Findings {
  return isConditionTrue(before, 'Suspended') ? {} : { Suspended: ['False', 'Running', ''] };
}

function withObservedContent(
  before: SourceStatus,
  event: ContentIdentity & { readonly at: number },
  { generation }: EventContext,
): SourceStatus {
  const { observedCommit: _, ...kept } = before;
  return {
    ...kept,
    observedGeneration: generation,
    observedRevision: event.at,
    observedDigest: event.digest,
    ...(event.commit === undefined ? {} : { observedCommit: event.commit }),
  };
}

type Findings = Partial<
  Readonly<Record<ConditionType, readonly [Condition['status'], reason: string, message: string]>>
>;

const conditionOrder: readonly ConditionType[] = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Drifted',
  'Conflicted',
  'Suspended',
];

/**
 * Returns the conditions with the new findings. A condition keeps its transition time while its status stays the same,
 * even when its reason changes.
 */
function reviseConditions(
  before: SourceStatus,
  { now, generation }: EventContext,
  findings: Findings,
): readonly Condition[] {
  return conditionOrder.flatMap((type) => {
    const old = before.conditions.find((condition) => condition.type === type);
    const found = findings[type];
    if (found === undefined) return old ?? [];
    const [status, reason, message] = found;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, reason, message, lastTransitionTime, observedGeneration: generation };
  });
}

/**
 * Returns the history with this attempt. A repeated result for the same content adds no entry, unless it made a
 * revision.
 */
function addToHistory(
  before: SourceStatus,
  event: ContentIdentity & { readonly message: string; readonly revision?: number },
  result: SourceState,
  { now }: EventContext,
): readonly HistoryEntry[] {
  const { digest, commit, message, revision } = event;
  const [newest] = before.history;
  if (newest?.digest === digest && newest.result === result && revision === undefined) return before.history;
  const entry: HistoryEntry = {
    digest,
    ...(commit === undefined ? {} : { commit }),
    result,
    message,
    ...(revision === undefined ? {} : { revision }),
    at: now,
  };
  return [entry, ...before.history].slice(0, historyLength);
}

function unreachable(event: never): never {
  throw new Error(`no such event: ${JSON.stringify(event)}`);
}
