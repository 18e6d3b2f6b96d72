import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { makeMachineKeys, proofFor, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import { doc } from '../api/documents.ts';
import { apiOn, sharedApi, type TestApi } from '../api/setup.ts';
import { Follower } from './follower.ts';
import { type Machine, newMachine, setupKey } from './machine.ts';

const api = sharedApi();

/** An enrolled machine with its session. */
interface Enrolled {
  readonly machine: Machine;
  readonly peer: string;
  readonly session: string;
}

async function enrolled(groups: readonly string[] = []): Promise<Enrolled> {
  const key = (await setupKey(api(), { auto_groups: [...groups] }))['key'] ?? '';
  const machine = newMachine(api(), makeMachineKeys());
  const { body } = await machine.enrol({ setup_key: key, hostname: 'laptop' });
  return { machine, peer: body.peer.id, session: body.session.token };
}

async function urlOf({ app }: TestApi): Promise<string> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Opens the stream of a machine over a socket, and reads it into a follower until the stream ends. */
async function follow(server: TestApi, { machine, session }: Enrolled, follower = new Follower()) {
  const path = '/agent/stream';
  const controller = new AbortController();
  const response = await fetch((await urlOf(server)) + path, {
    signal: controller.signal,
    headers: {
      authorization: `Peer ${session}`,
      'heddle-proof': proofFor(machine.keys, { method: 'GET', path }),
      ...(follower.last === undefined ? {} : { 'last-event-id': follower.last }),
    },
  });
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      const end = text.lastIndexOf('\n\n') + 2;
      follower.sink.write([text.slice(0, end)]);
      text = text.slice(end);
    }
  };
  const ended = read().catch(() => undefined);
  return { ...{ status: response.status, headers: response.headers }, follower, ended, cut: () => controller.abort() };
}

describe('the stream of an agent', () => {
  it('sends the map first, and then a change when a new rule affects the peer', async () => {
    const [one, two] = [await api().group('stream-one'), await api().group('stream-two')];
    const [first, second] = [await enrolled([one]), await enrolled([two])];
    const [a, b] = [await follow(api(), first), await follow(api(), second)];
    await expect.poll(() => [a.follower.types, b.follower.types]).toEqual([['map'], ['map']]);
    // Headers of every response, so that browsers on other origins may read the stream too.
    expect([a.headers.get('access-control-allow-origin'), a.headers.get('x-request-id')]).toEqual([
      '*',
      expect.any(String),
    ]);
    expect(a.follower.map?.self).toMatchObject({ id: first.peer, state: 'active' });
    expect(a.follower.map?.peers.map(({ id }) => id)).toContain(second.peer);
    const rule = {
      name: 'web',
      enabled: true,
      action: 'accept',
      bidirectional: false,
      protocol: 'tcp',
      ports: ['443'],
    };
    const policy = { name: 'Web', enabled: true, rules: [{ ...rule, sources: [one], destinations: [two] }] };
    const { id } = (await api().call('POST', '/api/policies', policy)).body;
    await expect.poll(() => [a.follower.types.length, b.follower.types.length]).toEqual([2, 2]);
    expect(b.follower.map?.inbound.find((one) => one.id === `${id}/web`)).toMatchObject({ action: 'accept', set: one });
    for (const { cut, ended } of [a, b]) {
      cut();
      await ended;
    }
  });

  it('E102 sends all changes of a plan at once, as its single revision', async () => {
    const own = await enrolled([await api().group('planned')]);
    const stream = await follow(api(), own);
    await expect.poll(() => stream.follower.types).toEqual(['map']);
    const policy = (name: string, port: string) => {
      const rule = `{name: r, action: accept, protocol: tcp, ports: ["${port}"], sources: [planned], destinations: [All]}`;
      return doc('Policy', name, `rules:\n  - ${rule}`);
    };
    // Only the first of the 20 policies changes its port: a plan that changes more of them would need an approval.
    const apply = async (port: string) => {
      const text = Array.from({ length: 20 }, (_, at) => policy(`p${at}`, at === 0 ? port : '80')).join('---\n');
      const files = [{ path: 'policies.yaml', text }];
      const { status, body } = await api().call('POST', '/api/config/apply', { source: 'many', files });
      expect(status).toBe(200);
      return String(body.revision);
    };
    const revisions = [await apply('80')];
    await expect.poll(() => stream.follower.events).toHaveLength(2);
    revisions.push(await apply('81'));
    await expect.poll(() => stream.follower.events).toHaveLength(3);
    expect(stream.follower.events.slice(1).map(({ id }) => id?.split('.')[0])).toEqual(revisions);
    stream.cut();
    await stream.ended;
  });

  it('resumes after the last event when it was cut, or with the whole map at a server that does not know that event', async () => {
    const own = await enrolled();
    const stream = await follow(api(), own);
    await expect.poll(() => stream.follower.types).toEqual(['map']);
    stream.cut();
    await stream.ended;
    const again = await follow(api(), own, new Follower(stream.follower));
    await expect.poll(() => again.follower.types).toEqual(['current']);
    again.cut();
    const { name, ssh_enabled: _, ...spec } = (await api().call('GET', `/api/peers/${own.peer}`)).body;
    const { login_expiration_enabled, inactivity_expiration_enabled } = spec;
    const change = { name, ssh_enabled: true, login_expiration_enabled, inactivity_expiration_enabled };
    expect((await api().call('PUT', `/api/peers/${own.peer}`, change)).status).toBe(200);
    const third = await follow(api(), own, new Follower(again.follower));
    await expect.poll(() => third.follower.types).toEqual(['change']);
    expect(third.follower.map?.self).toMatchObject({ ssh_enabled: true });
    third.cut();
    const { engine } = api();
    await using other = await apiOn(engine.database, async () => undefined, { vault: engine.planEnvironment.vault });
    const elsewhere = await follow(other, own, new Follower(stream.follower));
    await expect.poll(() => elsewhere.follower.types).toEqual(['map']);
    expect(elsewhere.follower.map).toEqual(third.follower.map);
    const same = await follow(other, own, new Follower(third.follower));
    await expect.poll(() => same.follower.types).toEqual(['current']);
    await expect.poll(() => elsewhere.follower.types).toEqual(['map', 'end']);
    same.cut();
  });

  it('ends with a reason when the peer is deleted, and is refused with 401 afterwards', async () => {
    const own = await enrolled();
    const stream = await follow(api(), own);
    await expect.poll(() => stream.follower.types).toEqual(['map']);
    await api().call('DELETE', `/api/peers/${own.peer}`);
    await stream.ended;
    expect(stream.follower.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'deleted' } });
    expect((await follow(api(), own)).status).toBe(401);
  });

  it('requires the session and a proof by the same key', async () => {
    const own = await enrolled();
    expect((await follow(api(), { ...own, session: 'nba_wrong' })).status).toBe(401);
    expect((await follow(api(), { ...own, machine: newMachine(api()) })).status).toBe(401);
    expect((await newMachine(api()).send('/agent/login', { wg_pub_key: tunnelKeyOf(own.machine.keys) })).status).toBe(
      401,
    );
  });
});
