import { reachOf } from '../../src/access/evaluate/reach.ts';
import { touchedPeers } from '../../src/access/evaluate/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import { createAccessImages } from '../../src/commit/access-images.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { compareWithBruteForce } from '../access/brute-force.ts';
import { diffAccess } from '../access/diff-access.ts';
import { type LargeSizes, largeAccount, onAnotherPort } from '../access/large.ts';
import { registry } from '../kinds/objects.ts';
import type { Benchmark, Row } from './result.ts';
import { inTurns, time } from './timing.ts';

const rounds = 7;

/**
 * Access between peers, and its changes, against reading and writing the account's objects as JSON. That reference took
 * about 10 ms for 2,000 peers and 20 ms for 5,000 when the budgets were set, so the budgets were 300 ms, 2 s and 50 ms.
 */
export const access: Benchmark = {
  name: 'access',
  run: async () => [
    ...(await differences({ peers: 2000, groups: 100, groupsOfPeer: 1, policies: 500 }, 'one group each')),
    ...(await differences({ peers: 2000, groups: 100, groupsOfPeer: 5, policies: 500 }, 'five groups each')),
    ...equality({ peers: 2000, groups: 100, groupsOfPeer: 1, policies: 500 }, 'one group each'),
    ...equality({ peers: 2000, groups: 100, groupsOfPeer: 5, policies: 500 }, 'five groups each'),
    ...(await plans({ peers: 2000, groups: 100, groupsOfPeer: 1, policies: 500 })),
    ...(await counts({ peers: 5000, groups: 100, groupsOfPeer: 1, policies: 500 })),
    ...(await maps({ peers: 5000, groups: 100, groupsOfPeer: 1, policies: 500 })),
  ],
};

async function differences(sizes: LargeSizes, note: string): Promise<readonly Row[]> {
  const objects = largeAccount(sizes);
  const state = snapshotOf(objects);
  const before = compileAccess(state);
  const other = compileAccess(snapshotOf(largeAccount({ ...sizes, seed: 2 })));
  const afters: readonly (readonly [what: string, after: AccessImage])[] = [
    ['one policy of 500 changed', updatedOn(before, state, onAnotherPort(objects.slice(-1)))],
    ['50 policies of 500 changed', updatedOn(before, state, onAnotherPort(objects.slice(-50)))],
    ['all policies and groups are others', other],
  ];
  // If no two peers are alike, the time for changing everything at once is only reported.
  const judged = sizes.groupsOfPeer === 1 ? afters.length : 2;
  const rows: Row[] = [];
  for (const [at, [what, after]] of afters.entries()) {
    const measured = await inTurns(rounds, () => time(() => diffAccess(before, after)), reading(objects));
    const row: Row = { what: `difference of access of 2,000 peers: ${what}`, note, ...measured, unit: 'ms' };
    rows.push(at < judged ? { ...row, budget: { is: 'at most', value: 30 } } : row);
  }
  return rows;
}

/**
 * Compares the differences with a brute-force search over every pair of peers and every kind of traffic. Takes some
 * seconds.
 */
function equality(sizes: LargeSizes, note: string): readonly Row[] {
  const objects = largeAccount(sizes);
  const others = [...objects.slice(0, -50), ...onAnotherPort(objects.slice(-50))];
  const afters = [
    ['50 policies of 500 changed', others],
    ['all policies and groups are others', largeAccount({ ...sizes, seed: 2 })],
  ] as const;
  const [before, ...images] = [objects, ...afters.map(([, after]) => after)].map((some) =>
    compileAccess(snapshotOf(some)),
  ) as [AccessImage, ...AccessImage[]];
  return afters.map(([what, after], at) => {
    const { pairs, other } = compareWithBruteForce(diffAccess(before, images[at] as AccessImage), objects, after);
    const found = `of ${pairs.toLocaleString('en-US')} pairs, those for which brute force finds another difference`;
    return { what: `${found}: ${what}`, note, figure: other, unit: '', budget: { is: 'at most', value: 0 } };
  });
}

/**
 * Measures the additional time of a plan that reports who gains and loses access: the access image after the change,
 * and the difference.
 */
async function plans(sizes: LargeSizes): Promise<readonly Row[]> {
  const objects = largeAccount(sizes);
  const state = snapshotOf(objects);
  const images = createAccessImages();
  const before = await images.withoutObservations(state);
  const next = state.with({ put: onAnotherPort(objects.slice(-1)), remove: [] });
  const review = () => time(async () => diffAccess(before, await images.afterChange(before, state, next)));
  const what = 'what a plan that changes one policy of 500 does to access of 2,000 peers';
  const measured = await inTurns(rounds, review, reading(objects));
  return [{ what, ...measured, unit: 'ms', budget: { is: 'at most', value: 5 } }];
}

async function counts(sizes: LargeSizes): Promise<readonly Row[]> {
  const objects = largeAccount(sizes);
  const state = snapshotOf(objects);
  const ids = objects.filter(({ kind }) => kind === 'Peer').map(({ id }) => id);
  const next = state.with({ put: onAnotherPort(objects.slice(-1)), remove: [] });
  const count = (counter: (peer: string) => number) => ids.map(counter);
  const first = async () => time(async () => count(await createAccessImages().createPeerCounter(state)));
  const again = async () => {
    const images = createAccessImages();
    count(await images.createPeerCounter(state));
    return time(async () => count(await images.createPeerCounter(next)));
  };
  const what = 'accessible peers of 5,000 peers counted';
  return [
    { what, ...(await inTurns(rounds, first, reading(objects))), unit: 'ms', budget: { is: 'at most', value: 25 } },
    {
      what: '… after one policy changed',
      ...(await inTurns(rounds, again, reading(objects))),
      unit: 'ms',
      budget: { is: 'at most', value: 5 },
    },
  ];
}

async function maps(sizes: LargeSizes): Promise<readonly Row[]> {
  const objects = largeAccount(sizes);
  const state = snapshotOf(objects);
  const reference = reading(objects);
  const ids = objects.filter(({ kind }) => kind === 'Peer').map(({ id }) => id);
  const full = async () => time(() => reachAll(compileAccess(state), ids));
  const changed = onAnotherPort(objects.slice(-1));
  const before = compileAccess(state);
  const next = state.with({ put: changed, remove: [] });
  const single = async () =>
    time(() => {
      const after = updateAccess(
        before,
        next,
        changed.map(({ id }) => id),
      );
      reachAll(after, touchedPeers(before, after));
    });
  return [
    {
      what: 'maps of 5,000 peers with 500 policies',
      ...(await inTurns(rounds, full, reference)),
      unit: 'ms',
      budget: { is: 'at most', value: 100 },
    },
    {
      what: '… of those that one changed policy touches',
      ...(await inTurns(rounds, single, reference)),
      unit: 'ms',
      budget: { is: 'at most', value: 2.5 },
    },
  ];
}

function reachAll(image: AccessImage, ids: readonly string[]): void {
  for (const id of ids) reachOf(image, id);
}

function snapshotOf(objects: readonly StoredObject[]): Snapshot {
  return emptySnapshot(registry, 'bench').with({ put: objects, remove: [] });
}

function updatedOn(before: AccessImage, state: Snapshot, changed: readonly StoredObject[]): AccessImage {
  return updateAccess(
    before,
    state.with({ put: changed, remove: [] }),
    changed.map(({ id }) => id),
  );
}

function reading(objects: readonly StoredObject[]): () => Promise<number> {
  return () => time(() => JSON.parse(JSON.stringify(objects)));
}
