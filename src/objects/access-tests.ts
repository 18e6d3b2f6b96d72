import { runTests, type TestReport, testsIn } from '../access/explain/tests.ts';
import type { AccessImage } from '../access/ruleset/access.ts';
import { compileAccess } from '../access/ruleset/compile.ts';
import { accessTypeOf, isEnforced, kindOf, testKind } from '../access/ruleset/object-readers.ts';
import type { Engine } from '../commit/engine.ts';
import { runInSlices } from '../commit/slices.ts';
import type { Problem } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Plan, PlanOutcome } from '../plan/plan.ts';

/** Result of the access tests for a plan. */
interface Judgement {
  /** Reasons for which the plan is refused. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Runs the account's tests on the state after a plan. The plan is refused when a test fails that its source declares or
 * that the plan changes, and when the plan makes another test fail. Other failing tests are warnings. A result that
 * depends on posture checks is also a warning; for tests of other sources, only when this plan causes it.
 */
export async function checkPlanTests(step: AccessImages, plan: Plan, source: string): Promise<Judgement> {
  const reports = await runInSlices(runTests(step.after, testsIn(step.after)));
  const found = reports.filter(({ outcome }) => outcome !== 'pass');
  const changed = new Set(plan.changes.flatMap(({ after }) => after?.id ?? []));
  const isOwn = ({ id, declared }: StoredObject) => changed.has(id) || declared.some((one) => one.source === source);
  const others = found.filter(({ test }) => !isOwn(test)).map(({ test }) => test);
  const before = await outcomesIn(step.before, others);
  const wasSo = ({ test, outcome }: TestReport) => before.get(test.id) === outcome;
  const failed = found.filter(({ outcome }) => outcome === 'fail');
  const open = found.filter((report) => report.outcome === 'conditional' && !wasSo(report));
  return {
    problems: failed
      .filter((report) => !wasSo(report))
      .map((report) => problemOf('access_test_failed', report, source)),
    warnings: [
      ...failed.filter(wasSo).map((report) => problemOf('access_test_failing', report, source)),
      ...open.map((report) => problemOf('access_test_conditional', report, source)),
    ],
  };
}

type PlannedOutcome = Extract<PlanOutcome, { readonly ok: true }>;

/**
 * Refuses a request that makes an enforced test fail which did not fail before. A request that repairs a failing test
 * passes.
 */
export function checkRequestTests(
  engine: Engine,
  before: Snapshot,
  outcome: PlanOutcome,
): PlanOutcome | Promise<PlanOutcome> {
  if (!outcome.ok || !mayChangeTestResults(outcome.plan, outcome.next)) return outcome;
  return checkEnforcedTests(engine, before, outcome);
}

async function checkEnforcedTests(engine: Engine, before: Snapshot, outcome: PlannedOutcome): Promise<PlanOutcome> {
  const step = await readAccessImages(engine, before, outcome.next);
  const reports = await runInSlices(runTests(step.after, testsIn(step.after).filter(isEnforced)));
  const failed = reports.filter((report) => report.outcome === 'fail');
  const was = await outcomesIn(
    step.before,
    failed.map(({ test }) => test),
  );
  const broken = failed.filter(({ test }) => was.get(test.id) !== 'fail');
  if (broken.length === 0) return outcome;
  return { ok: false, problems: broken.map((report) => problemOf('access_test_failed', report)) };
}

/** Results of the access tests of a state, with a problem for each failure. */
export interface StateTests {
  readonly tests: readonly TestReport[];
  readonly failures: readonly Problem[];
}

/** Runs the access tests of a state that is not stored, without a server. */
export async function testState(state: Snapshot): Promise<StateTests> {
  const image = compileAccess(state);
  const tests = await runInSlices(runTests(image, testsIn(image)));
  const failed = tests.filter(({ outcome }) => outcome === 'fail');
  return { tests, failures: failed.map((report) => problemOf('access_test_failed', report)) };
}

/**
 * Returns the outcomes of these tests in an image, by id of the test. Leaves out tests that the image does not contain.
 */
async function outcomesIn(
  image: AccessImage,
  tests: readonly StoredObject[],
): Promise<ReadonlyMap<string, TestReport['outcome']>> {
  const there = tests.filter(({ id }) => image.state.get(id) !== undefined);
  const reports = await runInSlices(runTests(image, there));
  return new Map(reports.map(({ test, outcome }) => [test.id, outcome]));
}

/**
 * Converts the report of a test to a problem at its document. When several sources declare the test, the document is
 * the one of this source.
 */
function problemOf(code: ProblemCode, { test, message }: TestReport, source?: string): Problem {
  const { kind, key, name, declared } = test;
  const declaration = declared.find((one) => one.source === source) ?? declared[0];
  return {
    ...{ code, kind, key: key ?? name, message },
    ...(declaration === undefined ? {} : { file: declaration.file, line: declaration.line }),
  };
}

/**
 * Access images before and after a change of the account, without facts that peers reported: plans do not depend on
 * them.
 */
export interface AccessImages {
  readonly before: AccessImage;
  readonly after: AccessImage;
}

/** Returns the access images before and after a change. */
export async function readAccessImages(engine: Engine, before: Snapshot, next: Snapshot): Promise<AccessImages> {
  const image = await engine.access.withoutObservations(before);
  return { before: image, after: await engine.access.afterChange(image, before, next) };
}

/** Returns whether a plan may change which peer reaches which, judged by the kinds of its objects. */
export function mayChangeAccess({ changes }: Plan, before: Snapshot, next: Snapshot): boolean {
  const peers = before.countOf(kindOf.peer) + next.countOf(kindOf.peer);
  return peers > 0 && hasAccessChange({ changes });
}

/** Returns whether a plan may change the outcome of tests, with or without peers in the account. */
export function mayChangeTestResults({ changes }: Plan, next: Snapshot): boolean {
  if (next.countOf(testKind) === 0) return false;
  return hasAccessChange({ changes }) || changes.some(({ after }) => after?.kind === testKind);
}

function hasAccessChange({ changes }: Pick<Plan, 'changes'>): boolean {
  return changes.some(({ before, after }) => accessTypeOf(after ?? before) !== undefined);
}
