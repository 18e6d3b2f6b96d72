import type { JsonObject } from '../../../../lib/json.ts';
import { maxProblems } from '../../../../model/lower/crd/status.ts';
import { readStatus, type SourceStatus, shownStatus } from '../../../../model/sources/status.ts';
import type { WrittenCondition } from '../status/status-writer.ts';

/** Status of the resource of a source, in the form in which it is written. */
export interface SourceResourceStatus {
  readonly observedGeneration: number;
  readonly source: string;
  readonly suspended: boolean;
  readonly conflictMode?: string;
  readonly revision?: number;
  readonly resources: number;
  readonly objects: number;
  readonly heldBack: number;
  readonly drifted: number;
  readonly plan?: string;
  readonly planDigest?: string;
  readonly lastAttemptAt?: string;
  readonly lastAttemptResult?: string;
  readonly lastSuccessAt?: string;
  readonly lastHandledReconcileAt?: string;
  readonly problems?: readonly { readonly path?: string; readonly code: string; readonly message: string }[];
  readonly conditions: readonly WrittenCondition[];
}

/** Facts about a source from which the status of its resource is made. */
export interface SourceFacts {
  readonly source: string;
  /** Recorded state of the source. Absent: no server has started it yet. */
  readonly record?: { readonly status: JsonObject; readonly generation: number; readonly spec: JsonObject } | undefined;
  readonly suspended: boolean;
  /** Number of resources in the namespace. */
  readonly resources: number;
  /** Generation of the resource up to which its requests are in effect. */
  readonly generation: number;
  /** Why the request of the resource is not carried out. */
  readonly fault: SourceFault | undefined;
  /** Why the waiting plan cannot be shown as a resource. */
  readonly planFault: string | undefined;
  readonly handled: string | undefined;
}

/** Why the request of a resource is not carried out, as one word and as a sentence. */
export interface SourceFault {
  readonly reason: 'NotAllowed' | 'NotCovered' | 'NameUnknown';
  readonly message: string;
}

type Finding = readonly [
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  since?: string,
];

/**
 * Returns the status of the resource of a source. `before` is the status that the resource shows: its times are kept
 * where nothing changed. `now` is in ISO 8601.
 */
export function sourceResourceStatus(
  facts: SourceFacts,
  before: SourceResourceStatus | undefined,
  now: string,
): SourceResourceStatus {
  const { source, record, suspended, resources, generation, handled } = facts;
  const known = readStatus(record?.status ?? {});
  const former = new Map((before?.conditions ?? []).map((condition) => [condition.type, condition]));
  const conditions = findings(facts, known).map(([type, status, reason, message, since]): WrittenCondition => {
    const last = former.get(type);
    const lastTransitionTime = since ?? (last?.status === status ? last.lastTransitionTime : now);
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: toWholeSeconds(lastTransitionTime),
      observedGeneration: generation,
    };
  });
  const { planId, planDigest, lastAppliedRevision: revision, lastAppliedAt, heldBack = 0, drifted = 0 } = known;
  const attempt = lastAttempt(known);
  return {
    observedGeneration: generation,
    ...{ source, suspended, resources, heldBack, drifted },
    ...(record === undefined ? {} : { conflictMode: String(record.spec['conflictMode'] ?? 'guard') }),
    ...(revision === undefined ? {} : { revision }),
    objects: Object.values(known.inventory ?? {}).reduce((sum, count) => sum + count, 0),
    ...(planId === undefined ? {} : { plan: planId }),
    ...(planDigest === undefined ? {} : { planDigest }),
    ...(attempt === undefined ? {} : { lastAttemptAt: toWholeSeconds(attempt.at), lastAttemptResult: attempt.result }),
    ...(lastAppliedAt === undefined ? {} : { lastSuccessAt: toWholeSeconds(lastAppliedAt) }),
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
    ...problemsOf(known),
    conditions,
  };
}

/** Cuts a time to whole seconds, the precision of Kubernetes. */
function toWholeSeconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}

/** Returns the recorded conditions of the source, and further conditions that are derived from them. */
function findings({ record, suspended, fault, planFault }: SourceFacts, known: SourceStatus): readonly Finding[] {
  const { generation } = record ?? { generation: 0 };
  const recorded = shownStatus(known, { generation, suspended }).conditions.map(
    ({ type, status, reason, message, lastTransitionTime }): Finding => [
      type,
      status,
      reason,
      message,
      lastTransitionTime,
    ],
  );
  const [, , reason = 'Pending', message = ''] = recorded.find(([type]) => type === 'Ready') ?? [];
  const holds = (type: string, is: boolean): Finding => [type, is ? 'True' : 'False', reason, is ? message : ''];
  const derived: readonly Finding[] = [
    holds('HeldBack', reason === 'HeldBack'),
    holds('Unavailable', known.state === 'unavailable'),
    holds('GuardTripped', known.state === 'needs_approval'),
    fault === undefined ? ['Accepted', 'True', 'Accepted', ''] : ['Accepted', 'False', fault.reason, fault.message],
    ...(planFault === undefined ? [] : [['PlanShown', 'False', 'CannotBeWritten', planFault] as const]),
  ];
  const begun = recorded.length === 0 ? pending : recorded;
  const own = fault === undefined ? begun : begun.map((finding) => asRefused(finding, fault));
  return [...own, ...derived];
}

const pending: readonly Finding[] = [
  ['Ready', 'Unknown', 'Pending', 'it was not reconciled yet'],
  ['Reconciling', 'True', 'Pending', 'it was not reconciled yet'],
  ['Stalled', 'False', 'Pending', ''],
];

/** Changes a condition for a request that is refused: its generation never becomes ready. */
function asRefused(finding: Finding, { reason, message }: SourceFault): Finding {
  const [type] = finding;
  if (type === 'Ready') return [type, 'False', reason, message];
  if (type === 'Reconciling') return [type, 'False', reason, ''];
  return type === 'Stalled' ? [type, 'True', reason, message] : finding;
}

/**
 * Returns the last attempt that ended differently from the one before. If the time of every attempt were shown, the
 * status would be written again after each one.
 */
function lastAttempt({
  history,
  state,
  conditions,
}: SourceStatus): { readonly at: string; readonly result: string } | undefined {
  const [newest] = history;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isOutOfReach = state === 'unavailable' || state === 'failed';
  if (isOutOfReach && ready !== undefined) return { at: ready.lastTransitionTime, result: state };
  return newest;
}

function problemsOf({ problems = [] }: SourceStatus): Pick<SourceResourceStatus, 'problems'> {
  if (problems.length === 0) return {};
  const shown = problems.slice(0, maxProblems).map(({ file, path = '', code, message }) => {
    const fullPath = `${file ?? ''}${path}`;
    return { ...(fullPath === '' ? {} : { path: fullPath }), code, message };
  });
  return { problems: shown };
}
