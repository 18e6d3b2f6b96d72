import { expect, it } from 'vitest';
import { countAccessiblePeers } from '../../src/access/evaluate/neighbours.ts';
import { compileAccess } from '../../src/access/ruleset/compile.ts';
import { noObservations } from '../../src/access/ruleset/facts.ts';
import { createAccessImages } from '../../src/commit/access-images.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { largeAccount, onAnotherPort } from '../access/large.ts';
import { group, stateOf, stored } from '../kinds/objects.ts';

const objects = largeAccount({ peers: 60, groups: 12, groupsOfPeer: 2, policies: 25 });
const peers = Array.from({ length: 60 }, (_, at) => `p${at}`);

/** Returns the number of accessible peers of each peer, after a full compilation of the account. */
function counted(state: Snapshot): readonly number[] {
  const image = compileAccess(state);
  return peers.map((id) => countAccessiblePeers(image, id));
}

it('incremental access counts equal those of a full compilation at each revision', async () => {
  const images = createAccessImages();
  let state = stateOf(...objects);
  const steps = [
    { put: onAnotherPort(objects.slice(-3)), remove: [] },
    { put: [group('g1', ['p1', 'p7', 'p9'])], remove: [] },
    { put: [], remove: ['p5', 'y3'] },
    { put: [stored('Peer', 'p60', { name: 'new', dns_label: 'p60' })], remove: [] },
    { put: [stored('Group', 'other', { name: 'other' })], remove: [] },
  ];
  for (const step of [{ put: [], remove: [] }, ...steps]) {
    state = state.with(step, state.revision + 1);
    const count = await images.createPeerCounter(state);
    expect(peers.map(count)).toEqual(counted(state));
  }
});

it('an access image is built once per snapshot, and rebuilt when the observed peer data changes', async () => {
  const images = createAccessImages();
  const state = stateOf(...objects);
  const [first, second] = [await images.current(state), await images.current(state)];
  expect(second).toBe(first);
  const reported = { ...noObservations, waiting: new Set(['p1']) };
  images.setObservationSource({ read: async () => reported });
  const third = await images.current(state);
  expect([third.observedPeers === reported, countAccessiblePeers(third, 'p1')]).toEqual([true, 0]);
  expect(await images.current(state)).toBe(third);
});

it('an access image built ahead of a commit is used for that snapshot only', async () => {
  const images = createAccessImages();
  const state = stateOf(...objects);
  expect(await images.prepare(state)).toBeUndefined();
  await images.current(state);
  const never = state.with({ put: [], remove: ['p5', 'y3'] }, state.revision + 1);
  const next = state.with({ put: onAnotherPort(objects.slice(-3)), remove: ['p2'] }, state.revision + 1);
  const ahead = await images.prepare(next);
  await images.prepare(never);
  expect(await images.withLastObservations(state)).toBe(await images.current(state));
  const image = await images.withLastObservations(next);
  expect(image).toBe(ahead);
  expect(peers.map((id) => countAccessiblePeers(image, id))).toEqual(counted(next));
  const third = state.with({ put: [], remove: ['p9'] }, state.revision + 1);
  await images.prepare(third);
  images.setObservationSource({ read: async () => ({ ...noObservations, waiting: new Set(['p1']) }) });
  expect(countAccessiblePeers(await images.current(third), 'p1')).toBe(0);
});

it('an access image updated by a change equals that of the resulting snapshot', async () => {
  const images = createAccessImages();
  const state = stateOf(...objects);
  const next = state.with({ put: onAnotherPort(objects.slice(-3)), remove: ['p2'] });
  const after = await images.afterChange(await images.current(state), state, next);
  expect(peers.map((id) => countAccessiblePeers(after, id))).toEqual(counted(next));
});
