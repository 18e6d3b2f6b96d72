import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { putObjects } from '../setup/objects.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { type Answer, sharedApi } from './setup.ts';

const api = sharedApi();

/** Applies documents as a separate source, in the file `stated.yaml`. */
async function state(source: string, ...documents: readonly string[]): Promise<void> {
  const files = [{ path: 'stated.yaml', text: documents.join('---\n') }];
  const answer = await api().call('POST', '/api/config/apply', { source, files });
  expect([answer.status, answer.body.message]).toEqual([200, undefined]);
  expect(answer.body.plan.warnings).toEqual([]);
}

async function make(path: string, body: JsonObject): Promise<string> {
  const answer = await api().call('POST', path, body);
  expect([path, answer.status, answer.body.message]).toEqual([path, 200, undefined]);
  return answer.body.id;
}

/** Sends a DELETE that must be refused and must change nothing. Returns the refusal. */
async function refuse(url: string): Promise<Answer> {
  const before = await api().revision();
  const answer = await api().call('DELETE', url);
  expect([answer.status, await api().revision()]).toEqual([409, before]);
  return answer;
}

const rule = { name: 'main', enabled: true, action: 'accept', bidirectional: false, protocol: 'all' };
const about = (peer: string) =>
  doc(
    'Policy',
    `about-${peer}`,
    `rules:\n  - {name: main, action: accept, protocol: all, sources: [All], destinationResource: {id: ${peer}, type: peer}}`,
  );

describe('a delete that would cascade to an object that a source manages', () => {
  it('is refused for a network with a resource, naming source, file and line', async () => {
    const id = await make('/api/networks', { name: 'Plant' });
    await state('plant', doc('NetworkResource', 'press', `network: id:${id}\nname: press\naddress: 10.9.0.1`));
    const refused = await refuse(`/api/networks/${id}`);
    expect(refused.body.message).toContain('NetworkResource');
    expect(refused.body.message).toContain(
      'would be deleted too, and is managed by the source plant (stated.yaml:1); delete it there first',
    );
    expect(problemsOf(refused)).toEqual(['managed_field ']);
  });

  it('is refused for a network with a router', async () => {
    await api().peers('gate');
    const id = await make('/api/networks', { name: 'Harbour' });
    await make(`/api/networks/${id}/resources`, { name: 'crane', address: '10.9.1.1', enabled: true, groups: [] });
    await state('harbour', doc('NetworkRouter', 'gate', `network: id:${id}\npeer: gate`));
    const refused = await refuse(`/api/networks/${id}`);
    expect(refused.body.message).toContain('by the source harbour (stated.yaml:1)');
    await state('harbour', doc('Group', 'harbour', '{}'));
    expect((await api().call('DELETE', `/api/networks/${id}`)).status).toBe(200);
  });

  it('is refused for a zone with a record', async () => {
    const group = await api().group('zone readers');
    const id = await make('/api/dns/zones', {
      name: 'Lab',
      domain: 'lab.example',
      distribution_groups: [group],
      enable_search_domain: false,
    });
    await state('lab', doc('DNSRecord', 'www', `zone: id:${id}\nname: www.lab.example\ntype: A\ncontent: 10.0.0.1`));
    expect((await refuse(`/api/dns/zones/${id}`)).body.message).toContain('by the source lab (stated.yaml:1)');
  });

  it('is refused for a peer with a policy about it', async () => {
    const [id = ''] = await api().peers('printer');
    await state('office', doc('Group', 'office', '{}'), about('printer'));
    const refused = await refuse(`/api/peers/${id}`);
    expect(refused.body.message).toBe(
      'Policy about-printer would be deleted too, and is managed by the source office (stated.yaml:8); delete it there first',
    );
    expect((await api().call('GET', '/api/policies')).body).toContainEqual(
      expect.objectContaining({ name: 'about-printer' }),
    );
  });

  it('is refused for a peer with an access test about it', async () => {
    const [id = ''] = await api().peers('scanner');
    const spec = 'from: All\ntoResource: {id: scanner, type: peer}\nexpect: allow';
    await state('tests', doc('AccessTest', 'scans', spec));
    expect((await refuse(`/api/peers/${id}`)).body.message).toBe(
      'AccessTest scans would be deleted too, and is managed by the source tests (stated.yaml:1); delete it there first',
    );
  });

  it('is refused for a user with a peer that has such a policy', async () => {
    const [peer = ''] = await api().peers('notebook');
    const user = await make('/api/users', { name: 'Robot', role: 'user', auto_groups: [], is_service_user: true });
    await enrolledBy(peer, user);
    await state('robots', about('notebook'));
    expect((await refuse(`/api/users/${user}`)).body.message).toContain('by the source robots (stated.yaml:1)');
    expect((await api().call('GET', `/api/peers/${peer}`)).status).toBe(200);
  });
});

describe('a delete that cascades to no managed object', () => {
  it('succeeds when documents only name the deleted peer, and they wait for it again', async () => {
    const [id = ''] = await api().peers('phone');
    await state('phones', doc('Group', 'phones', 'peers: [phone]'), doc('Peer', 'phone', 'ssh_enabled: true'));
    expect((await api().call('DELETE', `/api/peers/${id}`)).status).toBe(200);
    const group = (await api().call('GET', '/api/groups?name=phones')).body[0];
    expect(group).toMatchObject({ name: 'phones', peers: [] });
  });

  it('succeeds when documents only name the peers of the deleted user', async () => {
    const [peer = ''] = await api().peers('tablet');
    const user = await make('/api/users', { name: 'Reader', role: 'user', auto_groups: [], is_service_user: true });
    await enrolledBy(peer, user);
    await state('tablets', doc('Group', 'tablets', 'peers: [tablet]'));
    expect((await api().call('DELETE', `/api/users/${user}`)).status).toBe(200);
    expect((await api().call('GET', `/api/peers/${peer}`)).status).toBe(404);
  });

  it('also deletes dependent objects created through the API', async () => {
    const [peer = ''] = await api().peers('kiosk');
    const all = (await api().call('GET', '/api/groups?name=All')).body[0].id;
    const policy = await make('/api/policies', {
      ...{ name: 'kiosk', enabled: true },
      rules: [{ ...rule, sources: [all], destinationResource: { id: peer, type: 'peer' } }],
    });
    const network = await make('/api/networks', { name: 'Hall' });
    const resource = { name: 'board', address: '10.9.2.1', enabled: true, groups: [] };
    await make(`/api/networks/${network}/resources`, resource);
    expect((await api().call('DELETE', `/api/peers/${peer}`)).status).toBe(200);
    expect((await api().call('GET', `/api/policies/${policy}`)).status).toBe(404);
    expect((await api().call('DELETE', `/api/networks/${network}`)).status).toBe(200);
  });
});

async function enrolledBy(peer: string, user: string): Promise<void> {
  const { engine, account } = api();
  await putObjects(engine, account, (now) => {
    const object = now.get(peer);
    return object === undefined ? [] : [{ ...object, spec: { ...object.spec, user_id: user } }];
  });
}
