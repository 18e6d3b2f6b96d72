import { beforeAll } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from '../setup/objects.ts';
import { sharedApi, type TestApi } from './setup.ts';

export const services = '/api/reverse-proxies/services';
export const clusters = '/api/reverse-proxies/clusters';

/** Writes a proxy cluster into the account, in the form that its proxies register it. Returns its id. */
export async function addCluster(
  { engine, account }: TestApi,
  address: string,
  more: JsonObject = {},
): Promise<string> {
  const kind = engine.registry.get('ProxyCluster');
  const id = engine.newId();
  const spec = canonicalSpec(kind, { address, type: 'account', ...more }).spec;
  await putObjects(engine, account, () => [
    storedObject(engine, { id, kind: kind.name, spec, derived: {} }, engine.now()),
  ]);
  return id;
}

/**
 * Starts a server for the tests of a file, with a peer, a group, a network and two clusters. Returns them with helpers
 * that make services.
 */
export function serviceScene() {
  const shared = sharedApi();
  const made = { peer: '', users: '', network: '' };
  beforeAll(async () => {
    [made.peer = ''] = await shared().peers('web');
    made.users = await shared().group('users');
    made.network = (await shared().call('POST', '/api/networks', { name: 'office' })).body.id;
    await addCluster(shared(), 'proxy.example.com', { supports_custom_ports: true, supports_reputation: true });
    await addCluster(shared(), 'plain.example.com');
  });
  let domains = 0;
  return {
    shared,
    made,
    /** Returns the body of a service with a unique domain. */
    body(more: JsonObject = {}): JsonObject {
      domains += 1;
      return { name: 'App', domain: `app${domains}.proxy.example.com`, enabled: true, ...more };
    },
    target(more: JsonObject = {}): JsonObject {
      return { target_id: made.peer, target_type: 'peer', protocol: 'http', port: 8080, enabled: true, ...more };
    },
    post: (value: JsonObject, api = shared()) => api.call('POST', services, value),
    put: (id: string, value: JsonObject, api = shared()) => api.call('PUT', `${services}/${id}`, value),
    get: (id: string, api = shared()) => api.call('GET', `${services}/${id}`),
    remove: (id: string, api = shared()) => api.call('DELETE', `${services}/${id}`),
    async resource(name: string, address: string): Promise<string> {
      const given = { name, address, enabled: true, groups: [] };
      return (await shared().call('POST', `/api/networks/${made.network}/resources`, given)).body.id;
    },
  };
}
