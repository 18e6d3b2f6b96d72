import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Answer, sharedApi, testApi } from '../api/setup.ts';
import { withValue } from '../kinds/declared-fields.ts';
import { type Body, type BodyName, bodies, type Refs } from './bodies.ts';
import { type Case, constraints } from './constraints.ts';
import { limits } from './limits.ts';
import { addCluster, createWorld } from './world.ts';

const secret = Buffer.from('a secret').toString('base64');
/** One account that requests fill, and another one against which documents are checked. */
const accounts = { 'a request': sharedApi(), 'a document': sharedApi({ valueFrom: () => secret, shareValues: true }) };
type Way = keyof typeof accounts;
const ways: readonly Way[] = ['a request', 'a document'];

let count = 0;
const fresh = (name: string): string => {
  count += 1;
  return `${name}-${count}`;
};

/** References as documents write them: names. */
const named: Refs = {
  ...{ group: 'users', peer: 'web', zone: 'limits', network: 'office', fresh },
  secret: () => ({ valueFrom: { envRef: 'HEDDLE_VALUE_SECRET' } }),
};

let refs: Readonly<Record<Way, Refs>> = { 'a request': named, 'a document': named };

beforeAll(async () => {
  const worlds = ways.map((way) => createWorld(accounts[way](), 'self-hosted', new Map()));
  for (const world of worlds) {
    await world.api.peers('web');
    await addCluster(world.api, 'proxy.example.com', { supports_custom_ports: true, supports_reputation: true });
    await addCluster(world.api, 'plain.example.com', {});
  }
  const [world] = worlds;
  if (world === undefined) return;
  const [peer] = await world.send('GET', '/api/peers');
  const group = await world.api.group('users', [peer.id]);
  const network = await world.send('POST', '/api/networks', { name: 'office' });
  const body = { ...bodies.zone.body({ ...named, group }), domain: 'limits.example.com' };
  const zone = await world.send('POST', bodies.zone.path, body);
  const ids = { group, peer: peer.id, zone: zone.id, network: network.id };
  refs = { 'a request': { ...ids, fresh, secret: () => secret }, 'a document': named };
});

/** Documents of the objects that the tested documents refer to. */
const others = [
  { kind: 'Group', metadata: { name: 'users' }, spec: { peers: ['web'] } },
  { kind: 'Network', metadata: { name: 'office' }, spec: {} },
  {
    ...{ kind: 'DNSZone', metadata: { name: 'limits' } },
    spec: { domain: 'limits.example.com', distribution_groups: ['users'], enable_search_domain: false },
  },
];

async function send(way: Way, name: BodyName, body: JsonObject): Promise<Answer> {
  const { path, kind, parent, single }: Body = bodies[name];
  if (way === 'a request') {
    const url = path.replace(/\{(zone|network|peer)\}/g, (_, at: 'zone' | 'network' | 'peer') => refs[way][at]);
    if (single === true) await accounts[way]().call('DELETE', url);
    return accounts[way]().call('POST', url, body);
  }
  const spec = parent === undefined ? body : { ...body, [parent]: refs[way][parent] };
  const documents = [...others, { kind, metadata: { name: fresh('tried').toLowerCase() }, spec }];
  const files = documents.map((document, at) => ({
    path: `${at}.yaml`,
    text: JSON.stringify({ apiVersion: 'heddle.dev/v1', ...document }),
  }));
  return accounts[way]().call('POST', '/api/config/validate', { source: 'limits', files });
}

describe.each(ways)('in %s', (way) => {
  describe.each(limits)('$scope', (limit) => {
    const { in: name, at } = limit;
    const { inside, outside } = (way === 'a document' ? limit.inDocuments : undefined) ?? limit;
    it.each(inside.map((value) => ({ value })))('accepts $value', async ({ value }) => {
      const answer = await send(way, name, withValue(bodies[name].body(refs[way]), at, value));
      expect([answer.status, answer.body.message]).toEqual([200, undefined]);
    });

    it.each(outside.map((value) => ({ value })))('refuses $value', async ({ value }) => {
      const answer = await send(way, name, withValue(bodies[name].body(refs[way]), at, value));
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([422, expect.stringContaining(lastOf(at))]);
    });
  });

  it.each(constraints)('constraint $constraint: $title', async ({ in: name, change, refused }: Case) => {
    const changed = Object.entries({ ...bodies[name].body(refs[way]), ...change(refs[way]) });
    const answer = await send(way, name, Object.fromEntries(changed.filter(([, value]) => value !== null)));
    if (refused === undefined) expect([answer.status, answer.body.message]).toEqual([200, undefined]);
    else expect([answer.status, JSON.stringify(answer.body)]).toEqual([422, expect.stringContaining(refused)]);
  });

  it('accepts a directory without a sync interval, which is 300 seconds by default', async () => {
    const answer = await send(way, 'directory', bodies.directory.body(refs[way]));
    expect(answer.status).toBe(200);
    if (way === 'a request') expect(answer.body.sync_interval).toBe(300);
  });
});

function lastOf(pointer: string): string {
  return pointer.split('/').at(-1) ?? '';
}

describe('constraint 9: a cloud-only feature', () => {
  const settingsWith = async (own: Awaited<ReturnType<typeof testApi>>, peer_approval_enabled: boolean) => {
    const [{ id, settings }] = (await own.call('GET', '/api/accounts')).body;
    const extra = { ...settings.extra, peer_approval_enabled };
    return own.call('PUT', `/api/accounts/${id}`, { settings: { ...settings, extra } });
  };
  const peerWith = async (own: Awaited<ReturnType<typeof testApi>>, approval_required: boolean) => {
    const [id = ''] = await own.peers(fresh('peer'));
    const body = {
      name: 'p',
      ssh_enabled: false,
      login_expiration_enabled: false,
      inactivity_expiration_enabled: false,
    };
    return own.call('PUT', `/api/peers/${id}`, { ...body, approval_required });
  };
  const document = (kind: string, name: string, spec: JsonObject) => ({
    source: 'cloud',
    files: [{ path: 'a.yaml', text: JSON.stringify({ apiVersion: 'heddle.dev/v1', kind, metadata: { name }, spec }) }],
  });
  const documents: readonly (readonly [string, string, JsonObject])[] = [
    ['Account', 'account', { settings: { extra: { peer_approval_enabled: true } } }],
    ['Peer', 'cloud', { approval_required: true }],
    ['IngressPeer', 'cloud', { peer_id: 'cloud', enabled: true, fallback: true }],
    ['IngressPort', 'web', { peer: 'cloud', enabled: true, direct_port: { count: 1, protocol: 'tcp' } }],
  ];

  it('is refused by self-hosted servers, and the message states the reason', async () => {
    await using own = await testApi();
    await own.peers('cloud');
    for (const [answer, name] of [
      [await settingsWith(own, true), 'peer_approval_enabled'],
      [await peerWith(own, true), 'approval_required'],
    ] as const)
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([412, expect.stringContaining(name)]);
    expect((await settingsWith(own, false)).status).toBe(200);
    expect((await peerWith(own, false)).status).toBe(200);
    for (const [kind, name, spec] of documents) {
      const answer = await own.call('POST', '/api/config/validate', document(kind, name, spec));
      expect([kind, answer.status, answer.body.message]).toEqual([kind, 412, expect.stringContaining('hosted')]);
    }
  });

  it('is available on hosted servers', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    const [peer = '', gate = ''] = await own.peers('cloud', 'gate');
    expect((await settingsWith(own, true)).body.settings.extra.peer_approval_enabled).toBe(true);
    expect((await peerWith(own, true)).body.approval_required).toBe(true);
    for (const [kind, name, spec] of documents.filter(([kind]) => kind !== 'IngressPort')) {
      const answer = await own.call('POST', '/api/config/validate', document(kind, name, spec));
      expect([kind, answer.status, answer.body.message]).toEqual([kind, 200, undefined]);
    }
    const body = bodies.ingressPeer.body({ ...named, peer: gate });
    expect((await own.call('POST', bodies.ingressPeer.path, body)).status).toBe(200);
    const port = await own.call('POST', `/api/peers/${peer}/ingress/ports`, bodies.ingressPort.body(named));
    expect(port.status).toBe(200);
    const [kind, name, spec] = documents[3] ?? ['', '', {}];
    expect((await own.call('POST', '/api/config/validate', document(kind, name, spec))).status).toBe(200);
  });
});
