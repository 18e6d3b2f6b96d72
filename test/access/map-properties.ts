import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachOf } from '../../src/access/evaluate/reach.ts';
import { mapDigest, networkMapOf } from '../../src/access/netmap/map.ts';
import { touchedMaps } from '../../src/access/netmap/touched.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess, updateAccess } from '../../src/access/ruleset/compile.ts';
import type { ObservedPeers } from '../../src/access/ruleset/facts.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { aChange, anAccount, applyChange, type Change, type Runs, someObservedPeers } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { someNames } from './map-account.ts';
import { followChange, parseMap, type ReadMap, type ReadRule, readMap, writtenChange } from './map-reader.ts';
import { type Naive, naiveVerdict, type Probe, portsForwarded, probes, takesPart } from './naive.ts';
import { naiveNamesOf } from './naive-names.ts';

const peers = everybody.filter((id) => id.startsWith('p'));

/**
 * Returns whether the rules of a map allow a connection with a peer. Evaluates them as a firewall does: a drop rule
 * takes precedence.
 */
function passes(map: ReadMap, rules: readonly ReadRule[], peer: string, { protocol, port }: Probe): boolean {
  const sets = new Map(map.sets.map((set) => [set.id, set.peers]));
  const about = (rule: ReadRule): boolean => {
    const ports = rule.ports.length > 0 || rule.protocol !== 'ssh' ? rule.ports : [{ start: 22, end: 22 }];
    if (rule.protocol === 'all') return true;
    const updated = { ssh: ['ssh', 'tcp'], tcp: rule.action === 'drop' ? ['tcp', 'ssh'] : ['tcp'] };
    const protocols = (updated as Readonly<Record<string, readonly string[]>>)[rule.protocol] ?? [rule.protocol];
    return protocols.includes(protocol) && (ports.length === 0 || ports.some((p) => p.start <= port && port <= p.end));
  };
  const concerned = rules.filter((rule) => sets.get(rule.set)?.includes(peer) && about(rule));
  return concerned.length > 0 && concerned.every(({ action }) => action === 'accept');
}

function expectMap(account: Naive, access: AccessImage, own: string): void {
  const map = readMap(access, own);
  const reach = reachOf(access, own);
  expect(map === undefined).toBe(reach === undefined);
  if (map === undefined || reach === undefined) return;
  const others = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).filter((id) => id !== own);
  expect([others(map.peers), others(map.away)]).toEqual([reach.peers, reach.away]);
  expect(map.routes.map(({ id, ways }) => [id, ways.map((way) => [way.id, way.peers])])).toEqual(
    reach.uses.map(({ id, ways }) => [id, ways.map((way) => [way.id, way.peers])]),
  );
  expect(map.leads.map(({ id, ways }) => [id, ways.map((way) => way.id)])).toEqual(
    reach.serves.map(({ id, ways }) => [id, ways.map((way) => way.id)]),
  );
  if (map.self['state'] === 'active') {
    for (const other of peers.filter((id) => id !== own)) {
      for (const probe of probes) {
        const sure = (from: string, to: string) => naiveVerdict(account, from, to, probe) === 'allow';
        expect([other, probe, passes(map, map.outbound, other, probe)]).toEqual([other, probe, sure(own, other)]);
        expect([other, probe, passes(map, map.inbound, other, probe)]).toEqual([other, probe, sure(other, own)]);
        for (const { id, rules = [] } of map.leads)
          expect([id, other, probe, passes(map, rules, other, probe)]).toEqual([id, other, probe, sure(other, id)]);
      }
    }
  }
  const active = map.self['state'] === 'active' ? everybody.filter((id) => takesPart(account, id)) : [];
  const expected = active.flatMap((from) =>
    active.flatMap((to) =>
      [from, to].includes(own) ? portsForwarded(account, from, to).map(({ id }) => [id, from, to] as const) : [],
    ),
  );
  const forwards = map.forwards.map(({ id, gateway, peer: to }) => [id, gateway, to]);
  expect(forwards).toEqual(expected.sort(([a], [b]) => (a < b ? -1 : 1)));
  expect({ dns: map.dns, zones: map.zones, nameservers: map.nameservers }).toEqual(
    naiveNamesOf(account, own, map.self['state'] === 'active'),
  );
}

/** Declares the property tests of the map of a peer. `runs` returns the number of runs of each. */
export function testMaps(runs: Runs): void {
  describe('the map of a peer', () => {
    it('equals the result of checking all rules, zones and nameserver groups', () => {
      fc.assert(
        fc.property(anAccount, someNames, someObservedPeers, (parts, names, observedPeers) => {
          const objects = [...parts, ...names];
          const access = compileAccess(snapshotOf(objects), observedPeers);
          for (const peer of peers) expectMap({ objects, observedPeers }, access, peer);
        }),
        { numRuns: runs(40) },
      );
    });

    it('equals a recompiled map after every incremental update, and changes only for touched peers', () => {
      const step = fc.record({
        change: aChange,
        names: fc.option(someNames, { nil: undefined }),
        others: fc.option(someObservedPeers, { nil: undefined }),
      });
      fc.assert(
        fc.property(
          anAccount,
          someNames,
          someObservedPeers,
          fc.array(step, { maxLength: 4 }),
          (first, names, known, steps) => {
            let [objects, observedPeers]: [readonly StoredObject[], ObservedPeers] = [[...first, ...names], known];
            let state = snapshotOf(objects);
            let access = compileAccess(state, observedPeers);
            const kept = new Map(peers.map((peer) => [peer, readMap(access, peer)]));
            for (const { change, names: named = [], others } of steps) {
              const both: Change = { put: [...change.put, ...named], remove: change.remove };
              const before = access;
              objects = applyChange(objects, both);
              observedPeers = others ?? observedPeers;
              const changed = [...both.put.map(({ id }) => id), ...both.remove, ...(others === undefined ? [] : peers)];
              state = state.with(both);
              access = updateAccess(before, state, changed, observedPeers);
              const fresh = compileAccess(snapshotOf(objects), observedPeers);
              const touched = new Set(touchedMaps(before, access, changed));
              for (const peer of peers) follow(peer, { before, access, fresh, kept, touched: touched.has(peer) });
            }
          },
        ),
        { numRuns: runs(60) },
      );
    });
  });
}

interface Followed {
  readonly before: AccessImage;
  readonly access: AccessImage;
  readonly fresh: AccessImage;
  readonly kept: Map<string, ReadMap | undefined>;
  readonly touched: boolean;
}

function follow(peer: string, { before, access, fresh, kept, touched }: Followed): void {
  const [was, is, rebuilt] = [networkMapOf(before, peer), networkMapOf(access, peer), networkMapOf(fresh, peer)];
  expect(is && parseMap(is)).toEqual(rebuilt && parseMap(rebuilt));
  expect(is && mapDigest(is)).toBe(rebuilt && mapDigest(rebuilt));
  const old = kept.get(peer);
  kept.set(peer, is && parseMap(is));
  if (is === undefined || was === undefined || old === undefined) return;
  const change = writtenChange(was, is);
  expect(followChange(old, change)).toEqual(parseMap(is));
  expect(change === '').toBe(mapDigest(was) === mapDigest(is));
  if (!touched) expect([peer, change]).toEqual([peer, '']);
}
