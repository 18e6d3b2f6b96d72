import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { putObjects } from '../setup/objects.ts';
import { doc } from './documents.ts';
import { problemsOf } from './problems.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();
let dev = '';
let ops = '';
let peer = '';
beforeAll(async () => {
  [peer = ''] = await api().peers('server');
  dev = await api().group('dev', [peer]);
  ops = await api().group('ops');
});

const rule = (more: JsonObject = {}): JsonObject => ({
  name: 'web',
  enabled: true,
  action: 'accept',
  bidirectional: false,
  protocol: 'tcp',
  sources: [dev],
  destinations: [ops],
  ...more,
});
const body = (rules: Json = [rule()], more: JsonObject = {}): JsonObject => ({
  name: 'P',
  enabled: true,
  rules,
  ...more,
});
const post = (value: JsonObject) => api().call('POST', '/api/policies', value);
const put = (id: string, value: JsonObject) => api().call('PUT', `/api/policies/${id}`, value);
/** Returns the value without some members. */
const without = (value: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

it('a policy is created, read, listed, replaced and deleted', async () => {
  const made = await post(body([rule({ ports: ['443', '80'] })]));
  const { id } = made.body;
  const summary = { issued: 'api', resources_count: 0 };
  expect([made.status, made.body]).toEqual([
    200,
    {
      id,
      name: 'P',
      description: '',
      enabled: true,
      source_posture_checks: [],
      rules: [
        {
          id,
          name: 'web',
          description: '',
          enabled: true,
          action: 'accept',
          bidirectional: false,
          protocol: 'tcp',
          ports: ['443', '80'],
          sources: [{ ...summary, id: dev, name: 'dev', peers_count: 1 }],
          destinations: [{ ...summary, id: ops, name: 'ops', peers_count: 0 }],
        },
      ],
    },
  ]);
  expect((await api().call('GET', `/api/policies/${id}`)).body).toEqual(made.body);
  expect((await api().call('GET', '/api/policies')).body).toContainEqual(made.body);
  const replaced = await put(id, body([rule({ protocol: 'icmp' })], { name: 'Q', enabled: false, description: 'why' }));
  expect(replaced.body).toMatchObject({ id, name: 'Q', enabled: false, description: 'why' });
  expect(replaced.body.rules[0]).not.toHaveProperty('ports');
  expect((await put(id, body())).body.description).toBe('');
  const gone = await api().call('DELETE', `/api/policies/${id}`);
  expect([gone.status, gone.body]).toEqual([200, '']);
  for (const method of ['GET', 'DELETE'])
    expect((await api().call(method, `/api/policies/${id}`)).body.message).toBe(`policy ${id} not found`);
  expect((await put(id, body())).status).toBe(404);
});

it('an account starts with an enabled policy from All to All', async () => {
  const [found] = (await api().call('GET', '/api/policies')).body;
  expect(found).toMatchObject({ name: 'Default', enabled: true });
  expect(found.rules).toMatchObject([{ id: found.id, protocol: 'all', bidirectional: true, action: 'accept' }]);
  expect(found.rules[0].sources).toMatchObject([{ name: 'All', peers_count: 1 }]);
});

describe('required members', () => {
  it.each(['name', 'enabled', 'rules'])('include %s of a policy', async (name) => {
    const answer = await post(without(body(), name));
    expect([answer.status, answer.body.message]).toEqual([422, `\`${name}\` is required; add it`]);
  });

  it.each(['name', 'enabled', 'action', 'bidirectional', 'protocol'])('include %s of a rule', async (name) => {
    const answer = await post(body([without(rule(), name)]));
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['field_required /rules/0']]);
    expect(answer.body.message).toContain(`\`${name}\``);
  });

  it('are all reported at once', async () => {
    const answer = await post({ rules: [{}] });
    expect(answer.body.problems).toHaveLength(7);
  });
});

it.each([
  [[], ['list_too_short /rules']],
  [null, ['list_too_short /rules']],
  ['x', ['type_wrong /rules']],
  [[7], ['type_wrong /rules/0']],
  [[{ action: 'allow' }], ['value_not_allowed /rules/0/action']],
  [[{ protocol: 'TCP' }], ['value_not_allowed /rules/0/protocol']],
  [[{ protocol: 'netbird-ssh' }], ['value_not_allowed /rules/0/protocol']],
  [[{ enabled: 'true' }], ['type_wrong /rules/0/enabled']],
  [[{ ports: [80] }], ['type_wrong /rules/0/ports/0']],
  [[{ ports: ['0'] }], ['port_invalid /rules/0/ports/0']],
  [[{ ports: ['65536'] }], ['port_invalid /rules/0/ports/0']],
  [[{ ports: ['80-90'] }], ['port_invalid /rules/0/ports/0']],
  [[{ port_ranges: [{ start: 0, end: 5 }] }], ['value_out_of_range /rules/0/port_ranges/0/start']],
  [[{ port_ranges: [{ start: 1, end: 65536 }] }], ['value_out_of_range /rules/0/port_ranges/0/end']],
  [[{ port_ranges: [{ start: 9, end: 8 }] }], ['policy_range_reversed /rules/0/port_ranges/0']],
  [[{ port_ranges: [{ start: 1.5, end: 8 }] }], ['type_wrong /rules/0/port_ranges/0/start']],
  [[{ port_ranges: [{ start: 1 }] }], ['field_required /rules/0/port_ranges/0']],
  [[{ ports: ['80'], port_ranges: [{ start: 1, end: 2 }] }], ['policy_ports_exclusive /rules/0/port_ranges']],
  [[{ protocol: 'all', ports: ['80'] }], ['policy_ports_unused /rules/0/ports']],
  [[{ protocol: 'icmp', port_ranges: [{ start: 1, end: 1 }] }], ['policy_ports_unused /rules/0/port_ranges']],
  [[{ sources: ['nobody'] }], ['reference_unknown /rules/0/sources/0']],
  [[{ sources: [] }], ['policy_sources_exclusive /rules/0/sources']],
  [[{ destinations: null }], ['policy_destinations_exclusive /rules/0/destinations']],
  [[{ sourceResource: { id: 'PEER', type: 'peer' } }], ['policy_sources_exclusive /rules/0/sources']],
  [[{ sources: [], sourceResource: { id: 'PEER', type: 'host' } }], ['reference_unknown /rules/0/sourceResource/id']],
  [[{ sources: [], sourceResource: { id: 'PEER', type: 'car' } }], ['value_not_allowed /rules/0/sourceResource/type']],
  [[{ sources: [], sourceResource: { id: 'PEER' } }], ['field_required /rules/0/sourceResource']],
  [[{ authorized_groups: { unknown: ['root'] } }], ['reference_unknown /rules/0/authorized_groups/unknown']],
  [[{ authorized_groups: { unknown: 'root' } }], ['type_wrong /rules/0/authorized_groups/unknown']],
  [[{}, { id: 'foreign', name: 'zulu' }], []],
] as [Json, string[]][])('a policy with rules %j reports exactly the expected problems', async (rules, problems) => {
  const before = await api().revision();
  const filled = JSON.parse(JSON.stringify(rules).replaceAll('PEER', peer));
  const full = Array.isArray(filled) ? filled.map((item) => (typeof item === 'object' ? rule(item) : item)) : filled;
  const answer = await post(body(full));
  expect([answer.status, problemsOf(answer)]).toEqual([problems.length === 0 ? 200 : 422, problems]);
  expect(await api().revision()).toBe(before + (problems.length === 0 ? 1 : 0));
});

it('a policy with unknown posture checks is refused, naming them', async () => {
  const answer = await post(body([rule()], { source_posture_checks: ['nothing'] }));
  expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining('nothing')]);
});

it.each(['1', '65535'])('a rule accepts the port %s, alone and as a range of one', async (text) => {
  const answer = await post(
    body([rule({ ports: [text] }), rule({ name: 'zulu', port_ranges: [{ start: Number(text), end: Number(text) }] })]),
  );
  expect(answer.body.rules).toMatchObject([
    { ports: [text] },
    { port_ranges: [{ start: Number(text), end: Number(text) }] },
  ]);
});

it('a rule accepts a resource instead of groups, with the unused side empty, null or absent', async () => {
  const side = { sourceResource: { id: peer, type: 'peer' } };
  for (const sources of [[], null, undefined]) {
    const given = sources === undefined ? without(rule(side), 'sources') : rule({ ...side, sources });
    const [made] = (await post(body([given]))).body.rules;
    expect(made.sourceResource).toEqual({ id: peer, type: 'peer' });
    expect(made).not.toHaveProperty('sources');
  }
  const blank = await post(body([rule({ sourceResource: { id: '', type: '' }, destinationResource: null })]));
  expect(blank.body.rules[0]).not.toHaveProperty('sourceResource');
});

it('a rule is refused with a type that the address of its network resource does not have', async () => {
  const network = (await api().call('POST', '/api/networks', { name: 'Typed' })).body.id;
  const resources = `/api/networks/${network}/resources`;
  const resource = { name: 'typed', address: '10.30.0.1', enabled: true, groups: [] };
  const { id } = (await api().call('POST', resources, resource)).body;
  const of = (type: string) => without(rule({ destinationResource: { id, type } }), 'destinations');
  const refused = await post(body([of('subnet')]));
  expect([refused.status, problemsOf(refused)]).toEqual([422, ['resource_type_wrong /rules']]);
  expect(refused.body.message).toContain('`destinationResource` of the rule `web`');
  expect(refused.body.message).toContain('"type": "host"');
  const source = without(rule({ sourceResource: { id, type: 'domain' } }), 'sources');
  expect(problemsOf(await post(body([source])))).toEqual(['resource_type_wrong /rules']);
  const made = (await post(body([of('host')]))).body;
  // The resource changes its type after the policy was stored. The stored reference stays valid.
  expect((await api().call('PUT', `${resources}/${id}`, { ...resource, address: '10.30.0.0/24' })).status).toBe(200);
  expect((await put(made.id, { ...made, description: 'changed' })).status).toBe(200);
  expect((await put(made.id, body([of('domain')]))).status).toBe(422);
});

it('a rule accepts network resources of every type, and returns them as they were given', async () => {
  const network = (await api().call('POST', '/api/networks', { name: 'Office' })).body.id;
  for (const [type, address] of [
    ['host', '10.20.0.10'],
    ['subnet', '10.20.0.0/24'],
    ['domain', '*.example.com'],
  ] as const) {
    const resource = { name: `a ${type}`, address, enabled: true, groups: [] };
    const { body: target } = await api().call('POST', `/api/networks/${network}/resources`, resource);
    expect(target.type).toBe(type);
    const side = { id: target.id, type };
    const made = await post(body([without(rule({ destinationResource: side }), 'destinations')]));
    expect([made.status, made.body.rules[0].destinationResource]).toEqual([200, side]);
    expect(made.body.rules[0]).not.toHaveProperty('destinations');
    const before = await api().revision();
    expect((await put(made.body.id, made.body)).body).toEqual(made.body);
    expect(await api().revision()).toBe(before);
    const source = await post(body([without(rule({ sourceResource: side }), 'sources')]));
    expect(source.body.rules[0].sourceResource).toEqual(side);
    const crossed = await post(body([rule({ sources: [], sourceResource: { id: target.id, type: 'peer' } })]));
    expect([crossed.status, problemsOf(crossed)]).toEqual([422, ['reference_unknown /rules/0/sourceResource/id']]);
    const refused = await api().call('DELETE', `/api/networks/${network}/resources/${target.id}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('policy: P')]);
  }
});

it('a policy lists its posture checks by id, without duplicates', async () => {
  const check = { name: 'for a policy', description: '' };
  const { id } = (await api().call('POST', '/api/posture-checks', check)).body;
  const made = await post(body([rule()], { source_posture_checks: [id, id] }));
  expect(made.body.source_posture_checks).toEqual([id]);
  expect((await put(made.body.id, body())).body.source_posture_checks).toEqual([]);
});

it('a rule keeps authorized groups, by group, whatever its protocol', async () => {
  const { rules } = (await post(body([rule({ authorized_groups: { [dev]: ['root', 'deploy'], [ops]: [] } })]))).body;
  expect(rules[0].authorized_groups).toEqual({ [dev]: ['root', 'deploy'], [ops]: [] });
});

it('a policy that is put back unchanged writes nothing', async () => {
  const { body: made, headers } = await post(
    body(
      [
        rule({ ports: ['22'], authorized_groups: { [dev]: ['root'] }, protocol: 'ssh' }),
        rule({ name: 'zulu', sources: [], sourceResource: { id: peer, type: 'peer' } }),
        rule({ name: 'c', port_ranges: [{ start: 5, end: 9 }] }),
      ],
      { description: 'again' },
    ),
  );
  const before = await api().revision();
  const same = await put(made.id, made);
  expect([same.status, same.body, same.headers['etag']]).toEqual([200, made, headers['etag']]);
  expect(same.headers['heddle-ignored']).toBeUndefined();
  expect(await api().revision()).toBe(before);
});

describe('ids of rules', () => {
  const two = () => body([rule(), rule({ name: 'zulu' })]);
  const idsOf = (answer: { body: { rules: { name: string; id: string }[] } }) =>
    Object.fromEntries(answer.body.rules.map(({ name, id }) => [name, id]));

  it('are the id of the policy for the first rule, and separate ids for the others', async () => {
    const made = await post(two());
    const ids = idsOf(made);
    expect(ids['web']).toBe(made.body.id);
    expect(new Set(Object.values(ids)).size).toBe(2);
  });

  it('stay with a rule that is renamed, moved or matched by its name', async () => {
    const made = await post(two());
    const { web = '', zulu = '' } = idsOf(made);
    const renamed = await put(made.body.id, body([rule({ id: zulu, name: 'zz' }), rule({ id: web, name: 'alpha' })]));
    expect(idsOf(renamed)).toEqual({ zz: zulu, alpha: web });
    expect(idsOf(await put(made.body.id, body([rule({ name: 'alpha' })])))).toEqual({ alpha: web });
    const swapped = await put(made.body.id, body([rule({ name: 'new' }), rule({ name: 'alpha' })]));
    expect(idsOf(swapped)['alpha']).toBe(web);
    expect(idsOf(swapped)['new']).not.toBe(zulu);
  });

  it('stay with their rules when two rules swap their names', async () => {
    const made = await post(two());
    const { web = '', zulu = '' } = idsOf(made);
    const swapped = await put(made.body.id, body([rule({ id: web, name: 'zulu' }), rule({ id: zulu, name: 'web' })]));
    expect(idsOf(swapped)).toEqual({ zulu: web, web: zulu });
  });

  it('must be known, and used once, when they are given', async () => {
    const made = await post(two());
    const answer = await put(made.body.id, body([rule({ id: 'foreign' })]));
    expect([answer.status, problemsOf(answer)]).toEqual([422, ['entry_unknown /rules/0/id']]);
    const twice = await put(made.body.id, body([rule({ id: made.body.id }), rule({ id: made.body.id, name: 'zulu' })]));
    expect([twice.status, problemsOf(twice)]).toEqual([422, ['entry_repeated /rules/1/id']]);
    expect((await put(made.body.id, body([rule({ id: '' }), rule({ name: 'zulu' })]))).status).toBe(200);
  });

  it('are not assigned to two rules of one name, neither in a request nor in a document', async () => {
    const duplicates = [rule(), rule({ protocol: 'udp' })];
    const refused = await post(body(duplicates));
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['rule_name_repeated /rules']]);
    const made = await post(body());
    expect((await put(made.body.id, body(duplicates))).status).toBe(422);
    const side = 'enabled: true, action: accept, protocol: tcp, sources: [All], destinations: [All]';
    const text = doc('Policy', 'twins', `name: twins\nrules:\n  - {name: a, ${side}}\n  - {name: a, ${side}}`);
    const plan = await api().call('POST', '/api/config/plans', { source: 'twins', files: [{ path: 'a.yaml', text }] });
    expect([plan.status, plan.body.problems]).toMatchObject([
      422,
      [{ code: 'rule_name_repeated', file: 'a.yaml', line: expect.any(Number) }],
    ]);
  });

  it('distinguish older rules of one name, which stay writable', async () => {
    const { id } = (await post(body(two()['rules'] as Json))).body;
    await putObjects(api().engine, api().account, (state) => {
      const found = state.get(id);
      const rules = found?.spec['rules'];
      if (found === undefined || !Array.isArray(rules)) return [];
      return [
        { ...found, spec: { ...found.spec, rules: rules.map((one) => ({ ...(one as JsonObject), name: 'web' })) } },
      ];
    });
    const shown = (await api().call('GET', `/api/policies/${id}`)).body;
    expect(shown.rules.map(({ name }: { name: string }) => name)).toEqual(['web', 'web']);
    const before = await api().revision();
    expect((await put(id, shown)).body).toEqual(shown);
    expect(await api().revision()).toBe(before);
    const changed = await put(id, { ...shown, description: 'as it was' });
    expect([changed.status, changed.body.rules.length]).toEqual([200, 2]);
    const third = await put(id, { ...shown, rules: [...shown.rules, rule()] });
    expect([third.status, problemsOf(third)]).toEqual([422, ['rule_name_repeated /rules']]);

    const then = await api().revision();
    expect((await put(id, { ...shown, rules: [shown.rules[0]] })).status).toBe(200);
    const back = await api().call('POST', `/api/config/revisions/${then}/rollback`, { scope: 'all' });
    const applied = await api().call('POST', `/api/config/plans/${back.body.id}/apply`, { approve: back.body.digest });
    expect([back.status, applied.status]).toEqual([201, 200]);
    expect((await api().call('GET', `/api/policies/${id}`)).body.rules.length).toBe(2);
  });
});

it('two policies may have the same name', async () => {
  const [first, second] = [await post(body()), await post(body())];
  expect([first.status, second.status, first.body.id === second.body.id]).toEqual([200, 200, false]);
});
