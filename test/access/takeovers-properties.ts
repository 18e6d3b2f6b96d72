import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileAccess } from '../../src/access/ruleset/compile.ts';
import type { ObservedPeers } from '../../src/access/ruleset/facts.ts';
import { disapprovalOf } from '../../src/access/ruleset/verdicts.ts';
import { forwardingIn } from '../../src/kinds/shared/ingress.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group } from '../kinds/objects.ts';
import { applyChange, type Change, type Runs } from './account.ts';
import { naiveVerdicts, verdictsOf } from './image.ts';

import { aPeer, forwarders, gateway, hosts, mesh, observe, openImage, put, validator } from './takeovers-mesh.ts';

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

const whatIsObserved: fc.Arbitrary<ObservedPeers> = fc
  .record({
    offline: fc.subarray(hosts, { maxLength: 2 }),
    deciding: fc.option(fc.constantFrom('', '', '', 'it does not answer'), { nil: undefined }),
    denied: fc.subarray(hosts),
  })
  .map(({ offline, deciding, denied }) => observe(offline, denied, deciding));

/** Returns the forwarding of each ingress port according to answers of the API. */
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

/** Declares the property tests of the ingress peer that takes over. `runs` returns the number of runs of each. */
export function testTakeovers(runs: Runs): void {
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
  });
}
