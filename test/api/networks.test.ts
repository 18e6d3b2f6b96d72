import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
const path = '/api/networks';
let gate = '';
let second = '';
let gateways = '';
let servers = '';
beforeAll(async () => {
  [gate = '', second = ''] = await api().peers('gate', 'second');
  gateways = await api().group('gates', [gate, second]);
  servers = await api().group('servers');
});

type Members = Readonly<Record<string, Json | undefined>>;
const given = (members: Members): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
const network = async (name = 'Office'): Promise<string> => (await api().call('POST', path, { name })).body.id;
const resources = (id: string, resource = '') => `${path}/${id}/resources${resource === '' ? '' : `/${resource}`}`;
const routers = (id: string, router = '') => `${path}/${id}/routers${router === '' ? '' : `/${router}`}`;
let count = 0;
/** Returns a valid resource with a unique name. Members that are `undefined` are omitted. */
const resource = (more: Members = {}): JsonObject => {
  count += 1;
  return given({ name: `Resource ${count}`, address: '10.20.0.10', enabled: true, groups: [], ...more });
};
const router = (more: Members = {}): JsonObject =>
  given({ peer: gate, metric: 100, masquerade: true, enabled: true, ...more });

describe('a network', () => {
  it('is created, read, listed, replaced and deleted', async () => {
    const made = await api().call('POST', path, { name: 'Office', description: 'why' });
    const { id } = made.body;
    const empty = { routers: [], resources: [], policies: [], routing_peers_count: 0 };
    expect([made.status, made.body]).toEqual([200, { id, name: 'Office', description: 'why', ...empty }]);
    expect((await api().call('GET', `${path}/${id}`)).body).toEqual(made.body);
    expect((await api().call('GET', path)).body).toContainEqual(made.body);
    const replaced = await api().call('PUT', `${path}/${id}`, { name: 'Lab' });
    expect([replaced.status, replaced.body]).toEqual([200, { id, name: 'Lab', description: '', ...empty }]);
    const gone = await api().call('DELETE', `${path}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const method of ['GET', 'DELETE'])
      expect((await api().call(method, `${path}/${id}`)).body.message).toBe(`network ${id} not found`);
    expect((await api().call('PUT', `${path}/${id}`, { name: 'Lab' })).status).toBe(404);
  });

  it('shows its routers, resources, routing peers and policies, and writes nothing when put back unchanged', async () => {
    const id = await network('Counted');
    const files = (await api().call('POST', resources(id), resource({ groups: [servers] }))).body.id;
    const printer = (await api().call('POST', resources(id), resource())).body.id;
    const one = (await api().call('POST', routers(id), router())).body.id;
    const other = (await api().call('POST', routers(id), router({ peer: '', peer_groups: [gateways] }))).body.id;
    const rule = {
      name: 'r',
      enabled: true,
      action: 'accept',
      bidirectional: false,
      protocol: 'all',
      sources: [gateways],
    };
    const policy = async (more: JsonObject): Promise<string> =>
      (await api().call('POST', '/api/policies', { name: 'P', enabled: true, rules: [{ ...rule, ...more }] })).body.id;
    const byGroup = await policy({ destinations: [servers] });
    const byResource = await policy({ destinationResource: { id: printer, type: 'host' } });
    await policy({ destinations: [gateways] });
    await policy({ destinations: [servers], enabled: false });
    const { body } = await api().call('GET', `${path}/${id}`);
    expect(body).toMatchObject({ name: 'Counted', routing_peers_count: 2 });
    expect(body.resources).toEqual([files, printer].sort());
    expect(body.routers).toEqual([one, other].sort());
    expect(body.policies).toEqual([byGroup, byResource].sort());
    const before = await api().revision();
    const same = await api().call('PUT', `${path}/${id}`, body);
    expect([same.status, same.body, same.headers['heddle-ignored']]).toEqual([200, body, undefined]);
    expect(await api().revision()).toBe(before);
  });

  it.each<[Json, string[]]>([
    [{}, ['field_required ']],
    [{ name: null }, ['field_required ']],
    [{ name: '' }, ['value_too_short /name']],
    [{ name: 7 }, ['type_wrong /name']],
    [{ name: 'n', description: 7 }, ['type_wrong /description']],
  ])('refuses %j', async (body, problems) => {
    const answer = await api().call('POST', path, body);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('may have the same name as another network', async () => {
    expect((await api().call('POST', path, { name: 'twice' })).status).toBe(200);
    expect((await api().call('POST', path, { name: 'twice' })).status).toBe(200);
  });

  it('is deleted together with its resources and routers', async () => {
    const id = await network('Going');
    const name = 'Gone with it';
    const inside = (await api().call('POST', resources(id), resource({ name, groups: [servers] }))).body.id;
    const by = (await api().call('POST', routers(id), router())).body.id;
    expect((await api().call('DELETE', `${path}/${id}`)).status).toBe(200);
    for (const list of ['resources', 'routers']) {
      const ids = (await api().call('GET', `${path}/${list}`)).body.map((item: JsonObject) => item['id']);
      expect(ids).not.toContain(list === 'resources' ? inside : by);
    }
    const held = (await api().call('GET', `/api/groups/${servers}`)).body.resources;
    expect(held).not.toContainEqual({ id: inside, type: 'host' });
    expect((await api().call('POST', resources(await network()), resource({ name }))).status).toBe(200);
  });

  it('cannot be deleted while a policy names one of its resources', async () => {
    const id = await network('Used');
    const target = (await api().call('POST', resources(id), resource())).body.id;
    const rule = {
      name: 'r',
      enabled: true,
      action: 'accept',
      bidirectional: false,
      protocol: 'all',
      sources: [gateways],
    };
    const rules = [{ ...rule, destinationResource: { id: target, type: 'host' } }];
    const policy = await api().call('POST', '/api/policies', { name: 'User of it', enabled: true, rules });
    for (const url of [`${path}/${id}`, resources(id, target)]) {
      const refused = await api().call('DELETE', url);
      expect(refused.body).toMatchObject({ code: 409, message: expect.stringContaining('policy: User of it') });
    }
    await api().call('DELETE', `/api/policies/${policy.body.id}`);
    expect((await api().call('DELETE', `${path}/${id}`)).status).toBe(200);
  });
});

it('a resource that a service targets cannot be deleted, with status 412 instead of the 409 for policies', async () => {
  const id = await network('Serving');
  const target = (await api().call('POST', resources(id), resource())).body.id;
  const to = { target_id: target, target_type: 'host', protocol: 'http', port: 80, enabled: true };
  const service = { name: 'Wiki', domain: 'wiki.example.com', enabled: true, targets: [to] };
  const made = await api().call('POST', '/api/reverse-proxies/services', service);
  expect(made.status).toBe(200);
  const refused = await api().call('DELETE', resources(id, target));
  expect([refused.status, refused.body.message]).toEqual([412, expect.stringContaining('proxy service: Wiki')]);
});

describe('a resource', () => {
  it('is created, read, listed, replaced and deleted', async () => {
    const id = await network();
    const made = await api().call('POST', resources(id), resource({ name: 'Files', groups: [servers] }));
    const own = made.body.id;
    const summary = { id: servers, name: 'servers', peers_count: 0, issued: 'api' };
    expect([made.status, made.body]).toEqual([
      200,
      {
        id: own,
        type: 'host',
        name: 'Files',
        description: '',
        address: '10.20.0.10/32',
        enabled: true,
        groups: [{ ...summary, resources_count: expect.any(Number) }],
      },
    ]);
    expect((await api().call('GET', resources(id, own))).body).toEqual(made.body);
    expect((await api().call('GET', resources(id))).body).toEqual([made.body]);
    expect((await api().call('GET', `${path}/resources`)).body).toContainEqual(made.body);
    const changed = { name: 'Files', address: '*.Example.com', enabled: false, groups: [], description: 'why' };
    const replaced = await api().call('PUT', resources(id, own), changed);
    const after = { id: own, type: 'domain', ...changed };
    expect([replaced.status, replaced.body]).toEqual([200, after]);
    const gone = await api().call('DELETE', resources(id, own));
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const method of ['GET', 'DELETE'])
      expect((await api().call(method, resources(id, own))).body.message).toBe(`network resource ${own} not found`);
    expect((await api().call('GET', resources(id))).body).toEqual([]);
  });

  it('is counted in the groups that it belongs to', async () => {
    const group = await api().group('counted');
    const id = await network();
    const made = await api().call('POST', resources(id), resource({ address: '10.30.0.0/24', groups: [group] }));
    const read = async () => (await api().call('GET', `/api/groups/${group}`)).body;
    expect(await read()).toMatchObject({ resources_count: 1, resources: [{ id: made.body.id, type: 'subnet' }] });
    expect(made.body.groups[0].resources_count).toBe(1);
    const refused = await api().call('DELETE', `/api/groups/${group}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('linked')]);
    await api().call('DELETE', resources(id, made.body.id));
    expect(await read()).toMatchObject({ resources_count: 0, resources: [] });
  });

  it('writes nothing when it is put back unchanged', async () => {
    const id = await network();
    const { body } = await api().call('POST', resources(id), resource({ groups: [servers, gateways] }));
    const before = await api().revision();
    expect((await api().call('PUT', resources(id, body.id), body)).body).toEqual(body);
    expect(await api().revision()).toBe(before);
  });

  it.each(['name', 'address', 'enabled', 'groups'])('requires %s', async (name) => {
    const answer = await api().call('POST', resources(await network()), resource({ [name]: undefined }));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each<[Members, string[]]>([
    [{ name: '' }, ['value_too_short /name']],
    [{ address: '' }, ['value_too_short /address']],
    [{ address: '10.20.0.1/16' }, ['address_invalid /address']],
    [{ address: '10.20.0.0/33' }, ['address_invalid /address']],
    [{ address: 'not a domain' }, ['address_invalid /address']],
    [{ address: 10 }, ['type_wrong /address']],
    [{ enabled: 'true' }, ['type_wrong /enabled']],
    [{ groups: 'all' }, ['type_wrong /groups']],
    [{ groups: ['nobody'] }, ['reference_unknown /groups/0']],
  ])('refuses %j', async (more, problems) => {
    const answer = await api().call('POST', resources(await network()), resource(more));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('has a name that is unique in the account, also when it is replaced', async () => {
    const [here, there] = [await network(), await network()];
    await api().call('POST', resources(here), resource({ name: 'unique' }));
    const other = (await api().call('POST', resources(there), resource())).body.id;
    const taken = resource({ name: 'unique' });
    const refused = { status: 409, body: { message: expect.stringContaining('already exists') } };
    expect(await api().call('POST', resources(there), taken)).toMatchObject(refused);
    expect(await api().call('PUT', resources(there, other), taken)).toMatchObject(refused);
  });

  it('is created once by 50 simultaneous requests with one name, and 49 get a conflict', async () => {
    const [here, there] = [await network(), await network()];
    const body = resource({ name: 'contended' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => api().call('POST', resources(at % 2 === 0 ? here : there), body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  });

  it('is found in its own network only, and an unknown network is answered with 404', async () => {
    const [here, there] = [await network(), await network()];
    const own = (await api().call('POST', resources(here), resource())).body.id;
    for (const id of [there, 'nothing'])
      for (const [method, body] of [['GET'], ['PUT', resource()], ['DELETE']] as const) {
        const answer = await api().call(method, resources(id, own), body);
        expect([answer.status, answer.body.message]).toEqual([404, expect.stringContaining('not found')]);
      }
    expect((await api().call('GET', resources('nothing'))).status).toBe(404);
    expect((await api().call('POST', resources('nothing'), resource())).status).toBe(404);
  });
});

describe('a router', () => {
  it('is created, read, listed, replaced and deleted', async () => {
    const id = await network();
    const made = await api().call('POST', routers(id), router({ enabled: false }));
    const own = made.body.id;
    const common = { metric: 100, masquerade: true };
    expect([made.status, made.body]).toEqual([200, { id: own, peer: gate, ...common, enabled: false }]);
    expect((await api().call('GET', routers(id, own))).body).toEqual(made.body);
    expect((await api().call('GET', routers(id))).body).toEqual([made.body]);
    expect((await api().call('GET', `${path}/routers`)).body).toContainEqual(made.body);
    const changed = router({ peer: undefined, peer_groups: [gateways], metric: 1, masquerade: false });
    const replaced = await api().call('PUT', routers(id, own), changed);
    expect([replaced.status, replaced.body]).toEqual([200, { id: own, peer: '', ...changed }]);
    const gone = await api().call('DELETE', routers(id, own));
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const method of ['GET', 'DELETE'])
      expect((await api().call(method, routers(id, own))).body.message).toBe(`network router ${own} not found`);
  });

  it('writes nothing when it is put back unchanged', async () => {
    const id = await network();
    for (const more of [{}, { peer: undefined, peer_groups: [gateways] }]) {
      const { body } = await api().call('POST', routers(id), router(more));
      const before = await api().revision();
      expect((await api().call('PUT', routers(id, body.id), body)).body).toEqual(body);
      expect(await api().revision()).toBe(before);
    }
  });

  it.each(['metric', 'masquerade', 'enabled'])('requires %s', async (name) => {
    const answer = await api().call('POST', routers(await network()), router({ [name]: undefined }));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each<[Members, string[]]>([
    [{ metric: 0 }, ['value_out_of_range /metric']],
    [{ metric: 10_000 }, ['value_out_of_range /metric']],
    [{ metric: '1' }, ['type_wrong /metric']],
    [{ peer: undefined }, ['router_exclusive ']],
    [{ peer: '', peer_groups: [] }, ['router_exclusive ']],
    [{ peer: null, peer_groups: null }, ['router_exclusive ']],
    [{ peer_groups: ['GATES'] }, ['router_exclusive /peer_groups']],
    [{ peer: 'nobody' }, ['reference_unknown /peer']],
    [{ peer: undefined, peer_groups: ['nobody'] }, ['reference_unknown /peer_groups/0']],
    [{ peer: undefined, peer_groups: 'gates' }, ['type_wrong /peer_groups']],
  ])('refuses %j', async (more, problems) => {
    const body = JSON.parse(JSON.stringify(router(more)).replaceAll('GATES', gateways));
    const answer = await api().call('POST', routers(await network()), body);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it.each<[Members]>([
    [{ metric: 1 }],
    [{ metric: 9999 }],
    [{ peer_groups: [] }],
    [{ peer_groups: null }],
    [{ peer: '', peer_groups: ['GATES'] }],
    [{ peer: null, peer_groups: ['GATES'] }],
  ])('accepts %j', async (more) => {
    const body = JSON.parse(JSON.stringify(router(more)).replaceAll('GATES', gateways));
    expect((await api().call('POST', routers(await network()), body)).status).toBe(200);
  });

  it('is found in its own network only', async () => {
    const [here, there] = [await network(), await network()];
    const own = (await api().call('POST', routers(here), router())).body.id;
    for (const id of [there, 'nothing'])
      for (const [method, body] of [['GET'], ['PUT', router()], ['DELETE']] as const)
        expect((await api().call(method, routers(id, own), body)).status).toBe(404);
    expect((await api().call('GET', routers('nothing'))).status).toBe(404);
    expect((await api().call('POST', routers('nothing'), router())).status).toBe(404);
  });

  it('keeps its peer and its groups from being deleted', async () => {
    const [peer = ''] = await api().peers('kept');
    const group = await api().group('kept');
    const id = await network('Keeping');
    await api().call('POST', routers(id), router({ peer }));
    await api().call('POST', routers(id), router({ peer: undefined, peer_groups: [group] }));
    const refused = await api().call('DELETE', `/api/groups/${group}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('network router: Keeping/')]);
    const kept = await api().call('DELETE', `/api/peers/${peer}`);
    expect([kept.status, kept.body.message]).toEqual([412, expect.stringContaining('network router: Keeping/')]);
  });
});

it('`resources` and `routers` under /api/networks are lists and never ids of networks', async () => {
  for (const list of ['resources', 'routers']) {
    const answer = await api().call('GET', `${path}/${list}`);
    expect([answer.status, Array.isArray(answer.body)]).toEqual([200, true]);
    expect((await api().call('DELETE', `${path}/${list}`)).status).toBe(405);
  }
});
