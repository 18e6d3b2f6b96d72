import { describe, expect, it } from 'vitest';
import { addPeers } from '../setup/peers.ts';
import { connect } from './follower.ts';
import { connectedMesh, countedHub, never, newMesh, requireVersion, writeCheckedPolicy } from './stream-mesh.ts';

describe('streams of maps', () => {
  it('send changes caused by new facts of a machine, without any request', async () => {
    const { mesh, ids, one, two, rule, followers } = await connectedMesh({ observationDelayMs: 20 });
    await using _ = mesh;
    await requireVersion(mesh, rule, [one, two]);
    await expect.poll(() => followers[0]?.map?.outbound).toEqual([]);
    await mesh.engine.presence.record(mesh.account, { peer: ids[0] ?? '', facts: { version: '2.1.0' } });
    await expect.poll(() => followers[0]?.map?.outbound).toHaveLength(1);
    await mesh.engine.presence.record(mesh.account, { peer: ids[0] ?? '', facts: { version: '1.9.0' } });
    await expect.poll(() => followers[0]?.map?.outbound).toEqual([]);
  });

  it('begin with the facts that other servers wrote, although this server read older ones before', async () => {
    await using mesh = await newMesh(never);
    const { engine, account } = mesh;
    const [peer = '', other = ''] = await addPeers(engine, account, ['first', 'second']);
    await writeCheckedPolicy(mesh, peer, other);
    await engine.access.current(await engine.snapshots.fresh(account));
    await (await mesh.another()).presence.record(account, { peer, facts: { version: '2.1.0' } });
    const [follower] = connect(mesh.hub, { account, peer });
    await expect.poll(() => follower.types).toEqual(['map']);
    expect(follower.map?.outbound).toHaveLength(1);
  });

  it('begin with the facts that other servers wrote while no peer of the account was connected', async () => {
    await using mesh = await newMesh(never);
    const { engine, account, hub } = mesh;
    const [peer = '', other = ''] = await addPeers(engine, account, ['first', 'second']);
    await writeCheckedPolicy(mesh, peer, other);
    const [before, leave] = connect(hub, { account, peer });
    await expect.poll(() => before.types).toEqual(['map']);
    expect(before.map?.outbound).toEqual([]);
    leave();
    await (await mesh.another()).presence.record(account, { peer, facts: { version: '2.1.0' } });
    const [after] = connect(hub, { account, peer });
    await expect.poll(() => after.types).toEqual(['map']);
    expect(after.map?.outbound).toHaveLength(1);
  });

  it('follow the facts with which a peer logged in to another server, soon after it connects', async () => {
    const { mesh, ids, one, two, rule, followers } = await connectedMesh({ ...never, observationDelayMs: 20 });
    await using _ = mesh;
    const [peer = ''] = ids;
    await requireVersion(mesh, rule, [one, two]);
    await expect.poll(() => followers[0]?.map?.outbound).toEqual([]);
    await (await mesh.another()).presence.record(mesh.account, { peer, facts: { version: '2.1.0' } });
    const [again] = connect(mesh.hub, { account: mesh.account, peer });
    await expect.poll(() => again.map?.outbound).toHaveLength(1);
  });

  it('follow the facts of other servers that a request to this server reads', async () => {
    const { mesh, ids, one, two, rule } = await connectedMesh();
    await using _ = mesh;
    const [peer = ''] = ids;
    await requireVersion(mesh, rule, [one, two]);
    const { engine, account } = mesh;
    const { hub, reads } = countedHub(engine, { ...never, observationDelayMs: 20 });
    const [follower] = connect(hub, { account, peer });
    // The opened stream is followed by a read of its own.
    await expect.poll(reads).toBe(2);
    await expect.poll(() => follower.types).toEqual(['map']);
    expect(follower.map?.outbound).toEqual([]);
    await (await mesh.another()).presence.record(account, { peer, facts: { version: '2.1.0' } });
    await engine.presence.read(account);
    await expect.poll(() => follower.map?.outbound).toHaveLength(1);
    hub.close();
  });

  it('do not read the account each time that a read finds peers that have just connected', async () => {
    await using mesh = await newMesh();
    const { engine, account } = mesh;
    const [peer = '', other = ''] = await addPeers(engine, account, ['first', 'second']);
    const { hub, reads } = countedHub(engine, never);
    const [follower] = connect(hub, { account, peer });
    await expect.poll(() => follower.types).toEqual(['map']);
    await engine.presence.record(account, { peer: other, connected: true, stream: 's', server: 'x' });
    expect((await engine.presence.read(account)).peers.get(other)?.connected).toBe(true);
    expect(reads()).toBe(1);
    hub.close();
  });
});
