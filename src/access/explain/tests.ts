import type { State } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';
import { findNamedObject, type NamedObject } from '../evaluate/named.ts';
import { trafficText } from '../evaluate/traffic.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { readTest, testKind } from '../ruleset/object-readers.ts';
import { describeAccess } from './describe.ts';
import { type Explanation, trafficOfQuestion } from './explain.ts';
import { judgeAccess, type TestOutcome, testAccess } from './test-access.ts';

/** Result of an access test of an account. */
export interface TestReport {
  readonly test: StoredObject;
  readonly from: NamedObject;
  readonly to: NamedObject;
  /** The traffic in question, such as `tcp/443`. */
  readonly asked: string;
  readonly expect: 'allow' | 'deny';
  readonly outcome: TestOutcome['outcome'];
  /** Expectation and result, with the rules that decide and where they are declared. */
  readonly message: string;
  /** States in which to look up the endpoints. */
  readonly states: readonly State[];
}

/** Runs the tests on an image. Yields after each test, so that many tests do not block other requests. */
export function* runTests(
  access: AccessImage,
  tests: readonly StoredObject[],
): Generator<undefined, readonly TestReport[]> {
  const reports: TestReport[] = [];
  for (const test of tests) {
    reports.push(runTest(access, test));
    yield undefined;
  }
  return reports;
}

/** Returns the access tests of a state. */
export function testsIn({ state }: Pick<AccessImage, 'state'>): readonly Stored<typeof testKind>[] {
  return state.ofKind(testKind);
}

function runTest(access: AccessImage, test: StoredObject): TestReport {
  const { expect, ...question } = readTest(test);
  // Traffic that no group member may send must be denied to temporary peers too. Traffic that all members may send need
  // not be allowed to temporary peers.
  const result = testAccess(access, question, { temporaryPeers: expect === 'deny' });
  const { outcome, decided } = judgeAccess(result, expect);
  const [from, to] = [findNamedObject(question.from, access.state), findNamedObject(question.to, access.state)];
  const asked = trafficText(trafficOfQuestion(question));
  const expectation = `expects ${asked} from \`${from.name}\` to \`${to.name}\` to be ${expect === 'allow' ? 'allowed' : 'denied'}`;
  const message = `${expectation}${foundText(outcome, decided)}`;
  return { test, from, to, asked, expect, outcome, message, states: [access.state] };
}

function foundText(outcome: TestReport['outcome'], decided: Explanation | undefined): string {
  if (decided === undefined) return ', and there are no members to check';
  const { message, rules } = describeAccess(decided);
  const deciding = rules.filter(({ decides }) => decides);
  // When no rule lets the traffic through, the message names the positions of the rules that almost do.
  const positions = (deciding.length > 0 ? deciding : rules.filter(({ almost }) => almost === true))
    .flatMap(({ policy }) => policy?.declared ?? [])
    .map(({ file, line }) => `${file}:${line}`);
  const where = positions.length === 0 ? '' : ` (${[...new Set(positions)].join(', ')})`;
  return `${outcome === 'fail' ? ', but ' : ': '}${message}${where}`;
}
