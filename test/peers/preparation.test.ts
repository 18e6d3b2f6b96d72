import { expect, it } from 'vitest';
import { createAccessImages } from '../../src/commit/access-images.ts';
import { mapIn, touchedBetween } from '../../src/features/peers/streams/maps.ts';
import { Preparation } from '../../src/features/peers/streams/preparation.ts';
import { Stream } from '../../src/features/peers/streams/stream.ts';
import { createSharedBytes, sendUpdate, updateFor } from '../../src/features/peers/streams/update.ts';
import { largeAccount, onAnotherPort } from '../access/large.ts';
import { stateOf } from '../kinds/objects.ts';
import { Follower } from './follower.ts';

const objects = largeAccount({ peers: 40, groups: 8, groupsOfPeer: 2, policies: 15 });
const peers = Array.from({ length: 40 }, (_, at) => `p${at}`);

/** Returns streams that were sent everything about one state, and a possible next state in which `p2` is deleted. */
async function scene() {
  const images = createAccessImages();
  const state = stateOf(...objects);
  const next = state.with({ put: onAnotherPort(objects.slice(-3)), remove: ['p2'] }, state.revision + 1);
  const before = { state, access: await images.current(state) };
  const bytes = createSharedBytes();
  const streams = new Map(
    peers.map((peer) => {
      const { sink } = new Follower();
      const given = { peer, id: `stream-of-${peer}`, last: undefined, sink };
      return [peer, new Stream({ ...given, caughtUp: () => undefined, ended: () => undefined })];
    }),
  );
  for (const stream of streams.values()) sendUpdate(stream, updateFor(stream, before, [], bytes), 0);
  const preparation = new Preparation({ images, before, next, streams, bytes });
  const come = async () => ({ state: next, access: await images.withLastObservations(next) });
  return { images, before, bytes, streams, preparation, come };
}

it('a prepared update equals the one sent without preparation, for exactly the peers concerned', async () => {
  const { before, bytes, streams, preparation, come } = await scene();
  await preparation.run(() => true);
  const image = await come();
  const touched = preparation.touched(before, image);
  expect(touched).toEqual(touchedBetween(before, image));
  const texts = new Map<string, string>();
  for (const [peer, stream] of streams) {
    const prepared = preparation.take(stream, image);
    if (touched?.has(peer) !== true) expect(prepared).toBeUndefined();
    else expect(prepared).toEqual(updateFor(stream, image, [], bytes));
    if (typeof prepared === 'object') texts.set(peer, (prepared.chunks ?? []).map(String).join(''));
  }
  expect(preparation.take(streams.get('p2') as Stream, image)).toBe('deleted');
  expect([...texts.values()].filter((text) => text.includes('event: change'))).not.toEqual([]);
});

it('a prepared update is not used for another state, another image or another map', async () => {
  const { images, before, bytes, streams, preparation, come } = await scene();
  await preparation.run(() => true);
  const image = await come();
  const other = before.state.with({ put: [], remove: ['p3'] }, before.state.revision + 1);
  const elsewhere = { state: other, access: await images.afterChange(before.access, before.state, other) };
  const stream = streams.get('p2') as Stream;
  expect([preparation.take(stream, elsewhere), preparation.touched(before, elsewhere)]).toEqual([undefined, undefined]);
  expect(preparation.touched(elsewhere, image)).toBeUndefined();
  const [moved] = [...streams.values()].filter((one) => typeof preparation.take(one, image) === 'object');
  expect(moved?.sent).toEqual(mapIn(before, moved?.peer ?? ''));
  sendUpdate(moved as Stream, updateFor(moved as Stream, elsewhere, [], bytes), 0);
  expect(preparation.take(moved as Stream, image)).toBeUndefined();
});

it('nothing is prepared when there is no time, nor for readers that were sent nothing yet', async () => {
  const { images, before, bytes, streams, preparation, come } = await scene();
  await preparation.run(() => false);
  const image = await come();
  expect(preparation.touched(before, image)).toBeUndefined();
  const fresh = new Map([...streams].map(([peer, { id }]) => [peer, newUser(peer, id)]));
  const again = new Preparation({ images, before, next: image.state, streams: fresh, bytes });
  await again.run(() => true);
  expect(again.touched(before, image)?.size).toBeGreaterThan(1);
  expect([...fresh.values()].map((stream) => again.take(stream, image))).toEqual(peers.map(() => undefined));
});

function newUser(peer: string, id: string): Stream {
  const { sink } = new Follower();
  return new Stream({ peer, id, last: undefined, sink, caughtUp: () => undefined, ended: () => undefined });
}
