import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Access } from '../../src/access/access.ts';
import { compileAccess, updateAccess } from '../../src/access/compile.ts';
import { accessiblePeers, countAccessiblePeers } from '../../src/access/neighbours.ts';
import { type FirewallRule, type Reach, reachOf } from '../../src/access/reach.ts';
import { touchedPeers } from '../../src/access/touched.ts';
import { aChange, anAccount, type Change, someCircumstances } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { type Naive, naiveGateways, naiveVerdict, type Probe, probes } from './naive.ts';

const peers = everybody.filter((id) => id.startsWith('p'));
const places = everybody.filter((id) => /^[rw]/.test(id));

/** Whether rules let a connection with a peer through, as a firewall would find out: drops first. */
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

/** What the naive model says that a peer has to know. */
function expectReach(account: Naive, reach: Reach, access: Access): void {
  const isSure = (from: string, to: string, probe: Probe) => naiveVerdict(account, from, to, probe) === 'allow';
  const reaches = (from: string, to: string) => probes.some((probe) => isSure(from, to, probe));
  const own = reach.peer;
  if (account.circumstances.expired.has(own)) {
    expect([reach.peers, reach.away, reach.outbound, reach.inbound, reach.uses, reach.serves].flat()).toEqual([]);
    return;
  }
  for (const other of peers.filter((id) => id !== own)) {
    for (const probe of probes) {
      expect([other, probe, passes(reach.outbound, other, probe)]).toEqual([other, probe, isSure(own, other, probe)]);
      expect([other, probe, passes(reach.inbound, other, probe)]).toEqual([other, probe, isSure(other, own, probe)]);
    }
  }
  const leads = (peer: string, place: string) => naiveGateways(account, place).includes(peer);
  const used = places.filter((place) => reaches(own, place) && !leads(own, place));
  const served = places.filter((place) => leads(own, place));
  expect(reach.uses.map(({ id }) => id)).toEqual(used);
  expect(reach.uses.map(({ ways }) => [...new Set(ways.flatMap((way) => way.peers))].sort())).toEqual(
    used.map((place) => [...naiveGateways(account, place)].sort()),
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
        used.some((place) => leads(peer, place)) ||
        served.some((place) => reaches(peer, place) && !leads(peer, place))),
  );
  expect(reach.peers).toEqual(neighbours.filter((peer) => !account.circumstances.expired.has(peer)));
  expect(reach.away).toEqual(neighbours.filter((peer) => account.circumstances.expired.has(peer)));
  const accessible = accessiblePeers(access, own);
  expect(accessible.sure).toEqual(peers.filter((peer) => reaches(own, peer)));
  expect(countAccessiblePeers(access, own)).toBe(accessible.sure.length);
}

describe('what a peer has to know', () => {
  it('is what the rules say for certain about it, and nothing that is open', () => {
    fc.assert(
      fc.property(anAccount, someCircumstances, (objects, circumstances) => {
        const access = compileAccess(snapshotOf(objects), circumstances);
        for (const peer of peers) {
          const reach = reachOf(access, peer);
          expect(reach === undefined).toBe(!objects.some(({ id }) => id === peer));
          if (reach !== undefined) expectReach({ objects, circumstances }, reach, access);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('changes for the peers that are told to be touched, and for no others', () => {
    const ids = ({ put, remove }: Change) => [...put.map(({ id }) => id), ...remove, ...peers];
    fc.assert(
      fc.property(
        anAccount,
        someCircumstances,
        fc.array(fc.tuple(aChange, fc.option(someCircumstances, { nil: undefined })), { maxLength: 4 }),
        (objects, first, steps) => {
          let [state, circumstances] = [snapshotOf(objects), first];
          let access = compileAccess(state, circumstances);
          for (const [change, others] of steps) {
            const before = access;
            state = state.with(change);
            circumstances = others ?? circumstances;
            access = updateAccess(before, state, ids(change), circumstances);
            const fresh = compileAccess(state, circumstances);
            const touched = new Set(touchedPeers(before, access));
            for (const peer of peers) {
              const reach = reachOf(access, peer);
              expect(reach).toEqual(reachOf(fresh, peer));
              if (reach !== undefined && !touched.has(peer)) expect(reach).toEqual(reachOf(before, peer));
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
