import { runTests, type TestReport, testsIn } from '../../../access/explain/tests.ts';
import type { AccessImage } from '../../../access/ruleset/access.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { readAccessImages } from '../../../objects/access-tests.ts';
import type { TestResult, TestResults } from '../../../operations/config/access.ts';
import type { ApplyRequest } from '../plans/apply-request.ts';
import { planWithoutReview } from '../plans/documents.ts';
import { applyMoves } from '../plans/moved-documents.ts';
import { refusalFor } from '../plans/refusal.ts';
import { accessName } from '../plans/review-access.ts';

/** Runs the access tests of the account on its state. */
export async function readTests(engine: Engine, call: Call): Promise<TestResults> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  return await resultsOf(await engine.access.withoutObservations(state), state);
}

/**
 * Runs the access tests on the state that documents would lead to. Nothing is written. Throws the
 * problems of the documents as the caller may see them.
 */
export async function testDocuments(engine: Engine, call: Call, request: ApplyRequest): Promise<TestResults> {
  const { outcome, before } = await planWithoutReview(engine, call, request);
  if (!outcome.ok) throw refusalFor(before, call, request, outcome.problems);
  const { after } = await readAccessImages(engine, before, applyMoves(outcome.next, outcome.plan, request.source));
  return await resultsOf(after, before);
}

/** Reports of earlier runs, valid as long as the image exists. */
const reportCache = new WeakMap<AccessImage, Promise<readonly TestReport[]>>();

/** Runs all tests of an image and summarizes them. */
async function resultsOf(image: AccessImage, { revision }: Snapshot): Promise<TestResults> {
  const reports = reportCache.get(image) ?? runInSlices(runTests(image, testsIn(image)));
  reportCache.set(image, reports);
  return { revision, ...summariseTests(await reports) };
}

const order = ['fail', 'conditional', 'pass'];

/** Returns the results of tests for people and programs. */
export function summariseTests(reports: readonly TestReport[]): Omit<TestResults, 'revision'> {
  const count = (outcome: TestReport['outcome']) => reports.filter((report) => report.outcome === outcome).length;
  const sorted = [...reports].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
  return {
    ...{ passed: count('pass'), failed: count('fail'), conditional: count('conditional') },
    tests: sorted.map(viewOf),
  };
}

function viewOf({ test, from, to, asked, expect, outcome, message, states }: TestReport): TestResult {
  const [declaration] = test.declared;
  return {
    ...(test.key === undefined ? {} : { key: test.key }),
    ...{ name: test.name, from: accessName(from, states), to: accessName(to, states) },
    ...{ asked, expect, outcome, message },
    ...(declaration === undefined ? {} : { file: declaration.file, line: declaration.line }),
  };
}
