import type { JsonObject } from '../../../../lib/json.ts';
import { mostProblems } from '../../../../model/lower/crd/status.ts';
import { readStatus, type SourceStatus, shownStatus } from '../../../../model/sources/status.ts';
import type { WrittenCondition } from '../status/status-writer.ts';

/** The status of the resource of a source, as it is written. */
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

/** What is known of a source when its resource is written. */
export interface SourceFacts {
  readonly source: string;
  /** As it is recorded; absent: it was not begun with yet. */
  readonly record?: { readonly status: JsonObject; readonly generation: number; readonly spec: JsonObject } | undefined;
  readonly suspended: boolean;
  /** How many resources the namespace has. */
  readonly resources: number;
  /** The generation up to which what is asked of the source is in effect. */
  readonly generation: number;
  /** Why what the resource asks for is not done. */
  readonly fault: SourceFault | undefined;
  /** Why the plan that waits cannot be shown as a resource. */
  readonly planFault: string | undefined;
  readonly handled: string | undefined;
}

/** Why what a resource asks for is not done, in one word and in a sentence. */
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

/** The status of the resource of a source. Times of `before`, which it shows, stay where nothing changed; `now` is ISO 8601. */
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
      lastTransitionTime: seconds(lastTransitionTime),
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
    ...(attempt === undefined ? {} : { lastAttemptAt: seconds(attempt.at), lastAttemptResult: attempt.result }),
    ...(lastAppliedAt === undefined ? {} : { lastSuccessAt: seconds(lastAppliedAt) }),
    ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
    ...problemsOf(known),
    conditions,
  };
}

/** Kubernetes has whole seconds. */
function seconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}

/** What was recorded of the source, and what follows from it under names of its own. */
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
  const own = fault === undefined ? begun : begun.map((finding) => refusing(finding, fault));
  return [...own, ...derived];
}

const pending: readonly Finding[] = [
  ['Ready', 'Unknown', 'Pending', 'it was not reconciled yet'],
  ['Reconciling', 'True', 'Pending', 'it was not reconciled yet'],
  ['Stalled', 'False', 'Pending', ''],
];

/** The generation that asks for something which is not done never becomes ready. */
function refusing(finding: Finding, { reason, message }: SourceFault): Finding {
  const [type] = finding;
  if (type === 'Ready') return [type, 'False', reason, message];
  if (type === 'Reconciling') return [type, 'False', reason, ''];
  return type === 'Stalled' ? [type, 'True', reason, message] : finding;
}

/** When an attempt ended otherwise than the one before: the time of one that ends as before would be written for ever. */
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
  const shown = problems.slice(0, mostProblems).map(({ file, path = '', code, message }) => {
    const place = `${file ?? ''}${path}`;
    return { ...(place === '' ? {} : { path: place }), code, message };
  });
  return { problems: shown };
}
