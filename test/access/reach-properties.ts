import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accessiblePeers, countAccessiblePeers } from '../../src/access/evaluate/neighbours.ts';
import { type FirewallRule, type Reach, reachOf } from '../../src/access/evaluate/reach.ts';
import { touchedPeers } from '../../src/access/evaluate/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import { aChange, anAccount, type Change, type Runs, someObservedPeers } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { type Naive, naiveGateways, naiveVerdict, type Probe, probes } from './naive.ts';

const peers = everybody.filter((id) => id.startsWith('p'));
const proxies = everybody.filter((id) => id.startsWith('x'));
const destinations = everybody.filter((id) => /^[rw]/.test(id));

/** Returns whether the rules allow a connection with a peer. Evaluates them as a firewall does: drop rules first. */
function passes(rules: readonly FirewallRule[], peer: string, { protocol, port }: Probe): boolean {
  const about = (rule: FirewallRule) => {
    const ports = rule.ports.length > 0 || rule.protocol !== 'ssh' ? rule.ports : [{ start: 22, end: 22 }];
    const isPort = ports.length === 0 || ports.some(({ start, end }) => start <= port && port <= end);
    const carries: Record<string, readonly string[]> = {
      ssh: ['ssh', 'tcp'],
      tcp: rule.action === 'drop' ? ['tcp', 'ssh'] : ['tcp'],
    };
    if (rule.protocol === 'all') return true;
    return (carries[rule.protocol] ?? [rule.protocol]).includes(protocol) && isPort;
  };
  return rules.find((rule) => rule.peers.includes(peer) && about(rule))?.action === 'accept';
}

/** Checks that `reach` contains what the peer has to know according to the naive model. */
function expectReach(account: Naive, reach: Reach, access: AccessImage): void {
  const isSure = (from: string, to: string, probe: Probe) => naiveVerdict(account, from, to, probe) === 'allow';
  const reaches = (from: string, to: string) => probes.some((probe) => isSure(from, to, probe));
  const own = reach.peer;
  if (account.observedPeers.expired.has(own)) {
    expect([reach.peers, reach.away, reach.outbound, reach.inbound, reach.uses, reach.serves].flat()).toEqual([]);
    return;
  }
  for (const other of peers.filter((id) => id !== own)) {
    for (const probe of probes) {
      expect([other, probe, passes(reach.outbound, other, probe)]).toEqual([other, probe, isSure(own, other, probe)]);
      expect([other, probe, passes(reach.inbound, other, probe)]).toEqual([other, probe, isSure(other, own, probe)]);
    }
  }
  const leads = (peer: string, destination: string) => naiveGateways(account, destination).includes(peer);
  const used = destinations.filter((destination) => reaches(own, destination) && !leads(own, destination));
  const served = destinations.filter((destination) => leads(own, destination));
  expect(reach.uses.map(({ id }) => id)).toEqual(used);
  expect(reach.uses.map(({ ways }) => [...new Set(ways.flatMap((way) => way.peers))].sort())).toEqual(
    used.map((destination) => [...naiveGateways(account, destination)].sort()),
  );
  expect(reach.serves.map(({ id }) => id)).toEqual(served);
  for (const { id, rules } of reach.serves)
    for (const peer of peers)
      for (const probe of probes)
        if (peer !== own)
          expect([id, peer, probe, passes(rules, peer, probe)]).toEqual([id, peer, probe, isSure(peer, id, probe)]);
  const neighbours = peers.filter(
    (peer) =>
      peer !== own &&
      (reaches(own, peer) ||
        reaches(peer, own) ||
        used.some((destination) => leads(peer, destination)) ||
        served.some((destination) => reaches(peer, destination) && !leads(peer, destination))),
  );
  const met = [...neighbours, ...proxies.filter((id) => reaches(own, id))];
  expect(reach.peers).toEqual(met.filter((id) => !account.observedPeers.expired.has(id)));
  expect(reach.away).toEqual(neighbours.filter((peer) => account.observedPeers.expired.has(peer)));
  const accessible = accessiblePeers(access, own);
  expect(accessible.sure).toEqual(peers.filter((peer) => reaches(own, peer)));
  expect(countAccessiblePeers(access, own)).toBe(accessible.sure.length);
}

/** Declares the property tests of the reach of a peer. `runs` returns the number of runs of each. */
export function testReach(runs: Runs): void {
  describe('the reach of a peer', () => {
    it('contains what the rules permit for certain, and nothing conditional', () => {
      fc.assert(
        fc.property(anAccount, someObservedPeers, (objects, observedPeers) => {
          const access = compileAccess(snapshotOf(objects), observedPeers);
          for (const peer of peers) {
            const reach = reachOf(access, peer);
            expect(reach === undefined).toBe(!objects.some(({ id }) => id === peer));
            if (reach !== undefined) expectReach({ objects, observedPeers }, reach, access);
          }
        }),
        { numRuns: runs(40) },
      );
    });

    it('changes only for peers that are listed as touched', () => {
      const ids = ({ put, remove }: Change) => [...put.map(({ id }) => id), ...remove, ...peers];
      fc.assert(
        fc.property(
          anAccount,
          someObservedPeers,
          fc.array(fc.tuple(aChange, fc.option(someObservedPeers, { nil: undefined })), { maxLength: 4 }),
          (objects, first, steps) => {
            let [state, observedPeers] = [snapshotOf(objects), first];
            let access = compileAccess(state, observedPeers);
            for (const [change, others] of steps) {
              const before = access;
              state = state.with(change);
              observedPeers = others ?? observedPeers;
              access = updateAccess(before, state, ids(change), observedPeers);
              const fresh = compileAccess(state, observedPeers);
              const touched = new Set(touchedPeers(before, access));
              for (const peer of peers) {
                const reach = reachOf(access, peer);
                expect(reach).toEqual(reachOf(fresh, peer));
                if (reach !== undefined && !touched.has(peer)) expect(reach).toEqual(reachOf(before, peer));
              }
            }
          },
        ),
        { numRuns: runs(80) },
      );
    });
  });
}
