import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { putObjects } from '../setup/objects.ts';
import { eventsOf } from './events.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi({ edition: 'hosted' });
const gateways = '/api/ingress/peers';
const portsOf = (peer: string) => `/api/peers/${peer}/ingress/ports`;
const tcp = (start: number, end = start) => ({ start, end, protocol: 'tcp' });
const port = (name: string, more: JsonObject = { port_ranges: [tcp(443)] }): JsonObject => ({
  name,
  enabled: true,
  ...more,
});
const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([member]) => member !== name));

/** Stores facts about the location of peers, as their connection will report them. */
async function locate(own: TestApi, ids: readonly string[], facts: JsonObject): Promise<void> {
  await putObjects(own.engine, own.account, (state) =>
    ids.flatMap((id) => {
      const peer = state.get(id);
      return peer === undefined ? [] : [{ ...peer, derived: { ...peer.derived, ...facts } }];
    }),
  );
}

const facts = { connection_ip: '198.51.100.7', country_code: 'DE', connected: true };

/** Adds a connected ingress peer that serves all peers as a fallback. Returns its id and the id of its peer. */
async function addGate(
  own: TestApi,
  label: string,
  country = 'DE',
): Promise<{ readonly id: string; readonly peer: string }> {
  const [peer = ''] = await own.peers(label);
  await locate(own, [peer], { ...facts, country_code: country });
  const made = await own.call('POST', gateways, { peer_id: peer, enabled: true, fallback: true });
  return { id: made.body.id, peer };
}

describe('ingress peers', () => {
  it('are created, read, listed, replaced and deleted', async () => {
    const [peer = '', other = ''] = await api().peers('edge', 'other');
    await locate(api(), [peer], facts);
    const made = await api().call('POST', gateways, { peer_id: peer, enabled: true, fallback: false });
    const { id } = made.body;
    expect([made.status, made.body]).toEqual([
      200,
      {
        id,
        peer_id: peer,
        ingress_ip: '198.51.100.7',
        available_ports: { tcp: 10000, udp: 10000 },
        enabled: true,
        connected: true,
        fallback: false,
        region: 'DE',
      },
    ]);
    const one = `${gateways}/${id}`;
    expect((await api().call('GET', one)).body).toEqual(made.body);
    expect((await api().call('GET', gateways)).body).toContainEqual(made.body);
    const before = await api().revision();
    expect((await api().call('PUT', one, made.body)).headers['heddle-ignored']).toBeUndefined();
    expect(await api().revision()).toBe(before);
    const moved = await api().call('PUT', one, { peer_id: other, enabled: false, fallback: true });
    expect(moved.body).toEqual({ ...made.body, enabled: false, fallback: true });
    const gone = await api().call('DELETE', one);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { enabled: true, fallback: true }]] as [
      string,
      JsonObject?,
    ][])
      expect((await api().call(method, one, body)).status).toBe(404);
  });

  it('return empty values for unknown facts', async () => {
    const [peer = ''] = await api().peers('unseen');
    const made = await api().call('POST', gateways, { peer_id: peer, enabled: false, fallback: false });
    expect(made.body).toMatchObject({ ingress_ip: '', connected: false, region: '' });
  });

  it.each(['peer_id', 'enabled', 'fallback'])('require %s', async (name) => {
    const [peer = ''] = await api().peers(`required-${name.replace('_', '-')}`);
    const answer = await api().call('POST', gateways, without({ peer_id: peer, enabled: true, fallback: true }, name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it('exist once per peer, which must exist', async () => {
    const { peer } = await addGate(api(), 'twice');
    const again = await api().call('POST', gateways, { peer_id: peer, enabled: true, fallback: true });
    expect([again.status, problemsOf(again)]).toEqual([409, ['value_taken /peer_id']]);
    expect(again.body.message).toContain('already exists');
    const noOwner = await api().call('POST', gateways, { peer_id: 'nobody', enabled: true, fallback: true });
    expect([noOwner.status, problemsOf(noOwner)]).toEqual([422, ['reference_unknown /peer_id']]);
  });
});

describe('ingress ports', () => {
  let gate = '';
  let peer = '';
  beforeAll(async () => {
    gate = (await addGate(api(), 'gate', 'FR')).id;
    [peer = ''] = await api().peers('web');
    await locate(api(), [peer], { country_code: 'FR' });
  });

  it('are created, read, listed, replaced and deleted', async () => {
    const bodies = { port_ranges: [tcp(8443), { start: 51820, end: 51829, protocol: 'tcp/udp' }] };
    const made = await api().call('POST', portsOf(peer), port('web', bodies));
    const { id } = made.body;
    const mapping = (first: number, count: number, ingress: number, protocol: string) => ({
      translated_start: first,
      translated_end: first + count - 1,
      ingress_start: ingress,
      ingress_end: ingress + count - 1,
      protocol,
    });
    expect([made.status, made.body]).toEqual([
      200,
      {
        id,
        name: 'web',
        enabled: true,
        ingress_peer_id: gate,
        region: 'FR',
        ingress_ip: '198.51.100.7',
        port_range_mappings: [mapping(8443, 1, 20010, 'tcp'), mapping(51820, 10, 20000, 'tcp/udp')],
      },
    ]);
    expect((await api().call('GET', `${gateways}/${gate}`)).body.available_ports).toEqual({ tcp: 9989, udp: 9990 });
    const one = `${portsOf(peer)}/${id}`;
    expect((await api().call('GET', one)).body).toEqual(made.body);
    expect((await api().call('GET', portsOf(peer))).body).toEqual([made.body]);
    const before = await api().revision();
    const back = await api().call('PUT', one, made.body);
    expect([back.body, back.headers['heddle-ignored']]).toEqual([made.body, undefined]);
    expect(await api().revision()).toBe(before);
    const off = await api().call('PUT', one, { ...port('renamed', bodies), enabled: false });
    expect(off.body).toEqual({ ...made.body, name: 'renamed', enabled: false });
    const direct = await api().call('PUT', one, port('renamed', { direct_port: { count: 2, protocol: 'udp' } }));
    expect(direct.body.port_range_mappings).toEqual([mapping(20000, 2, 20000, 'udp')]);
    const gone = await api().call('DELETE', one);
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect((await api().call('GET', `${gateways}/${gate}`)).body.available_ports).toEqual({ tcp: 10000, udp: 10000 });
    for (const [method, body] of [['GET'], ['DELETE'], ['PUT', port('web')]] as [string, JsonObject?][])
      expect((await api().call(method, one, body)).status).toBe(404);
  });

  it('are filtered by their exact name', async () => {
    const [id = ''] = await api().peers('filtered');
    for (const name of ['one', 'oneone']) await api().call('POST', portsOf(id), port(name));
    const names = async (query: string) =>
      (await api().call('GET', `${portsOf(id)}?name=${query}`)).body.map(({ name }: JsonObject) => name);
    expect([await names('one'), await names('on'), await names('')]).toEqual([['one'], [], ['one', 'oneone']]);
  });

  it.each(['name', 'enabled'])('require %s', async (name) => {
    const answer = await api().call('POST', portsOf(peer), without(port('required'), name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, ['ingress_port_exclusive ']],
    [{ port_ranges: [], direct_port: null }, ['ingress_port_exclusive ']],
    [{ port_ranges: [tcp(1)], direct_port: { count: 1, protocol: 'tcp' } }, ['ingress_port_exclusive /direct_port']],
    [{ port_ranges: [tcp(0)] }, ['value_out_of_range /port_ranges/0/end', 'value_out_of_range /port_ranges/0/start']],
    [{ port_ranges: [tcp(1, 65536)] }, ['value_out_of_range /port_ranges/0/end']],
    [{ port_ranges: [tcp(9, 8)] }, ['port_range_invalid /port_ranges/0']],
    [{ port_ranges: [{ start: 1, end: 2 }] }, ['field_required /port_ranges/0']],
    [{ port_ranges: [{ ...tcp(1), protocol: 'icmp' }] }, ['value_not_allowed /port_ranges/0/protocol']],
    [{ direct_port: { count: 0, protocol: 'tcp' } }, ['value_out_of_range /direct_port/count']],
    [{ direct_port: { count: 1 } }, ['field_required /direct_port']],
  ])('refuse %j', async (bodies, problems) => {
    const answer = await api().call('POST', portsOf(peer), port('refused', bodies));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('have unique names on each peer', async () => {
    const [one = '', other = ''] = await api().peers('named', 'named-too');
    expect((await api().call('POST', portsOf(one), port('same'))).status).toBe(200);
    expect((await api().call('POST', portsOf(other), port('same'))).status).toBe(200);
    const taken = await api().call('POST', portsOf(one), port('same'));
    expect([taken.status, problemsOf(taken)]).toEqual([409, ['value_taken /name']]);
  });

  it('are found under their own peer only', async () => {
    const [one = '', other = ''] = await api().peers('owner', 'stranger');
    const { id } = (await api().call('POST', portsOf(one), port('mine'))).body;
    expect((await api().call('GET', `${portsOf(other)}/${id}`)).status).toBe(404);
    for (const method of ['GET', 'POST']) {
      const answer = await api().call(method, portsOf('nobody'), method === 'POST' ? port('web') : undefined);
      expect([answer.status, answer.body.message]).toEqual([404, 'peer nobody not found']);
    }
  });

  it('prevent their peer and their ingress peer from being deleted, and the refusals name them', async () => {
    const { id, peer: below } = await addGate(api(), 'held', 'PT');
    const [one = ''] = await api().peers('holding');
    await locate(api(), [one], { country_code: 'PT' });
    const made = await api().call('POST', portsOf(one), port('held'));
    expect(made.body.ingress_peer_id).toBe(id);
    const deletes = [`/api/peers/${one}`, `${gateways}/${id}`, `/api/peers/${below}`];
    const answers = await Promise.all(deletes.map((url) => api().call('DELETE', url)));
    expect(answers.map(({ status }) => status)).toEqual([412, 409, 412]);
    expect(answers.slice(0, 2).map(({ body }) => body.message)).toEqual([
      'peer has been linked to ingress port: Peer holding/held; remove it there first',
      'ingress peer has been linked to ingress port: Peer holding/held; remove it there first',
    ]);
    for (const url of [
      `${portsOf(one)}/${made.body.id}`,
      `/api/peers/${one}`,
      `${gateways}/${id}`,
      `/api/peers/${below}`,
    ])
      expect((await api().call('DELETE', url)).status).toBe(200);
  });
});

describe('the port pool of an ingress peer', () => {
  it('assigns each port once under concurrent requests, and refuses requests when it is exhausted', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    await addGate(own, 'gate');
    const [peer = ''] = await own.peers('web');
    const bodies = { direct_port: { count: 250, protocol: 'tcp/udp' } };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => own.call('POST', portsOf(peer), port(`port ${at}`, bodies))),
    );
    const made = answers.filter(({ status }) => status === 200);
    expect([made.length, answers.filter(({ status }) => status === 409).length]).toEqual([40, 10]);
    expect(problemsOf(answers.find(({ status }) => status === 409) ?? (answers[0] as never))).toEqual([
      'nothing_free ',
    ]);
    const starts = made.flatMap(({ body }) => body.port_range_mappings).map(({ ingress_start }) => ingress_start);
    expect(starts.sort()).toEqual(Array.from({ length: 40 }, (_, at) => 20000 + at * 250));
    expect((await own.call('GET', gateways)).body[0].available_ports).toEqual({ tcp: 0, udp: 0 });
  });
});

it('every change of ingress peers and ports writes an audit event', async () => {
  await using own = await testApi('postgres', { edition: 'hosted' });
  const { id, peer } = await addGate(own, 'gate');
  const made = await own.call('POST', portsOf(peer), port('web'));
  const one = `${portsOf(peer)}/${made.body.id}`;
  await own.call('PUT', one, { ...made.body, enabled: false });
  await own.call('DELETE', one);
  await own.call('PUT', `${gateways}/${id}`, { enabled: false, fallback: true });
  await own.call('DELETE', `${gateways}/${id}`);
  const about = { peer_id: peer, peer_name: 'Peer gate' };
  const [onGate, onPort] = [JSON.stringify(about), JSON.stringify({ name: 'web', ...about })];
  expect((await eventsOf(own)).filter((event) => event.startsWith('ingress.'))).toEqual([
    `ingress.peer.create ${onGate}`,
    `ingress.port.create ${onPort}`,
    `ingress.port.update ${onPort}`,
    `ingress.port.delete ${onPort}`,
    `ingress.peer.update ${onGate}`,
    `ingress.peer.delete ${onGate}`,
  ]);
});

describe('documents of ingress peers and ports', () => {
  const file = (text: string) => ({ source: 'git', files: [{ path: 'ingress.yaml', text }] });
  const gateDocument = `
apiVersion: heddle.dev/v1
kind: IngressPeer
metadata: {name: edge}
spec: {peer_id: edge, fallback: true, region: de, tcp_pool: {start: 30000, end: 30003}}
`;
  const portDocument = (name: string, bodies: string) => `
---
apiVersion: heddle.dev/v1
kind: IngressPort
metadata: {name: web-${name}}
spec: {peer: web, name: ${name}, ${bodies}}
`;
  const range = (start: number) => `port_ranges: [{start: ${start}, end: ${start}, protocol: tcp}]`;
  const all = gateDocument + portDocument('b', range(443)) + portDocument('a', range(80));

  it('are applied in one plan, and their export plans no changes', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    await own.peers('edge', 'web');
    const applied = await own.call('POST', '/api/config/apply', file(all));
    expect([applied.status, applied.body.problems ?? []]).toEqual([200, []]);
    const [gate] = (await own.call('GET', gateways)).body;
    expect(gate).toMatchObject({ region: 'de', fallback: true, available_ports: { tcp: 2, udp: 10000 } });
    const [web] = (await own.call('GET', '/api/peers?name=web')).body;
    const ports = (await own.call('GET', portsOf(web.id))).body;
    const seen = ports.map(
      ({ name, port_range_mappings: [piece] }: JsonObject & { port_range_mappings: JsonObject[] }) => [
        name,
        piece?.['ingress_start'],
      ],
    );
    expect(seen.sort()).toEqual([
      ['a', 30000],
      ['b', 30001],
    ]);
    const again = await own.call('POST', '/api/config/plans', file(all));
    expect(again.body.counts).toEqual({ create: 0, update: 0, delete: 0, claims: 0 });
    const exported = await own.call('GET', '/api/config/export');
    const plan = await own.call('POST', '/api/config/plans', file(exported.body));
    expect([plan.body.problems ?? [], plan.body.counts]).toMatchObject([[], { create: 0, update: 0, delete: 0 }]);
    const less = await own.call('POST', '/api/config/plans', file(gateDocument + portDocument('a', range(80))));
    expect(less.body.counts).toMatchObject({ delete: 1 });
  });

  it('wait for peers that do not exist yet', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    const applied = await own.call('POST', '/api/config/plans', file(all));
    expect(applied.body.warnings.map(({ code }: JsonObject) => code)).toEqual(Array(3).fill('reference_pending'));
    expect(applied.body.counts).toMatchObject({ create: 0 });
  });

  it('adopt objects created through the API, by an export', async () => {
    await using own = await testApi('postgres', { edition: 'hosted' });
    await addGate(own, 'gate');
    const [peer = ''] = await own.peers('web');
    await own.call('POST', portsOf(peer), port('made by hand'));
    const exported = await own.call('GET', '/api/config/export');
    const plan = await own.call('POST', '/api/config/plans', file(exported.body));
    expect([problemsOf(plan), plan.body.counts]).toMatchObject([[], { create: 0, update: 0, delete: 0 }]);
    expect((await own.call('POST', '/api/config/apply', file(exported.body))).status).toBe(200);
  });
});

describe('the self-hosted edition', () => {
  it('returns 404 for ingress peers and ports, and names the hosted edition', async () => {
    await using own = await testApi();
    const [peer = ''] = await own.peers('web');
    for (const url of [gateways, `${gateways}/x`, portsOf(peer), `${portsOf(peer)}/x`]) {
      const answer = await own.call('GET', url);
      expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('hosted edition only')]);
    }
    const answer = await own.call('POST', gateways, { peer_id: peer, enabled: true, fallback: true });
    expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
  });
});
