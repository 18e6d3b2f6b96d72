import type { Problem } from '../problem.ts';
import {
  type Condition,
  type ConditionType,
  type Content,
  type HistoryEntry,
  isSo,
  type SourceState,
  type SourceStatus,
} from './status.ts';

/** What happened to a source. */
export type SourceEvent =
  | (Content & {
      readonly what: 'applied';
      readonly message: string;
      /** The revision that the account is at. */
      readonly at: number;
      /** The revision that applying made, when there was anything to write. */
      readonly revision?: number;
      /** A revision that was applied by hand, and that turned out to match the source. */
      readonly confirmed?: number;
      readonly inventory: Readonly<Record<string, number>>;
      /** What is wrong with files that are held back while the others are applied. */
      readonly problems?: readonly Problem[];
      /** How many files these are. */
      readonly heldBack?: number;
      /** How many stated units have another value. */
      readonly drifted?: number;
      /** Its loop is stopped all the same. */
      readonly isHot?: boolean;
    })
  | (Content & {
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
      /** What is to be known in place of the version that was applied last. */
      readonly version?: string;
    }
  | {
      readonly what: 'running' | 'suspended' | 'resumed' | 'reminded';
    };

/** When it happened, and under which settings. */
export interface Occasion {
  readonly now: string;
  readonly generation: number;
}

const historyLength = 10;
const shownProblems = 100;

/** The status after something happened. What it does not speak of stays as it was. */
export function nextStatus(before: SourceStatus, event: SourceEvent, occasion: Occasion): SourceStatus {
  switch (event.what) {
    case 'applied':
      return applied(before, event, occasion);
    case 'refused':
      return refused(before, event, occasion);
    case 'unavailable':
    case 'failed':
      return {
        ...outOfReach(before, event.what, event.message, occasion),
        ...(event.version === undefined ? {} : { lastAppliedVersion: event.version }),
      };
    case 'hot':
      return {
        ...before,
        state: 'stalled',
        message: event.message,
        conditions: revise(before, occasion, {
          Ready: ['False', 'HotLoop', event.message],
          Stalled: ['True', 'HotLoop', event.message],
          Reconciling: ['False', 'HotLoop', event.message],
        }),
      };
    case 'running':
      return {
        ...before,
        conditions: revise(before, occasion, { Reconciling: ['True', 'Applying', 'documents are being applied'] }),
      };
    case 'suspended':
      return {
        ...before,
        conditions: revise(before, occasion, {
          Suspended: ['True', 'Suspended', 'it is suspended'],
          Reconciling: ['False', 'Suspended', 'it is suspended'],
        }),
      };
    case 'reminded':
      return { ...before, remindedAt: occasion.now };
    case 'resumed':
      return { ...before, conditions: revise(before, occasion, { Suspended: ['False', 'Running', ''] }) };
    default:
      return unreachable(event);
  }
}

type Applied = Extract<SourceEvent, { readonly what: 'applied' }>;

function applied(before: SourceStatus, event: Applied, occasion: Occasion): SourceStatus {
  const { at, revision, confirmed, inventory, problems = [], heldBack, drifted = 0, isHot = false } = event;
  const isWhole = problems.length === 0;
  const last = revision ?? confirmed;
  // That there was nothing to do is no news about documents that are applied already.
  const isNewState =
    revision !== undefined || !isWhole || before.state !== 'applied' || before.lastAppliedDigest !== event.digest;
  const message = isNewState ? event.message : before.message;
  const { planDigest: _, planId: __, problems: ___, heldBack: ____, ...kept } = observed(before, event, occasion);
  const drift = `${drifted} stated ${drifted === 1 ? 'value is' : 'values are'} different in the account`;
  const well: Findings = {
    Ready: isWhole ? ['True', 'Applied', message] : ['False', 'HeldBack', message],
    Reconciling: ['False', 'Applied', ''],
    Stalled: ['False', 'Applied', ''],
  };
  return {
    ...kept,
    ...(isHot ? {} : { state: 'applied', message }),
    conditions: revise(before, occasion, {
      ...(isHot ? {} : well),
      Drifted: drifted > 0 ? ['True', 'ValuesDiffer', drift] : ['False', 'InSync', ''],
      Conflicted: ['False', 'InSync', ''],
      ...notSuspended(before),
    }),
    ...(isWhole ? {} : { problems: problems.slice(0, shownProblems) }),
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
    history: remember(before, event, 'applied', occasion),
  };
}

type Refused = Extract<SourceEvent, { readonly what: 'refused' }>;

const refusals: Readonly<Record<Refused['state'], string>> = {
  needs_approval: 'NeedsApproval',
  invalid: 'InvalidDocuments',
  conflicted: 'Conflicted',
};

function refused(before: SourceStatus, event: Refused, occasion: Occasion): SourceStatus {
  const { state, message, at, planDigest, planId, problems } = event;
  const { planDigest: _, planId: __, problems: ___, ...kept } = observed(before, event, occasion);
  const reason = refusals[state];
  return {
    ...kept,
    state,
    message,
    conditions: revise(before, occasion, {
      Ready: ['False', reason, message],
      Reconciling: ['False', reason, ''],
      Stalled: ['True', reason, message],
      Conflicted: state === 'conflicted' ? ['True', reason, message] : ['False', reason, ''],
      ...notSuspended(before),
    }),
    lastAttemptedRevision: at,
    lastAttemptedDigest: event.digest,
    ...(planDigest === undefined ? {} : { planDigest }),
    ...(planId === undefined ? {} : { planId }),
    ...(problems === undefined ? {} : { problems: problems.slice(0, shownProblems) }),
    history: remember(before, event, state, occasion),
  };
}

function outOfReach(
  before: SourceStatus,
  state: 'unavailable' | 'failed',
  message: string,
  occasion: Occasion,
): SourceStatus {
  const reason = state === 'unavailable' ? 'SourceUnavailable' : 'Failed';
  return {
    ...before,
    state,
    message,
    conditions: revise(before, occasion, {
      Ready: ['False', reason, message],
      Reconciling: ['True', reason, 'it is tried again'],
      Stalled: ['False', reason, ''],
    }),
  };
}

/** A reconcile that completes after the source was suspended does not resume it. */
function notSuspended(before: SourceStatus): Findings {
  return isSo(before, 'Suspended') ? {} : { Suspended: ['False', 'Running', ''] };
}

function observed(
  before: SourceStatus,
  event: Content & { readonly at: number },
  { generation }: Occasion,
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

const order: readonly ConditionType[] = ['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Conflicted', 'Suspended'];

/** A condition keeps its time while its status stays, whatever its reason. */
function revise(before: SourceStatus, { now, generation }: Occasion, findings: Findings): readonly Condition[] {
  return order.flatMap((type) => {
    const old = before.conditions.find((condition) => condition.type === type);
    const found = findings[type];
    if (found === undefined) return old ?? [];
    const [status, reason, message] = found;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return { type, status, reason, message, lastTransitionTime, observedGeneration: generation };
  });
}

/** The same end on the same content is one entry, however often it comes. */
function remember(
  before: SourceStatus,
  event: Content & { readonly message: string; readonly revision?: number },
  result: SourceState,
  { now }: Occasion,
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
