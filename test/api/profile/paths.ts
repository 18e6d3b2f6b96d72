import { expect } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { type ProfileScene, type RowTests, setupKey } from './scene.ts';

const edr = '/api/integrations/edr';

/** Request for each endpoint security product, without groups. */
const products: Readonly<
  Record<string, { readonly vendor: string; readonly body: JsonObject; readonly secret: string }>
> = {
  sentinelone: {
    vendor: 'vendor-a',
    body: { api_token: 'a-token', api_url: 'https://a.example.com', last_synced_interval: 24, match_attributes: {} },
    secret: 'api_token',
  },
  intune: {
    vendor: 'vendor-b',
    body: { client_id: 'client', tenant_id: 'tenant', secret: 'b-secret', last_synced_interval: 24 },
    secret: 'secret',
  },
  fleetdm: {
    vendor: 'vendor-c',
    body: { api_token: 'c-token', api_url: 'https://c.example.com', last_synced_interval: 24, match_attributes: {} },
    secret: 'api_token',
  },
  falcon: {
    vendor: 'vendor-d',
    body: { client_id: 'client', secret: 'd-secret', cloud_id: 'us-1', zta_score_threshold: 50 },
    secret: 'secret',
  },
};

/** Returns the tests of rows about paths, and about members that requests may omit. */
export const paths = (scene: ProfileScene): RowTests => {
  const { ours, theirs } = scene;
  return {
    ...Object.fromEntries(
      Object.keys(products).map((product) => [`the path of ${product}`, () => expectProduct(scene, product)]),
    ),

    async 'the path of directory sync'() {
      const path = '/api/integrations/azure-idp';
      const made = await theirs('POST', path, {
        ...{ client_secret: 'c2VjcmV0', client_id: 'client', tenant_id: 'tenant', host: 'microsoft.com' },
        ...{ sync_interval: 300, group_prefixes: [], user_group_prefixes: [] },
      });
      expect(made.status).toBe(200);
      expect((await theirs('GET', `${path}/${made.body.id}`)).body).toEqual(made.body);
      expect((await ours('GET', '/api/integrations/directory-idp')).body).toEqual([made.body]);
      expect((await ours('GET', path)).status).toBe(404);
      expect((await theirs('DELETE', `${path}/${made.body.id}`)).status).toBe(200);
    },

    'the kept api_token of endpoint security': () => expectKept(scene, ['sentinelone', 'fleetdm']),
    'the kept secret of endpoint security': () => expectKept(scene, ['intune', 'falcon']),
    'the kept client_id of endpoint security': () => expectKept(scene, ['falcon'], 'client_id'),

    async 'setup keys without a limit of uses'() {
      const made = await theirs('POST', '/api/setup-keys', { ...setupKey, usage_limit: null });
      expect(made).toMatchObject({ status: 200, body: { usage_limit: 0 } });
      expect((await ours('POST', '/api/setup-keys', { ...setupKey, usage_limit: null })).status).toBe(422);
    },

    async 'the platform of a stream'() {
      for (const path of ['/api/event-streaming', '/api/integrations/event-streaming']) {
        const made = await theirs('POST', path, {
          platform: 'datadog',
          config: { api_key: 'key', api_url: 'https://logs.example.com' },
          enabled: true,
        });
        expect(made.status).toBe(200);
        const changed = await theirs('PUT', `${path}/${made.body.id}`, { config: {}, enabled: false });
        expect(changed.body).toMatchObject({ platform: 'datadog', enabled: false, config: made.body.config });
        expect((await ours('PUT', `${path}/${made.body.id}`, { config: {}, enabled: false })).status).toBe(422);
      }
    },
  };
};

async function expectProduct({ api, ours, theirs }: ProfileScene, product: string): Promise<void> {
  const { vendor = '', body = {} } = products[product] ?? {};
  const groups = [await api().group(`peers of ${product}`)];
  const made = await theirs('POST', `${edr}/${product}`, { ...body, groups });
  expect(made.status).toBe(200);
  expect((await theirs('GET', `${edr}/${product}`)).body).toEqual(made.body);
  expect((await ours('GET', `${edr}/${vendor}`)).body).toEqual(made.body);
  expect((await theirs('GET', `${edr}/${vendor}`)).body).toEqual(made.body);
  expect((await ours('GET', `${edr}/${product}`)).status).toBe(404);
  expect((await theirs('DELETE', `${edr}/${product}`)).status).toBe(200);
}

/**
 * Checks that a replace without the secret keeps the stored secret, and that the specification refuses such a replace.
 */
async function expectKept({ api, ours, theirs }: ProfileScene, of: readonly string[], member?: string): Promise<void> {
  for (const product of of) {
    const { vendor = '', body = {}, secret: secretMember = '' } = products[product] ?? {};
    const secret = member ?? secretMember;
    const groups = [await api().group(`devices of ${product} ${secret}`)];
    await theirs('POST', `${edr}/${product}`, { ...body, groups });
    const { [secret]: _, ...rest } = body;
    const stored = async () =>
      (await api().engine.snapshots.atLeast(api().account, await api().revision())).ofKind(kindOf(vendor))[0]?.spec[
        secret
      ];
    const before = await stored();
    const changed = await theirs('PUT', `${edr}/${product}`, { ...rest, groups, enabled: false });
    expect(changed).toMatchObject({ status: 200, body: { enabled: false } });
    expect(await stored()).toBe(before);
    expect((await ours('PUT', `${edr}/${vendor}`, { ...rest, groups })).status).toBe(422);
    await theirs('DELETE', `${edr}/${product}`);
  }
}

function kindOf(vendor: string): string {
  return `EdrVendor${vendor.at(-1)?.toUpperCase()}`;
}
