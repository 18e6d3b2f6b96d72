import { contradictionCodes, type Problem } from '../../../../model/problem.ts';
import type { Condition as SourceCondition } from '../../../../model/sources/status.ts';

/** A condition of a resource, in the Kubernetes format. */
export type Condition = Omit<SourceCondition, 'type'> & { readonly type: ConditionType };

/** Type of a condition of a resource. Only `Ready` is normally true. */
export type ConditionType = (typeof conditionTypes)[number];

const conditionTypes = ['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Conflicted'] as const;

/** Status of a resource, in the form in which it is written. */
export interface ResourceStatus {
  readonly observedGeneration: number;
  readonly id?: string;
  readonly revision?: number;
  readonly source: string;
  readonly planId?: string;
  readonly outputSecret?: string;
  readonly problems?: readonly ResourceProblem[];
  readonly conditions: readonly Condition[];
}

/** A problem of a resource. */
export interface ResourceProblem {
  readonly path?: string;
  readonly code: string;
  readonly message: string;
}

/** Result of a reconcile for one resource. */
export interface ResourceOutcome {
  readonly source: string;
  readonly generation: number;
  /** Object that the resource represents. Absent when there is none. */
  readonly object?: { readonly id: string; readonly revision: number } | undefined;
  /** Why the resource is not applied. Empty: it is applied. */
  readonly problems: readonly Problem[];
  /** Plan that would change the object and waits for an approval. */
  readonly waiting?: { readonly planId: string; readonly message: string } | undefined;
  /** Name of the Secret that contains the values generated for the object. */
  readonly outputSecret?: string | undefined;
  /** Number of declared values that are different in the account. */
  readonly drifted: number;
}

/**
 * Time for which something missing is expected to appear, in milliseconds. After that, the resource counts as stalled.
 */
export const missingGraceMs = 30_000;

/** Maximum number of problems that are shown. */
const maxProblems = 20;

/**
 * Returns the status of a resource after a reconcile. `before` is the status that the resource shows: its times are
 * kept where nothing changed. `now` is in ISO 8601.
 */
export function resourceStatus(
  outcome: ResourceOutcome,
  before: ResourceStatus | undefined,
  now: string,
): ResourceStatus {
  const { source, generation, object, problems, waiting, outputSecret } = outcome;
  const time = `${now.slice(0, 19)}Z`;
  const former = new Map((before?.conditions ?? []).map((condition) => [condition.type, condition]));
  const notReadySince = former.get('Ready')?.status === 'False' ? former.get('Ready')?.lastTransitionTime : undefined;
  // The time may come from a server whose clock is ahead. Without `abs`, the wait would be longer by that difference.
  const missingFor = Math.abs(Date.parse(now) - Date.parse(notReadySince ?? now));
  const isExpected = isOnlyMissing(problems) && missingFor < missingGraceMs;
  const conditions = findings(outcome, isExpected).map(([type, status, reason, message]): Condition => {
    const last = former.get(type);
    const lastTransitionTime = last?.status === status ? last.lastTransitionTime : time;
    return { type, status, reason, message, lastTransitionTime, observedGeneration: generation };
  });
  return {
    observedGeneration: generation,
    ...(object === undefined ? {} : object),
    source,
    ...(waiting === undefined ? {} : { planId: waiting.planId }),
    ...(outputSecret === undefined ? {} : { outputSecret }),
    ...(problems.length === 0 ? {} : { problems: problems.slice(0, maxProblems).map(toResourceProblem) }),
    conditions,
  };
}

type Finding = readonly [ConditionType, Condition['status'], reason: string, message: string];

function findings(outcome: ResourceOutcome, isExpected: boolean): readonly Finding[] {
  const { problems, waiting, drifted } = outcome;
  const [first, ...others] = problems;
  const isConflict = problems.some(({ code }) => contradictionCodes.has(code));
  const drift: Finding =
    drifted > 0
      ? [
          'Drifted',
          'True',
          'ValuesDiffer',
          `${drifted} stated ${drifted === 1 ? 'value is' : 'values are'} different in the account`,
        ]
      : ['Drifted', 'False', 'InSync', ''];
  if (first !== undefined) {
    const reason = isConflict ? 'Conflicted' : reasonFor(problems);
    const more = others.length === 0 ? '' : `; and ${others.length} more`;
    const message = `${first.message}${more}`;
    return [
      ['Ready', 'False', reason, message],
      ['Reconciling', isExpected ? 'True' : 'False', reason, ''],
      ['Stalled', isExpected ? 'False' : 'True', reason, isExpected ? '' : message],
      drift,
      [
        'Conflicted',
        isConflict ? 'True' : 'False',
        isConflict ? 'Conflicted' : 'NoConflict',
        isConflict ? message : '',
      ],
    ];
  }
  const calm: Finding = ['Conflicted', 'False', 'NoConflict', ''];
  if (waiting !== undefined) {
    return [
      ['Ready', 'False', 'NeedsApproval', waiting.message],
      ['Reconciling', 'False', 'NeedsApproval', ''],
      ['Stalled', 'True', 'NeedsApproval', waiting.message],
      drift,
      calm,
    ];
  }
  return [
    ['Ready', 'True', 'Applied', 'the account matches the resource'],
    ['Reconciling', 'False', 'Applied', ''],
    ['Stalled', 'False', 'Applied', ''],
    drift,
    calm,
  ];
}

function reasonFor(problems: readonly Problem[]): string {
  if (problems.every(({ code }) => code.startsWith('output_secret_'))) return 'OutputNotWritten';
  return isOnlyMissing(problems) ? 'ReferenceMissing' : 'Invalid';
}

/** Whether all problems are that something to which the resource refers is missing or not applied. */
export function isOnlyMissing(problems: readonly Problem[]): boolean {
  const codes: ReadonlySet<string> = new Set([
    ...[
      'reference_unknown',
      'reference_held_back',
      'reference_pending',
      'secret_unset',
      'output_secret_unwritten',
      'service_unresolved',
    ],
  ]);
  return problems.length > 0 && problems.every(({ code }) => codes.has(code));
}

function toResourceProblem({ path, code, message }: Problem): ResourceProblem {
  return { ...(path === undefined ? {} : { path }), code, message };
}

/** Whether a resource was changed since its status was written, or has no status. */
export function isStatusOutdated(generation: number, shownStatus: ResourceStatus | undefined): boolean {
  return shownStatus?.observedGeneration !== generation || shownStatus.conditions.length === 0;
}
