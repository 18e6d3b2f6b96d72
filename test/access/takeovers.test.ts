import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { compileAccess } from '../../src/access/ruleset/compile.ts';
import { noObservations, type ObservedPeers } from '../../src/access/ruleset/facts.ts';
import { disapprovalOf } from '../../src/access/ruleset/verdicts.ts';
import { createAccessImages } from '../../src/commit/access-images.ts';
import { forwardingIn } from '../../src/kinds/shared/ingress.ts';
import { forwardingOf } from '../../src/model/state/ingress-takeovers.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group, stored } from '../kinds/objects.ts';
import { applyChange, type Change, runs } from './account.ts';
import { naiveVerdicts, snapshotOf, verdictsOf } from './image.ts';

const hosts = ['p1', 'p2', 'p3'];
const ports = [
  ['e1', 'p1'],
  ['e2', 'p2'],
  ['e3', 'p3'],
] as const;

const aPeer = (id: string, waits = false) => stored('Peer', id, { name: id, dns_label: id, approval_required: waits });

const gateway = (host: string, fallback = true) =>
  stored('IngressPeer', `gate-${host}`, { peer_id: host, enabled: true, fallback });

const port = (id: string, host: string) => {
  const number = 20000 + Number(id.slice(1));
  const mapped = {
    translated_start: 22,
    translated_end: 22,
    ingress_start: number,
    ingress_end: number,
    protocol: 'tcp',
  };
  const spec = { peer: 'p4', name: id, enabled: true, ingress_peer_id: `gate-${host}` };
  return stored('IngressPort', id, spec, { parent: 'p4', derived: { port_range_mappings: [mapped] } });
};

const validator = (groups: readonly string[], enabled = true) =>
  stored('EdrVendorA', 'edr', { api_url: 'https://edr.example.com', enabled, groups });

/**
 * Three ingress peers that can replace each other, each with an ingress port of p4, and an endpoint security
 * integration for their group.
 */
const mesh = [
  ...[...hosts, 'p4'].map((id) => aPeer(id)),
  ...hosts.map((host) => gateway(host)),
  ...ports.map(([id, host]) => port(id, host)),
  group('g1', hosts),
  validator(['g1']),
];

const aChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...hosts), fc.boolean()).map(([id, waits]) => put(aPeer(id, waits))),
  },
  { weight: 2, arbitrary: fc.subarray(hosts).map((peers) => put(group('g1', peers))) },
  { weight: 1, arbitrary: fc.boolean().map((enabled) => put(validator(['g1'], enabled))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...hosts), fc.boolean())
      .map(([host, fallback]) => put(gateway(host, fallback))),
  },
  { weight: 1, arbitrary: fc.constantFrom('edr', 'gate-p2', 'e2').map((id) => ({ put: [], remove: [id] })) },
  { weight: 3, arbitrary: fc.constant(put()) },
);

function put(...objects: readonly StoredObject[]): Change {
  return { put: objects, remove: [] };
}

const whatIsObserved: fc.Arbitrary<ObservedPeers> = fc
  .record({
    offline: fc.subarray(hosts, { maxLength: 2 }),
    deciding: fc.option(fc.constantFrom('', '', '', 'it does not answer'), { nil: undefined }),
    denied: fc.subarray(hosts),
  })
  .map(({ offline, deciding, denied }) => observe(offline, denied, deciding));

function observe(
  offline: readonly string[],
  denied: readonly string[],
  deciding: string | undefined = '',
): ObservedPeers {
  return {
    ...noObservations,
    offline: new Set(offline),
    verdicts: {
      deciding: new Map(deciding === undefined ? [] : [['edr', deciding]]),
      problemsByPeer: new Map(hosts.map((id) => [id, { edr: denied.includes(id) ? 'the firewall is off' : '' }])),
    },
  };
}

/**
 * Returns the forwarding of each ingress port according to an image. `answered` returns it according to answers of the
 * API.
 */
function forwarders(state: Snapshot, { takeovers }: AccessImage) {
  return state.ofKind('IngressPort').map((one) => forwardingOf(one, takeovers));
}

function answered(state: Snapshot, { offline, verdicts }: ObservedPeers) {
  const seen = state.viewedAs({
    ...{ now: '', viewer: '', observed: (id) => ({ offline: offline.has(id) }) },
    disapproval: (id) => {
      const peer = state.get(id);
      return peer === undefined ? undefined : disapprovalOf(peer, state, verdicts);
    },
  });
  return state.ofKind('IngressPort').map((one) => forwardingIn(one, seen));
}

/** Returns a function that applies a change to an image incrementally, as a server does. */
function openImage(objects: readonly StoredObject[], observed: ObservedPeers) {
  const images = createAccessImages();
  let state = snapshotOf(objects);
  return async (change: Change, now = observed) => {
    state = state.with(change, state.revision + 1);
    images.setObservationSource({ read: async () => now });
    const access = await images.current(state);
    return { state, access, now };
  };
}

describe('the ingress peer that takes over', () => {
  it('is the same in the updated image, a recompiled image, the API answers and the naive model', async () => {
    const steps = fc.array(fc.tuple(aChange, fc.option(whatIsObserved, { nil: undefined })), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(whatIsObserved, steps, async (first, changes) => {
        let [objects, observedPeers]: [readonly StoredObject[], ObservedPeers] = [mesh, first];
        const step = openImage(mesh, first);
        for (const [change, others] of [[put(), first] as const, ...changes]) {
          objects = applyChange(objects, change);
          observedPeers = others ?? observedPeers;
          const { state, access } = await step(change, observedPeers);
          const fresh = compileAccess(state, observedPeers);
          expect(forwarders(state, access)).toEqual(forwarders(state, fresh));
          expect(answered(state, observedPeers)).toEqual(forwarders(state, fresh));
          expect(verdictsOf(access)).toEqual(naiveVerdicts({ objects, observedPeers }));
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('changes when a waiting peer is approved, and when its endpoint security verdict changes', async () => {
    const step = openImage(mesh, observe(['p1'], []));
    const ofFirst = ({ state, access }: Awaited<ReturnType<typeof step>>) => forwarders(state, access)[0]?.ingressPeer;
    expect(ofFirst(await step(put(aPeer('p2', true))))).toBe('gate-p3');
    expect(ofFirst(await step(put(aPeer('p2'))))).toBe('gate-p2');
    expect(ofFirst(await step(put(aPeer('p2', true))))).toBe('gate-p3');
    expect(ofFirst(await step(put(aPeer('p2'))))).toBe('gate-p2');
    expect(ofFirst(await step(put(), observe(['p1'], ['p2'])))).toBe('gate-p3');
    expect(ofFirst(await step(put(), observe(['p1'], ['p2', 'p3'])))).toBe('gate-p1');
    expect(ofFirst(await step(put(), observe(['p1'], [])))).toBe('gate-p2');
  });
});
