import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { sharedApi, testApi } from './setup.ts';

const api = sharedApi();
let group = '';
beforeAll(async () => {
  group = await api().group('office');
});

const path = '/api/dns/nameservers';
const body = (change: JsonObject = {}): JsonObject => ({
  name: 'Office DNS',
  nameservers: [{ ip: '10.20.0.53' }],
  enabled: true,
  groups: [group],
  domains: ['office.example.com'],
  ...change,
});
const post = (change: JsonObject = {}) => api().call('POST', path, body(change));

describe('nameserver groups', () => {
  it('are created, read, listed, replaced and deleted', async () => {
    const made = await post({ domains: ['Office.Example.com.', 'lab.example.com'] });
    const { id } = made.body;
    expect([made.status, made.body]).toEqual([
      200,
      {
        id,
        name: 'Office DNS',
        description: '',
        nameservers: [{ ip: '10.20.0.53', ns_type: 'udp', port: 53 }],
        enabled: true,
        groups: [group],
        primary: false,
        domains: ['Office.Example.com.', 'lab.example.com'],
        search_domains_enabled: false,
      },
    ]);
    expect((await api().call('GET', `${path}/${id}`)).body).toEqual(made.body);
    expect((await api().call('GET', path)).body).toContainEqual(made.body);
    const before = await api().revision();
    expect((await api().call('PUT', `${path}/${id}`, made.body)).body).toEqual(made.body);
    expect(await api().revision()).toBe(before);
    const primary = await api().call('PUT', `${path}/${id}`, body({ primary: true, domains: [] }));
    expect(primary.body).toMatchObject({ primary: true, domains: [] });
    const gone = await api().call('DELETE', `${path}/${id}`);
    expect([gone.status, gone.body]).toEqual([200, '']);
    for (const method of ['GET', 'DELETE']) expect((await api().call(method, `${path}/${id}`)).status).toBe(404);
    expect((await api().call('PUT', `${path}/${id}`, body())).status).toBe(404);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ name: '' }, ['value_too_short /name']],
    [{ name: 'x'.repeat(41) }, ['value_too_long /name']],
    [{ nameservers: [] }, ['list_too_short /nameservers']],
    [{ nameservers: ['1', '2', '3', '4'].map((part) => ({ ip: `10.20.0.${part}` })) }, ['list_too_long /nameservers']],
    [{ nameservers: [{ ip: 'dns.example.com' }] }, ['address_invalid /nameservers/0/ip']],
    [{ nameservers: [{ ip: '10.20.0.53', port: 65536 }] }, ['value_out_of_range /nameservers/0/port']],
    [{ nameservers: [{ ip: '10.20.0.53', ns_type: 'tcp' }] }, ['value_not_allowed /nameservers/0/ns_type']],
    [{ groups: [] }, ['list_too_short /groups']],
    [{ groups: ['nobody'] }, ['reference_unknown /groups/0']],
    [{ domains: [] }, ['nameserver_domains_exclusive /domains']],
    [{ primary: true }, ['nameserver_domains_exclusive /domains']],
    [{ domains: ['*.example.com'] }, ['domain_invalid /domains/0']],
  ])('with %j are refused', async (change, problems) => {
    const answer = await post(change);
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
  });

  it('have unique names, and keep their groups from being deleted', async () => {
    const own = await api().group('named by servers');
    await post({ name: 'x'.repeat(40), groups: [own] });
    const again = await post({ name: 'x'.repeat(40) });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    const refused = await api().call('DELETE', `/api/groups/${own}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('nameserver group: x')]);
  });
});

describe('DNS settings', () => {
  const settings = '/api/dns/settings';

  it('exist from the start with an empty list, and write a revision only when they change', async () => {
    await using own = await testApi();
    const before = await own.revision();
    const empty = await own.call('GET', settings);
    expect([empty.status, empty.body]).toEqual([200, { disabled_management_groups: [] }]);
    const same = await own.call('PUT', settings, { disabled_management_groups: [] });
    expect([same.status, same.body, await own.revision()]).toEqual([200, { disabled_management_groups: [] }, before]);
    const id = await own.group('unmanaged');
    for (const groups of [[id], [id], []]) {
      const put = await own.call('PUT', settings, { disabled_management_groups: groups });
      expect([put.status, put.body]).toEqual([200, { disabled_management_groups: groups }]);
      expect((await own.call('GET', settings)).body).toEqual(put.body);
    }
    expect(await own.revision()).toBe(before + 3);
  });

  it('refuse unknown groups, and keep their groups from being deleted', async () => {
    const unknown = await api().call('PUT', settings, { disabled_management_groups: ['nobody'] });
    expect([unknown.status, problemsOf(unknown)]).toEqual([422, ['reference_unknown /disabled_management_groups/0']]);
    expect((await api().call('PUT', settings, {})).status).toBe(422);
    const id = await api().group('unmanaged');
    await api().call('PUT', settings, { disabled_management_groups: [id] });
    expect((await api().call('DELETE', `/api/groups/${id}`)).status).toBe(400);
  });

  it('answer POST and DELETE with 405', async () => {
    for (const method of ['POST', 'DELETE']) expect((await api().call(method, settings, {})).status).toBe(405);
  });

  it('are exported, and planning the export changes nothing', async () => {
    await using own = await testApi();
    const id = await own.group('unmanaged');
    await own.call('PUT', settings, { disabled_management_groups: [id] });
    const text = (await own.call('GET', '/api/config/export')).body;
    const files = [{ path: 'all.yaml', text: typeof text === 'string' ? text : JSON.stringify(text) }];
    const plan = await own.call('POST', '/api/config/plans', { source: 'git', files });
    expect(plan.body.counts ?? plan.body).toMatchObject({ create: 0, update: 0, delete: 0 });
  });
});
