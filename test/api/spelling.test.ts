import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { addCluster } from '../spec/world.ts';
import { doc } from './documents.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();

/** A collection, a body that contains a text, and a function that reads this text from answers. */
interface Written {
  readonly path: string;
  readonly bodyWith: (text: string) => JsonObject;
  readonly textIn: (body: JsonObject) => Json | undefined;
}

async function service(): Promise<Written> {
  const [peer = ''] = await api().peers('machine');
  await addCluster(api(), 'proxy.example.com', {});
  const target = { target_id: peer, target_type: 'peer', protocol: 'http', port: 80, enabled: true };
  const bodyWith = (text: string) => ({
    ...{ name: 'builds', domain: 'builds.proxy.example.com', enabled: true },
    targets: [target, { ...target, path: '/slow', options: { request_timeout: text } }],
  });
  const textIn = (body: JsonObject) => {
    const [, slow] = body['targets'] as readonly { readonly options: JsonObject }[];
    return slow?.options['request_timeout'];
  };
  return { path: '/api/reverse-proxies/services', bodyWith, textIn };
}

async function route(): Promise<Written> {
  const [peer = ''] = await api().peers('router');
  const groups = [await api().group('routed')];
  const common = { description: '', network_id: 'www', enabled: true, metric: 9999, masquerade: true };
  return {
    path: '/api/routes',
    bodyWith: (text) => ({ ...common, keep_route: true, peer, groups, domains: ['z.example.com', text] }),
    textIn: (body) => (body['domains'] as readonly Json[])[1],
  };
}

async function record(): Promise<Written> {
  const distribution_groups = [await api().group('resolvers')];
  const zone = { name: 'Zone', domain: 'zone.example', enable_search_domain: false, distribution_groups };
  const { body } = await api().call('POST', '/api/dns/zones', zone);
  return {
    path: `/api/dns/zones/${body.id}/records`,
    bodyWith: (content) => ({ name: 'www.zone.example', type: 'AAAA', content, ttl: 300 }),
    textIn: ({ content }) => content,
  };
}

it.each([
  ['the timeout of a target', service, '2m', '120s'],
  ['a domain of a route', route, 'bücher.Example.com', 'xn--bcher-kva.example.com'],
  ['the content of a DNS record', record, '2001:DB8::1', '2001:db8::1'],
])('%s is returned in the spelling of the last request', async (_name, write, text, other) => {
  const { path, bodyWith, textIn } = await write();
  const made = await api().call('POST', path, bodyWith(text));
  expect([made.status, textIn(made.body)]).toEqual([200, text]);
  const url = `${path}/${made.body.id}`;
  const read = await api().call('GET', url);
  expect(textIn(read.body)).toBe(text);
  const listed = (await api().call('GET', path)).body.find(({ id }: JsonObject) => id === made.body.id);
  expect(textIn(listed)).toBe(text);
  const before = await api().revision();
  for (const same of [bodyWith(text), read.body]) {
    expect(textIn((await api().call('PUT', url, same)).body)).toBe(text);
    expect(await api().revision()).toBe(before);
  }
  for (const again of [other, text]) {
    expect(textIn((await api().call('PUT', url, bodyWith(again))).body)).toBe(again);
    expect(textIn((await api().call('GET', url)).body)).toBe(again);
  }
  expect(await api().revision()).toBe(before + 2);
});

describe('a text that a source states', () => {
  const text = (domain: string) => doc('DNSZone', 'books', `{domain: ${domain}, distribution_groups: [All]}`);
  const send = async (way: 'apply' | 'plans', domain: string) => {
    const files = [{ path: 'a.yaml', text: text(domain) }];
    const answer = await api().call('POST', `/api/config/${way}`, { source: 'books', files });
    expect([answer.status < 300, answer.body.problems]).toEqual([true, undefined]);
    return answer.body;
  };
  const zone = async () => {
    const zones: readonly JsonObject[] = (await api().call('GET', '/api/dns/zones')).body;
    return zones.find(({ name }) => name === 'books') ?? {};
  };

  it('is returned as the document spells it, and another spelling there changes nothing', async () => {
    await send('apply', 'bücher.example');
    expect((await zone())['domain']).toBe('bücher.example');
    const before = await api().revision();
    for (const domain of ['xn--bcher-kva.example', 'BÜCHER.example']) {
      expect((await send('plans', domain)).changes).toEqual([]);
      await send('apply', domain);
    }
    expect(await api().revision()).toBe(before);
  });

  it('may be spelled otherwise over the API without refusal, difference or drift', async () => {
    await send('apply', 'bücher.example');
    const { id, records: _, ...body } = await zone();
    const put = await api().call('PUT', `/api/dns/zones/${id}`, {
      ...body,
      domain: 'xn--bcher-kva.example',
      distribution_groups: body['distribution_groups'] ?? [],
    });
    expect([put.status, put.body.domain]).toEqual([200, 'xn--bcher-kva.example']);
    expect((await send('plans', 'bücher.example')).changes).toEqual([]);
    expect((await api().call('GET', '/api/config/drift?source=books')).body.changes ?? []).toEqual([]);
    expect((await api().call('GET', '/api/config/export')).body).toContain('domain: xn--bcher-kva.example');
  });
});

it('event streams show the keys of their configuration as they were written', async () => {
  const path = '/api/event-streaming';
  const stream = (config: JsonObject) => ({ platform: 's3', enabled: true, config });
  const keys = { access_key: 'a', secret_key: 's' };
  const { body } = await api().call('POST', path, stream({ ...keys, bucket_name: 'b', region: 'eu-central-1' }));
  const url = `${path}/${body.id}`;
  const shown = { access_key: '****', secret_key: '****', bucket_name: 'b', region: 'eu-central-1' };
  expect(body.config).toEqual(shown);
  expect((await api().call('GET', url)).body.config).toEqual(shown);
  const before = await api().revision();
  await api().call('PUT', url, body);
  expect(await api().revision()).toBe(before);
  const put = async (config: JsonObject) => (await api().call('PUT', url, stream(config))).body.config;
  expect(await put({ region: 'us-east-1' })).toEqual({ ...shown, region: 'us-east-1' });
  const { access_key: _, ...rest } = shown;
  const renamed = { ...rest, access_key_id: '****', region: 'us-east-1' };
  expect(await put({ access_key_id: 'b' })).toEqual(renamed);
  expect(await put({ bucket_name: 'c' })).toEqual({ ...renamed, bucket_name: 'c' });
});
