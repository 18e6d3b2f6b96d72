import { runTests, type TestReport, testsIn } from '../access/explain/tests.ts';
import type { Access } from '../access/ruleset/access.ts';
import { isEnforced, kindOf, partOf, testKind } from '../access/ruleset/object-readers.ts';
import type { Engine } from '../commit/engine.ts';
import { runInSlices } from '../commit/slices.ts';
import type { Problem } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Outcome, Plan } from '../plan/plan.ts';

/** What tests have to say about a plan. */
interface Judgement {
  /** Why it is refused. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Holds what a plan leads to against the tests of the account. A plan is refused for tests that its source states or that it
 * changes, and for those that it breaks; others that fail anyway are warnings, and so is what depends on posture checks, for
 * tests of others only when this plan makes it so.
 */
export async function judgePlan(step: AccessStep, plan: Plan, source: string): Promise<Judgement> {
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

type Proposed = Extract<Outcome, { readonly ok: true }>;

/**
 * Refuses a request that makes an enforced test fail which held until now. A request that repairs a failing test
 * passes.
 */
export function judgeRequest(engine: Engine, before: Snapshot, outcome: Outcome): Outcome | Promise<Outcome> {
  if (!outcome.ok || !touchesTests(outcome.plan, outcome.next)) return outcome;
  return judgeEnforced(engine, before, outcome);
}

async function judgeEnforced(engine: Engine, before: Snapshot, outcome: Proposed): Promise<Outcome> {
  const step = await accessStep(engine, before, outcome.next);
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

/** What those of these tests find that an image has, by their ids. */
async function outcomesIn(
  image: Access,
  tests: readonly StoredObject[],
): Promise<ReadonlyMap<string, TestReport['outcome']>> {
  const there = tests.filter(({ id }) => image.state.get(id) !== undefined);
  const reports = await runInSlices(runTests(image, there));
  return new Map(reports.map(({ test, outcome }) => [test.id, outcome]));
}

/** The finding of a test as a problem of its document; of several the one of this source. */
export function problemOf(code: ProblemCode, { test, message }: TestReport, source?: string): Problem {
  const { kind, key, name, declared } = test;
  const place = declared.find((one) => one.source === source) ?? declared[0];
  return {
    ...{ code, kind, key: key ?? name, message },
    ...(place === undefined ? {} : { file: place.file, line: place.line }),
  };
}

/**
 * The account before and after a step as far as access goes; facts that peers reported are left out, so that plans do
 * not depend on them.
 */
export interface AccessStep {
  readonly before: Access;
  readonly after: Access;
}

/** The images before and after. */
export async function accessStep(engine: Engine, before: Snapshot, next: Snapshot): Promise<AccessStep> {
  const image = await engine.access.bare(before);
  return { before: image, after: await engine.access.after(image, before, next) };
}

/** Whether a plan may change who reaches whom, as far as its kinds show. */
export function touchesAccess({ changes }: Plan, before: Snapshot, next: Snapshot): boolean {
  const peers = before.countOf(kindOf.peer) + next.countOf(kindOf.peer);
  return peers > 0 && touchesParts({ changes });
}

/** Whether a plan may change what tests find: with or without anybody who is there. */
export function touchesTests({ changes }: Plan, next: Snapshot): boolean {
  if (next.countOf(testKind) === 0) return false;
  return touchesParts({ changes }) || changes.some(({ after }) => after?.kind === testKind);
}

function touchesParts({ changes }: Pick<Plan, 'changes'>): boolean {
  return changes.some(({ before, after }) => partOf(after ?? before) !== undefined);
}
