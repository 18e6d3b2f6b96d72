import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { openedSpec } from '../setup/opened.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi } from './setup.ts';

const list = '/api/config/overrides';

async function apply(api: TestApi, text: string, values: JsonObject = {}): Promise<void> {
  const sent = { source: 'team', files: [{ path: 'a.yaml', text }], values };
  const { status, body } = await api.call('POST', '/api/config/apply', sent);
  expect([status, body.problems]).toEqual([200, undefined]);
}

async function override(api: TestApi, named: JsonObject, values: JsonObject) {
  return api.call('POST', list, { ...named, reason: 'incident 4711', values });
}

function pathsIn({ overrides }: JsonObject): readonly string[] {
  return (overrides as readonly { readonly path: string }[]).map(({ path }) => path).sort();
}

it('an override finds the element of a set in every spelling, and keeps the written spelling of the others', async () => {
  await using api = await testApi();
  const domains = '[bücher.example, Books.example, shelf.example]';
  await apply(api, doc('NameserverGroup', 'internal', `{${servers}, domains: ${domains}, groups: [All]}`));
  const named = { kind: 'NameserverGroup', name: 'internal' };
  const shown = async () => {
    const groups: readonly JsonObject[] = (await api.call('GET', '/api/dns/nameservers')).body;
    return groups.find(({ name }) => name === 'internal')?.['domains'];
  };
  expect(await shown()).toEqual(['bücher.example', 'Books.example', 'shelf.example']);
  const made = await override(api, named, { 'domains[xn--bcher-kva.example]': false });
  expect([made.status, pathsIn(made.body)]).toEqual([200, ['domains[xn--bcher-kva.example]']]);
  expect(await shown()).toEqual(['Books.example', 'shelf.example']);

  const other = await override(api, named, { 'domains[BOOKS.example]': false });
  expect([other.status, pathsIn(other.body)]).toEqual([
    200,
    ['domains[books.example]', 'domains[xn--bcher-kva.example]'],
  ]);
  expect(await shown()).toEqual(['shelf.example']);
  expect((await api.call('POST', `${list}/end`, named)).status).toBe(200);
  expect(await shown()).toHaveLength(3);
  const same = await override(api, named, { 'domains[SHELF.example]': true });
  expect([same.status, same.body.problems?.[0]?.message]).toEqual([422, expect.stringContaining('already')]);
});

const servers = 'nameservers: [{ip: 192.0.2.53, ns_type: udp, port: 53}], enabled: true, search_domains_enabled: false';
const keys = { access_key: 'a', secret_key: 's', bucket_name: 'b', region: 'eu-central-1' };

it('an override of a member with two names replaces the value, whichever name was written', async () => {
  await using api = await testApi();
  const from = (variable: string) => `{valueFrom: {envRef: HEDDLE_VALUE_${variable}}}`;
  const config = `{access_key: ${from('A')}, secret_key: ${from('S')}, bucket_name: b, region: r}`;
  const values = { 'env:HEDDLE_VALUE_A': 'a', 'env:HEDDLE_VALUE_S': 's' };
  await apply(api, doc('EventStreaming', 's3', `{platform: s3, enabled: true, config: ${config}}`), values);
  const stored = async (): Promise<JsonObject> => {
    const [object] = (await api.engine.snapshots.fresh(api.account)).ofKind('EventStreaming');
    return object === undefined ? {} : (openedSpec(api.engine, api.account, object)['config'] as JsonObject);
  };
  for (const name of ['access_key_id', 'access_key']) {
    const made = await override(api, { kind: 'EventStreaming', name: 's3' }, { [`config[${name}]`]: `by ${name}` });
    expect([made.status, pathsIn(made.body)]).toEqual([200, ['config[access_key_id]']]);
    expect((await stored())['access_key_id']).toBe(`by ${name}`);
  }
});

it('a request that repeats a masked secret under one name and gives a value under the other stores the value', async () => {
  await using api = await testApi();
  const stream = (config: JsonObject) => ({ platform: 's3', enabled: true, config });
  const { body } = await api.call('POST', '/api/event-streaming', stream(keys));
  const changed = stream({ ...body.config, access_key_id: 'new' });
  expect((await api.call('PUT', `/api/event-streaming/${body.id}`, changed)).status).toBe(200);
  const [object] = (await api.engine.snapshots.fresh(api.account)).ofKind('EventStreaming');
  expect(object === undefined ? {} : openedSpec(api.engine, api.account, object)['config']).toMatchObject({
    access_key_id: 'new',
  });
});

it('a request with a mask or an empty text under both names of a secret keeps the secret, and takes a value beside it', async () => {
  await using api = await testApi();
  const stream = (config: JsonObject) => ({ platform: 's3', enabled: true, config });
  const { body } = await api.call('POST', '/api/event-streaming', stream(keys));
  const put = async (config: JsonObject) => {
    const { status } = await api.call('PUT', `/api/event-streaming/${body.id}`, stream(config));
    const [object] = (await api.engine.snapshots.fresh(api.account)).ofKind('EventStreaming');
    const opened = object === undefined ? {} : (openedSpec(api.engine, api.account, object)['config'] as JsonObject);
    return [status, opened['access_key_id']];
  };
  expect(await put({ access_key: '****', access_key_id: '****' })).toEqual([200, 'a']);
  expect(await put({ access_key: '', access_key_id: '' })).toEqual([200, 'a']);
  expect(await put({ access_key: '', access_key_id: 'new' })).toEqual([200, 'new']);
});

it('an override adds a number to a set of numbers', async () => {
  await using api = await testApi();
  const token = '{valueFrom: {envRef: HEDDLE_VALUE_T}}';
  const spec = `{api_url: 'https://edr.example', api_token: ${token}, groups: [All], last_synced_interval: 24, enabled: true, match_attributes: {required_policies: [3, 8]}}`;
  await apply(api, doc('EdrVendorC', 'devices', spec), { 'env:HEDDLE_VALUE_T': 't' });
  const named = { kind: 'EdrVendorC', name: 'devices' };
  const made = await override(api, named, { 'match_attributes.required_policies[5]': true });
  expect([made.status, made.body.problems]).toEqual([200, undefined]);
  const [object] = (await api.engine.snapshots.fresh(api.account)).ofKind('EdrVendorC');
  expect(object?.spec['match_attributes']).toMatchObject({ required_policies: [3, 5, 8] });
});
