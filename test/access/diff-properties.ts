import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccessDiff, PairDelta } from '../../src/access/diff/diff.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import { aChange, anAccount, applyChange, type Change, type Runs, someObservedPeers } from './account.ts';
import { diffAccess } from './diff-access.ts';
import { contains, everybody, snapshotOf } from './image.ts';
import { type Naive, naiveNames, naiveVerdict, type Probe, probes } from './naive.ts';

/** Returns the changes of each pair according to the naive model, as `gained tcp/80 conditional`. */
function naiveDeltas(before: Naive, after: Naive): ReadonlyMap<string, readonly string[]> {
  const rank = { deny: 0, conditional: 1, allow: 2 };
  const found = new Map<string, readonly string[]>();
  for (const from of everybody) {
    for (const to of everybody) {
      const reported = probes.flatMap((probe) => {
        const [was, is] = [naiveVerdict(before, from, to, probe), naiveVerdict(after, from, to, probe)];
        if (was === is) return [];
        const change = rank[is] > rank[was] ? 'gained' : 'lost';
        const sure = change === 'gained' ? is === 'allow' : is === 'deny';
        return [`${change} ${probe.protocol}/${probe.port}${sure ? '' : ' conditional'}`];
      });
      if (reported.length > 0) found.set(`${from} ${to}`, reported);
    }
  }
  return found;
}

/** Returns the changes that the program lists, in the format of `naiveDeltas`. */
function listed(diff: AccessDiff): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...diff.pairs()].map((shift) => [
      `${shift.from.id} ${shift.to.id}`,
      probes.flatMap((probe) => report(shift, probe)),
    ]),
  );
}

function report({ gained, lost }: PairDelta, probe: Probe): readonly string[] {
  const text = `${probe.protocol}/${probe.port}`;
  return [
    ...(contains(gained.sure, probe) ? [`gained ${text}`] : []),
    ...(contains(gained.conditional, probe) ? [`gained ${text} conditional`] : []),
    ...(contains(lost.sure, probe) ? [`lost ${text}`] : []),
    ...(contains(lost.conditional, probe) ? [`lost ${text} conditional`] : []),
  ];
}

/**
 * Returns the summary according to the naive model: each changed pair is counted under every two names by which a rule
 * accepts the changed traffic.
 */
function naiveSummary(before: Naive, after: Naive): readonly string[] {
  const sums = new Map<string, { pairs: Set<string>; sure: Set<string>; open: Set<string>; probes: Set<string> }>();
  for (const [pair, deltas] of naiveDeltas(before, after)) {
    const [from = '', to = ''] = pair.split(' ');
    for (const shift of deltas) {
      const [change = '', text = '', conditional] = shift.split(' ');
      const probe = probes.find(({ protocol, port }) => text === `${protocol}/${port}`) as Probe;
      for (const names of naiveNames(change === 'gained' ? after : before, from, to, probe)) {
        const key = `${change} ${names}`;
        const sum = sums.get(key) ?? { pairs: new Set(), sure: new Set(), open: new Set(), probes: new Set() };
        sums.set(key, sum);
        sum.pairs.add(pair);
        (conditional === undefined ? sum.sure : sum.open).add(pair);
        sum.probes.add(text);
      }
    }
  }
  return [...sums]
    .map(([key, { pairs, sure, open, probes }]) => {
      const partly = [...open].some((pair) => sure.has(pair));
      return `${key}: ${pairs.size} ${pairs.size - sure.size} ${partly} ${[...probes].sort()}`;
    })
    .sort();
}

function summaryOf(diff: AccessDiff): readonly string[] {
  return diff.groups
    .map(({ change, from, to, traffic, pairs, conditional, partly }) => {
      const reported = probes
        .filter((probe) => contains(traffic, probe))
        .map(({ protocol, port }) => `${protocol}/${port}`);
      return `${change} ${from.id} ${to.id}: ${pairs} ${conditional} ${partly} ${reported.sort()}`;
    })
    .sort();
}

function countsOf(deltas: ReadonlyMap<string, readonly string[]>, change: string) {
  const own = [...deltas.values()].map((reported) => reported.filter((text) => text.startsWith(change)));
  const pairs = own.filter((reported) => reported.length > 0);
  return {
    pairs: pairs.length,
    conditional: pairs.filter((reported) => reported.every((text) => text.endsWith('conditional'))).length,
  };
}

function expectDiff(first: AccessImage, second: AccessImage, before: Naive, after: Naive): void {
  const diff = diffAccess(first, second);
  const deltas = naiveDeltas(before, after);
  expect(listed(diff)).toEqual(deltas);
  expect(diff.gained).toEqual(countsOf(deltas, 'gained'));
  expect(diff.lost).toEqual(countsOf(deltas, 'lost'));
  expect(summaryOf(diff)).toEqual(naiveSummary(before, after));
}

const ids = ({ put, remove }: Change) => [...put.map(({ id }) => id), ...remove, 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'];

/** Declares the property tests of access diffs. `runs` returns the number of runs of each. */
export function testDiffs(runs: Runs): void {
  describe('the diff of two access images', () => {
    it('equals the naive diff for every pair and port after an incremental update', () => {
      fc.assert(
        fc.property(anAccount, someObservedPeers, aChange, someObservedPeers, (objects, was, change, is) => {
          const state = snapshotOf(objects);
          const before = compileAccess(state, was);
          const after = updateAccess(before, state.with(change), ids(change), is);
          expectDiff(
            before,
            after,
            { objects, observedPeers: was },
            { objects: applyChange(objects, change), observedPeers: is },
          );
        }),
        { numRuns: runs(60) },
      );
    });

    it('equals the naive diff between unrelated accounts', () => {
      fc.assert(
        fc.property(anAccount, someObservedPeers, anAccount, someObservedPeers, (objects, was, others, is) => {
          const before = compileAccess(snapshotOf(objects), was);
          const after = compileAccess(snapshotOf(others), is);
          expectDiff(before, after, { objects, observedPeers: was }, { objects: others, observedPeers: is });
        }),
        { numRuns: runs(40) },
      );
    });
  });
}
