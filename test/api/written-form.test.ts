import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { backUp, sendBack } from './archive-setup.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi } from './setup.ts';

const server = { ip: '192.0.2.53', ns_type: 'udp', port: 53 };
const path = '/api/dns/nameservers';

interface Group extends JsonObject {
  readonly id: string;
  readonly domains: readonly string[];
}

async function groupBody(api: TestApi, domains: readonly string[], name = 'internal'): Promise<JsonObject> {
  const groups = (await api.call('GET', '/api/groups')).body.filter(({ name }: JsonObject) => name === 'All');
  const common = { name, description: '', primary: false, enabled: true, search_domains_enabled: false };
  return { ...common, nameservers: [server], groups: groups.map(({ id }: JsonObject) => id), domains };
}

async function createGroup(api: TestApi, domains: readonly string[], name?: string): Promise<Group> {
  const { status, body } = await api.call('POST', path, await groupBody(api, domains, name));
  expect([status, body.problems]).toEqual([200, undefined]);
  return body;
}

/** Returns the rules of a policy. A rule without ports leaves the member out. */
function rulesOf(groups: readonly string[], ports: Readonly<Record<string, readonly string[] | undefined>>) {
  const rule = { enabled: true, action: 'accept', protocol: 'tcp', bidirectional: false };
  return Object.entries(ports).map(([name, list]) => ({
    ...{ ...rule, name, sources: groups, destinations: groups },
    ...(list === undefined ? {} : { ports: list }),
  }));
}

async function rollBack(api: TestApi, revision: number): Promise<void> {
  const plan = await api.call('POST', `/api/config/revisions/${revision}/rollback`, { scope: 'all' });
  expect([plan.status, plan.body.problems]).toEqual([201, undefined]);
  const applied = await api.call('POST', `/api/config/plans/${plan.body.id}/apply`, {});
  expect([applied.status, applied.body.problems]).toEqual([200, undefined]);
}

describe('a rollback', () => {
  it('returns texts in the spelling that they had, and keeps the spelling of texts that it does not change', async () => {
    await using api = await testApi();
    const { id } = await createGroup(api, ['bücher.example', 'Shelf.example', 'desk.example']);
    const then = await api.revision();
    const changed = await groupBody(api, ['BÜCHER.example', 'lamp.example']);
    expect((await api.call('PUT', `${path}/${id}`, changed)).body.domains).toEqual(['BÜCHER.example', 'lamp.example']);
    await rollBack(api, then);
    const { domains } = (await api.call('GET', `${path}/${id}`)).body;
    expect([...domains].sort()).toEqual(['BÜCHER.example', 'Shelf.example', 'desk.example']);
  });

  it('returns empty members that were given, and keeps the others', async () => {
    await using api = await testApi();
    const groups = [await api.group('ops')];
    const policy = (ports: Readonly<Record<string, readonly string[] | undefined>>) => ({
      ...{ name: 'web', enabled: true, rules: rulesOf(groups, ports) },
    });
    const made = await api.call('POST', '/api/policies', policy({ a: [], b: undefined, c: ['80'] }));
    expect([made.status, made.body.problems]).toEqual([200, undefined]);
    const url = `/api/policies/${made.body.id}`;
    const shown = async () => {
      const { body } = await api.call('GET', url);
      return body.rules.map(({ name, ports }: JsonObject) => [name, ports]);
    };
    const then = await api.revision();
    await api.call('PUT', url, policy({ a: ['22'], b: [], c: ['443'] }));
    await rollBack(api, then);
    expect(await shown()).toEqual([
      ['a', []],
      ['b', []],
      ['c', ['80']],
    ]);
  });
});

it('the restore of an archive returns texts in the spelling in which they were written', async () => {
  await using api = await testApi();
  const written = ['bücher.example', 'Shelf.example'];
  const { id } = await createGroup(api, written);
  const other = await createGroup(api, ['Desk.example'], 'desk');
  const archive = await backUp(api);
  await api.call('DELETE', `${path}/${id}`);
  await api.call('PUT', `${path}/${other.id}`, await groupBody(api, ['lamp.example'], 'desk'));
  expect((await sendBack(api, archive, `?replace=${api.account}`)).status).toBe(200);
  const { domains } = (await api.call('GET', `${path}/${id}`)).body;
  expect([...domains].sort()).toEqual([...written].sort());
  expect((await api.call('GET', `${path}/${other.id}`)).body.domains).toEqual(['Desk.example']);
});

describe('a document that changes a part of a field', () => {
  const apply = async (api: TestApi, text: string) => {
    const { status, body } = await api.call('POST', '/api/config/apply', {
      ...{ source: 'team', files: [{ path: 'a.yaml', text }] },
    });
    expect([status, body.problems]).toEqual([200, undefined]);
  };
  const find = async (api: TestApi, list: string, expected: string) =>
    (await api.call('GET', list)).body.find(({ name }: JsonObject) => name === expected);

  it('keeps the spelling of the texts that it repeats', async () => {
    await using api = await testApi();
    const group = (domains: string) =>
      doc(
        'NameserverGroup',
        'internal',
        `{nameservers: [{ip: 192.0.2.53, ns_type: udp, port: 53}], enabled: true, search_domains_enabled: false, groups: [All], domains: [${domains}]}`,
      );
    await apply(api, group('bücher.example, shelf.example'));
    const { id } = await find(api, path, 'internal');
    const put = await api.call('PUT', `${path}/${id}`, await groupBody(api, ['BÜCHER.example', 'Shelf.example']));
    expect([put.status, put.body.domains]).toEqual([200, ['BÜCHER.example', 'Shelf.example']]);
    await apply(api, group('bücher.example, shelf.example, Desk.example'));
    expect((await find(api, path, 'internal')).domains).toEqual(['BÜCHER.example', 'Shelf.example', 'Desk.example']);
    await apply(api, group('bücher.example, Desk.example'));
    expect((await find(api, path, 'internal')).domains).toEqual(['BÜCHER.example', 'Desk.example']);
  });

  it('keeps the empty members that were given in entries that it repeats', async () => {
    await using api = await testApi();
    const policy = (port: string) => {
      const rule = 'action: accept, protocol: tcp, bidirectional: false, sources: [All], destinations: [All]';
      const entries = `[{name: a, ${rule}}, {name: b, ports: ["${port}"], ${rule}}]`;
      return doc('Policy', 'web', `{name: web, enabled: true, rules: ${entries}}`);
    };
    await apply(api, policy('80'));
    const stored = await find(api, '/api/policies', 'web');
    const groups = [(await find(api, '/api/groups', 'All')).id];
    const body = { name: 'web', enabled: true, rules: rulesOf(groups, { a: [], b: ['80'] }) };
    expect((await api.call('PUT', `/api/policies/${stored.id}`, body)).body.rules[0]).toMatchObject({ ports: [] });
    await apply(api, policy('443'));
    expect((await find(api, '/api/policies', 'web')).rules).toMatchObject([{ ports: [] }, { ports: ['443'] }]);
  });
});
