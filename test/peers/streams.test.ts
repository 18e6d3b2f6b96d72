import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { createNoticeBoard } from '../../src/commit/notices.ts';
import { createHub } from '../../src/features/peers/streams/hub.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { replaceObject } from '../../src/objects/objects.ts';
import { addPeers } from '../setup/peers.ts';
import { connect, expectedMap, Follower } from './follower.ts';
import { connectedMesh, countCalls, lenient, never, newMesh, policy } from './stream-mesh.ts';

describe('streams of maps', () => {
  it('begin with the map, continue with changes for a peer, and send nothing to unaffected peers', async () => {
    const { mesh, one, two, rule, followers, expectMaps } = await connectedMesh();
    await using _ = mesh;
    expect(mesh.heard.filter((line) => line.endsWith('connected'))).toHaveLength(3);
    await expectMaps();
    await mesh.rewrite('Policy', rule, policy([one], [two], '8443'));
    await expect.poll(() => followers.map(({ types }) => types.length)).toEqual([2, 2, 1]);
    expect(followers[0]?.events[1]?.data).toEqual({
      revision: expect.any(Number),
      outbound: { put: [expect.objectContaining({ ports: [{ start: 8443, end: 8443 }] })], remove: [] },
    });
    await expectMaps();
    // Changes that affect no peer are sent to no peer. The change that follows them shows that they were processed.
    await mesh.rewrite('Policy', rule, policy([one], [two], '8443'));
    await mesh.write('Group', { name: 'nobody', peers: [] });
    await mesh.rewrite('Policy', rule, policy([one], [two], '9443'));
    await expect.poll(() => followers.map(({ types }) => types.length)).toEqual([3, 3, 1]);
    await expectMaps();
  });

  it('send what is committed, and nothing that was prepared but not committed', async () => {
    const { mesh, one, two, rule, followers, expectMaps } = await connectedMesh();
    await using _ = mesh;
    const { engine, account } = mesh;
    const ahead: unknown[] = [];
    engine.access.prepare = notingAnswers(engine.access.prepare, (image) => ahead.push(image));
    const base = await engine.snapshots.current(account);
    // Nothing is prepared while updates are being sent to streams of the account, so the preparers are called until one
    // prepares an image.
    const prepared = async (from: Snapshot, next: Snapshot): Promise<unknown> => {
      ahead.length = 0;
      const ask = () => {
        for (const prepare of engine.preparers) prepare(from, next);
        return ahead.length;
      };
      await expect.poll(ask).toBeGreaterThan(0);
      return ahead[0];
    };
    const never = base.with({ put: [], remove: [rule] }, base.revision + 1);
    await prepared(base, never);
    await mesh.rewrite('Policy', rule, policy([one], [two], '8443'));
    await expect.poll(() => followers.map(({ types }) => types.length)).toEqual([2, 2, 1]);
    await expectMaps();
    // The next update is sent from the image that was prepared for it.
    const current = await engine.snapshots.current(account);
    const next = current.with({ put: [], remove: [rule] }, current.revision + 1);
    const image = await prepared(current, next);
    engine.snapshots.advance(next);
    engine.notices.publish({ what: 'revision', account, revision: next.revision });
    await expect.poll(() => followers.map(({ types }) => types.length)).toEqual([3, 3, 1]);
    expect(await engine.access.withLastObservations(next)).toBe(image);
    expect(followers[0]?.map?.outbound).toEqual([]);
  });

  it('send the missed changes after a reconnect, or report that there were none', async () => {
    const { mesh, ids, one, two, rule, followers, leave, expectMaps } = await connectedMesh();
    await using _ = mesh;
    for (const go of leave) go();
    expect(mesh.hub.size).toBe(0);
    await mesh.rewrite('Policy', rule, policy([one], [two], '1'));
    await mesh.rewrite('Policy', rule, policy([one], [two], '2'));
    const { account } = mesh;
    const { revision } = await mesh.engine.snapshots.fresh(account);
    const again = ids.map((peer, at) => connect(mesh.hub, { account, peer, revision }, new Follower(followers[at]))[0]);
    await expect.poll(() => again.map(({ types }) => types)).toEqual([['change'], ['change'], ['current']]);
    await expectMaps(again);
  });

  it('begin again with the whole map if the last state of the peer is unknown, as after a restart', async () => {
    const { mesh, ids, one, two, rule, followers } = await connectedMesh();
    await using _ = mesh;
    mesh.hub.close();
    expect(followers.map(({ types, ended }) => [types.at(-1), ended])).toEqual(Array(3).fill(['end', true]));
    expect(followers[0]?.events.at(-1)?.data).toMatchObject({ reason: 'stopping', reconnect: true });
    await mesh.rewrite('Policy', rule, policy([one], [two], '1'));
    const { engine, account } = mesh;
    const listener = { connected: () => undefined, gone: () => undefined };
    const next = createHub({ engine, listener, now: Date.now, failed: () => undefined });
    const { revision } = await engine.snapshots.fresh(account);
    const again = ids.map((peer, at) => connect(next, { account, peer, revision }, new Follower(followers[at]))[0]);
    await expect.poll(() => again.map(({ types }) => types)).toEqual([['map'], ['map'], ['current']]);
    for (const [at, peer] of ids.entries()) expect(again[at]?.map).toEqual(await expectedMap(engine, account, peer));
    next.close();
  });

  it('queue nothing for a reader that lags, and bring it to the newest state in one event', async () => {
    const { mesh, one, two, rule, followers, expectMaps } = await connectedMesh();
    await using _ = mesh;
    const slow = followers[0] as Follower;
    slow.keepsUp = false;
    for (const port of ['1', '2', '3', '4', '5']) {
      await mesh.rewrite('Policy', rule, policy([one], [two], port));
      await expect.poll(() => followers[1]?.map?.inbound[0]?.ports[0]?.start).toBe(Number(port));
    }
    expect([slow.types.length, followers[1]?.types.length]).toEqual([2, 6]);
    slow.catchUp();
    expect(slow.types.length).toBe(3);
    await expectMaps();
  });

  it('do not report a peer as deleted if the images are older than it, and end when the server stops', async () => {
    const { mesh } = await connectedMesh();
    await using _ = mesh;
    const [early] = connect(mesh.hub, { account: mesh.account, peer: 'of-tomorrow', revision: 1_000_000 });
    await expect.poll(() => early.events[0]?.data).toMatchObject({ reason: 'failed', reconnect: true });
    mesh.hub.close();
    const [late] = connect(mesh.hub, { account: mesh.account, peer: 'late' });
    expect(late.events[0]?.data).toMatchObject({ reason: 'stopping', reconnect: true });
    expect(mesh.hub.size).toBe(0);
  });

  it('end with a reason when the peer is deleted or opens another stream', async () => {
    const { mesh, ids, followers } = await connectedMesh();
    await using _ = mesh;
    const [first = '', second = '', third = ''] = ids;
    await mesh.remove('Peer', first);
    await expect.poll(() => followers[0]?.ended).toBe(true);
    expect(followers[0]?.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'deleted', reconnect: false } });
    const [newer] = connect(mesh.hub, { account: mesh.account, peer: second });
    await expect.poll(() => newer.types).toEqual(['map']);
    expect(followers[1]?.events.at(-1)?.data).toMatchObject({ reason: 'replaced' });
    expect([mesh.hub.size, followers[2]?.ended]).toEqual([2, false]);
    const [late] = connect(mesh.hub, { account: mesh.account, peer: first });
    await expect.poll(() => late.events[0]?.data).toMatchObject({ reason: 'deleted' });
    expect(mesh.heard.filter((line) => line.startsWith(third))).toEqual([`${third} connected`]);
  });

  it('send what other servers commit, even when the notification is lost', async () => {
    const { mesh, ids, one, two, rule, followers } = await connectedMesh({ ...never, tickMs: 20 });
    await using _ = mesh;
    const other = await mesh.another();
    await replaceObject(other, mesh.call, other.registry.get('Policy'), rule, policy([one], [two], '77'), lenient);
    await expect.poll(() => followers[0]?.types).toEqual(['map', 'change']);
    expect(followers[0]?.map).toEqual(await expectedMap(other, mesh.account, ids[0] ?? ''));
    const { revision } = await other.snapshots.fresh(mesh.account);
    expect(followers[0]?.last).toMatch(new RegExp(`^${revision}\\.[0-9a-f]{32}$`));
  });

  it('send what other servers committed once lost notifications are reported', async () => {
    const { mesh, ids, one, two, rule } = await connectedMesh();
    await using _ = mesh;
    const { engine, account, call } = mesh;
    const notices = createNoticeBoard();
    const listener = { connected: () => undefined, gone: () => undefined };
    const options = { listener, now: Date.now, failed: () => undefined, ...never };
    const hub = createHub({ engine: { ...engine, notices }, ...options });
    const [follower] = connect(hub, { account, peer: ids[0] ?? '' });
    await expect.poll(() => follower.types).toEqual(['map']);
    const other = await mesh.another();
    await replaceObject(other, call, other.registry.get('Policy'), rule, policy([one], [two], '77'), lenient);
    notices.reportMissed();
    await expect.poll(() => follower.types).toEqual(['map', 'change']);
    hub.close();
  });

  it('begin although the account is read again and again for new revisions', async () => {
    await using mesh = await newMesh();
    const { engine, account } = mesh;
    const [peer = ''] = await addPeers(engine, account, ['first']);
    const notices = createNoticeBoard();
    let isBusy = false;
    // The next revision is always announced before the last one is read.
    const announced = async (state: Snapshot) => {
      await nextTurn();
      if (isBusy) notices.publish({ what: 'revision', account, revision: state.revision });
      return state;
    };
    const snapshots: Engine['snapshots'] = {
      ...engine.snapshots,
      atLeast: async (...request) => announced(await engine.snapshots.atLeast(...request)),
      fresh: async (...request) => announced(await engine.snapshots.fresh(...request)),
    };
    const listener = { connected: () => undefined, gone: () => undefined };
    const options = { listener, now: Date.now, failed: () => undefined, ...never };
    const hub = createHub({ engine: { ...engine, notices, snapshots }, ...options });
    const [before, leave] = connect(hub, { account, peer });
    await expect.poll(() => before.types).toEqual(['map']);
    leave();
    isBusy = true;
    try {
      notices.publish({ what: 'revision', account, revision: (await engine.snapshots.fresh(account)).revision });
      const [after] = connect(hub, { account, peer });
      await expect.poll(() => after.types).toEqual(['map']);
    } finally {
      isBusy = false;
      hub.close();
    }
  });

  it('are closed for readers that lag for too long, and send keep-alive comments while they are silent', async () => {
    let now = 0;
    const passing = () => {
      now += 50;
      return now;
    };
    const { mesh, followers } = await connectedMesh({ tickMs: 10, maxLagMs: 1000, now: passing });
    await using _ = mesh;
    const slow = followers[0] as Follower;
    slow.keepsUp = false;
    await expect.poll(() => slow.destroyed).toBe(true);
    expect([followers[1]?.destroyed, mesh.hub.size]).toEqual([false, 2]);
    expect(slow.types).toEqual(['map']);
    expect(followers[1]?.comments).toBeGreaterThan(1);
  });
});

it('200 peers that connect at once after a restart are served ten at a time, from one image', async () => {
  const { mesh } = await connectedMesh();
  await using _ = mesh;
  const { engine, account } = mesh;
  const labels = Array.from({ length: 200 }, (_unused, at) => `crowd-${at}`);
  const ids = await addPeers(engine, account, labels);
  const crowd = await mesh.write('Group', { name: 'crowd', peers: ids });
  await mesh.write('Policy', policy([crowd], [crowd]));
  let images = 0;
  const counting = {
    ...engine,
    access: { ...engine.access, current: countCalls(engine.access.current, () => images++) },
  };
  const listener = { connected: () => undefined, gone: () => undefined };
  const hub = createHub({
    engine: counting,
    listener,
    now: Date.now,
    failed: () => undefined,
    maxUnfinishedStarts: 10,
    ...never,
    admissionTimeoutMs: 600_000,
  });
  const { revision } = await engine.snapshots.fresh(account);
  const waiting = ids.map((peer) => {
    const follower = new Follower();
    follower.keepsUp = false;
    connect(hub, { account, peer, revision }, follower);
    return follower;
  });
  const served = () => waiting.filter(({ types }) => types.length > 0);
  await expect.poll(() => served()).toHaveLength(10);
  for (let rounds = 1; rounds <= 20; rounds++) {
    await expect.poll(() => served()).toHaveLength(rounds * 10);
    for (const follower of served()) follower.catchUp();
  }
  expect(waiting.map(({ types }) => types)).toEqual(Array(200).fill(['map']));
  expect(images).toBe(1);
  expect(waiting[7]?.map).toEqual(await expectedMap(engine, account, ids[7] ?? ''));
  hub.close();
});

it('readers that do not read do not block other peers', async () => {
  const { mesh, ids } = await connectedMesh({ maxUnfinishedStarts: 1, admissionTimeoutMs: 1 });
  await using _ = mesh;
  const again = ids.map((peer) => {
    const follower = new Follower();
    follower.keepsUp = false;
    connect(mesh.hub, { account: mesh.account, peer }, follower);
    return follower;
  });
  const types = () => again.map((follower) => follower.types);
  await expect.poll(types).toEqual([['map'], ['map'], ['map']]);
});

/** Returns the same function, which also passes each result to `note`. */
function notingAnswers<A extends unknown[], R>(work: (...given: A) => Promise<R>, note: (answer: R) => void) {
  return async (...given: A): Promise<R> => {
    const answer = await work(...given);
    note(answer);
    return answer;
  };
}
