import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followServices } from '../../src/features/proxy/services.ts';
import { asObject, asObjects, type JsonObject } from '../../src/lib/json.ts';
import { addCluster } from '../spec/world.ts';
import { testApi } from './setup.ts';

const source = join(import.meta.dirname, '../../src');

/** Modules outside `src/api` whose texts go to the client that wrote them, and the examples of the API description. */
const shownToWriters = [
  'features/accounts/users.ts',
  'model/lower/openapi/examples.ts',
  'model/lower/response.ts',
  // The body of a replacement in the name of the caller, which keeps the spelling of what it does not change.
  'plan/requests/set-values.ts',
];

it('only answers of the API use the written spelling; proxies, agents and logs use the canonical one', () => {
  const modules = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const using = (name: string) => modules.filter((path) => readFileSync(join(source, path), 'utf8').includes(name));
  const outside = using('lowerToResponse').filter((path) => !path.startsWith('api/'));
  expect(outside.sort()).toEqual(shownToWriters);
  expect(using('lowerToCanonical').sort()).toEqual([
    'api/routes/agent.ts',
    'features/logs/traffic-names.ts',
    'features/proxy/services.ts',
    'model/lower/response.ts',
  ]);
});

it('a proxy receives the texts of a service in canonical spelling, and nothing when only the spelling changes', async () => {
  await using api = await testApi();
  const cluster = 'proxy.example.com';
  await addCluster(api, cluster, { supports_custom_ports: true });
  const [peer = ''] = await api.peers('machine');
  const target = { target_id: peer, target_type: 'peer', protocol: 'http', port: 80, enabled: true };
  const service = (domain: string, country: string, request_timeout: string): JsonObject => ({
    ...{ name: 'Books', domain, enabled: true },
    targets: [{ ...target, options: { request_timeout } }],
    access_restrictions: { blocked_countries: [country] },
  });
  const path = '/api/reverse-proxies/services';
  const written = service(`BÜCHER.${cluster}`, 'de', '120s');
  const made = await api.call('POST', path, written);
  expect([made.status, made.body.problems]).toEqual([200, undefined]);
  expect(made.body).toMatchObject({ domain: `BÜCHER.${cluster}`, access_restrictions: { blocked_countries: ['de'] } });

  const id = (await api.call('GET', '/api/reverse-proxies/clusters')).body[0].id;
  const reader = followServices(api.engine, { account: api.account, id: 'bern-1', token: 'none', cluster: id });
  const [sent] = asObjects((await reader.next())?.data['services']);
  expect(sent).toMatchObject({
    domain: `xn--bcher-kva.${cluster}`,
    access_restrictions: { blocked_countries: ['DE'] },
    targets: [{ options: { request_timeout: '2m0s' } }],
  });
  const url = `${path}/${asObject(sent)['id']}`;
  const respelled = await api.call('PUT', url, service(`bücher.${cluster}`, 'De', '2m'));
  expect([respelled.status, respelled.body.domain]).toEqual([200, `bücher.${cluster}`]);
  expect(await reader.next()).toBeUndefined();
  await api.call('PUT', url, service(`bücher.${cluster}`, 'fr', '2m'));
  expect((await reader.next())?.data['put']).toMatchObject([{ access_restrictions: { blocked_countries: ['FR'] } }]);
});
