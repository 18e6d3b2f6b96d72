import { expect, it } from 'vitest';
import { trafficBetween } from '../../src/access/evaluate/layers.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import { noObservations } from '../../src/access/ruleset/facts.ts';
import { stateOf } from '../kinds/objects.ts';
import { compareWithBruteForce } from './brute-force.ts';
import { diffAccess } from './diff-access.ts';
import { contains } from './image.ts';
import { largeAccount, onAnotherPort } from './large.ts';
import { naiveVerdict, type Probe } from './naive.ts';

const probes: readonly Probe[] = [
  { protocol: 'tcp', port: 443 },
  { protocol: 'tcp', port: 9999 },
  { protocol: 'udp', port: 53 },
  { protocol: 'icmp', port: 0 },
];

it('access in an account of 300 peers and the diff of a change equal the naive model', () => {
  const objects = largeAccount({ peers: 300, groups: 30, groupsOfPeer: 3, policies: 60 });
  const changed = onAnotherPort(objects.slice(-5));
  const state = stateOf(...objects);
  const before = compileAccess(state);
  const after = updateAccess(
    before,
    state.with({ put: changed, remove: [] }),
    changed.map(({ id }) => id),
  );
  const account = { objects, observedPeers: noObservations };
  const next = { objects: [...objects.slice(0, -5), ...changed], observedPeers: noObservations };
  const pairs = new Map([...diffAccess(before, after).pairs()].map((pair) => [`${pair.from.id} ${pair.to.id}`, pair]));
  for (let nth = 0; nth < 400; nth++) {
    const [from, to] = [`p${(nth * 37) % 300}`, `p${(nth * 101 + 7) % 300}`];
    const [was, is] = [trafficBetween(before, from, to), trafficBetween(after, from, to)];
    const pair = pairs.get(`${from} ${to}`);
    for (const probe of probes) {
      const [old, now] = [naiveVerdict(account, from, to, probe), naiveVerdict(next, from, to, probe)];
      expect([from, to, probe, contains(was.sure, probe)]).toEqual([from, to, probe, old === 'allow']);
      expect([from, to, probe, contains(is.sure, probe)]).toEqual([from, to, probe, now === 'allow']);
      const [gained, lost] = [contains(pair?.gained.sure ?? [], probe), contains(pair?.lost.sure ?? [], probe)];
      const [opened, closed] = [old === 'deny' && now === 'allow', old === 'allow' && now === 'deny'];
      expect([from, to, probe, gained, lost]).toEqual([from, to, probe, opened, closed]);
    }
  }
});

it('a diff equals the brute-force diff for all pairs, and brute force detects a wrong one', () => {
  const sizes = { peers: 150, groups: 20, groupsOfPeer: 3, policies: 40 };
  const [objects, others] = [largeAccount(sizes), largeAccount({ ...sizes, seed: 2 })];
  const diff = diffAccess(compileAccess(stateOf(...objects)), compileAccess(stateOf(...others)));
  expect(compareWithBruteForce(diff, objects, others)).toEqual({ pairs: 22_350, other: 0 });
  const wrong = compareWithBruteForce(diff, objects, [...others.slice(0, -1), ...onAnotherPort(others.slice(-1))]);
  expect(wrong.other).toBeGreaterThan(0);
});
