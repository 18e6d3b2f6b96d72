import { describe, expect, it } from 'vitest';
import { sharedApi } from '../../api/setup.ts';
import { rowsOf } from '../../commit/office.ts';
import type { Product } from './product.ts';
import { device, startVendorA, startVendorB, startVendorC, startVendorD } from './products.ts';
import { bodies, runPost, sharedScene } from './scene.ts';

const starts = {
  'vendor-a': startVendorA,
  'vendor-b': startVendorB,
  'vendor-c': startVendorC,
  'vendor-d': startVendorD,
};
type Vendor = keyof typeof starts;
const server = sharedApi();
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

async function watched(vendor: Vendor, change: (product: Product) => void, more = {}) {
  const scene = await sharedScene(server());
  const { api, status, integrate } = scene;
  const rows = (sql: string) => rowsOf(api.engine.database, sql);
  const [{ last } = {}] = await rows('select coalesce(max(id), 0)::text as last from audit_events');
  const product = await starts[vendor]();
  product.devices = [device('good')];
  change(product);
  const body = { ...bodies[vendor](product.url, [await api.group('checked')]), ...more };
  await integrate(vendor, body);
  runPost(api.engine, { everyMs: 100 });
  return {
    ...{ ...scene, product, rows, body },
    /** Waits until another sync has finished. */
    async synced(): Promise<void> {
      const { lastSyncedAt } = await status(vendor);
      await expect.poll(async () => (await status(vendor)).lastSyncedAt).not.toBe(lastSyncedAt);
    },
    warnings: async () =>
      (
        await rows(
          `select meta from audit_events where id > ${last} and activity_code = 'edr.sync.token.expire' order by id`,
        )
      ).map(({ meta }) => meta),
    asked: () => product.requests.filter(({ url }) => /api-token-details|applications/.test(url.pathname)).length,
  };
}

describe.each(['vendor-a', 'vendor-b'] as const)('the %s integration', (vendor) => {
  it('warns 30 and 7 days before its credentials expire, once each, and shows it in the status', async () => {
    const ends = inDays(29);
    const { warnings, synced, product, rows, asked, status } = await watched(vendor, (one) => {
      one.credentialEnds = ends;
    });
    await expect.poll(warnings).toEqual([{ ends, platform: vendor }]);
    expect((await status(vendor)).message).toMatch(
      new RegExp(
        `; its credentials end on ${ends}: create new ones in the product, and write them into the integration$`,
      ),
    );
    await synced();
    expect([await warnings(), asked()]).toEqual([[{ ends, platform: vendor }], 1]);
    const sooner = inDays(6);
    product.credentialEnds = sooner;
    await rows("update endpoint_security set credential_checked_at = now() - interval '25 hours' returning 1");
    await expect.poll(warnings).toEqual([ends, sooner].map((one) => ({ ends: one, platform: vendor })));
    await synced();
    expect(await warnings()).toHaveLength(2);
    expect(product.faults).toEqual([]);
  });

  it('does not warn while the expiry is far away or unknown', async () => {
    const { warnings, synced, product, rows, asked, status } = await watched(vendor, (one) => {
      one.credentialEnds = inDays(31);
    });
    await expect.poll(asked).toBe(1);
    await synced();
    product.credentialEnds = undefined;
    await rows("update endpoint_security set credential_checked_at = now() - interval '25 hours' returning 1");
    await expect.poll(asked).toBe(2);
    await synced();
    expect(await warnings()).toEqual([]);
    expect((await status(vendor)).message).toMatch(/keeps 0 out$/);
    expect(product.faults).toEqual([]);
  });
});

it('the expiry stated in a token is used without a request to the product', async () => {
  const seconds = Math.floor(Date.now() / 1000) + 86_400;
  const claims = Buffer.from(JSON.stringify({ sub: 'heddle', exp: seconds })).toString('base64url');
  const token = `eyJhbGciOiJFUzI1NiJ9.${claims}.c2ln`;
  const { warnings, asked } = await watched('vendor-a', () => undefined, { api_token: token });
  const ends = new Date(seconds * 1000).toISOString();
  await expect.poll(warnings).toEqual([{ ends, platform: 'vendor-a' }]);
  expect(asked()).toBe(0);
});

it.each(['vendor-a', 'vendor-b', 'vendor-c', 'vendor-d'] as const)(
  'credentials refused by %s are reported once, and again after they worked in between',
  async (vendor) => {
    const { warnings, synced, product, api, status } = await watched(vendor, () => undefined);
    await synced();
    const refuse = () => {
      product.revokeTokens();
      product.always({ status: 401, body: { error: 'invalid_client' } });
    };
    const ended = { reason: expect.stringContaining('401'), platform: vendor };
    const request = async () => {
      const { failures } = await status(vendor);
      expect((await api.call('POST', `/api/config/endpoint-security/${vendor}/sync`)).status).toBe(200);
      await expect.poll(async () => (await status(vendor)).failures).toBeGreaterThan(failures);
    };
    refuse();
    await expect.poll(async () => (await status(vendor)).failures).toBeGreaterThan(0);
    await request();
    await expect.poll(warnings).toEqual([ended]);
    await request();
    expect(await warnings()).toEqual([ended]);
    product.always(undefined);
    await synced();
    refuse();
    await expect.poll(async () => (await status(vendor)).failures).toBeGreaterThan(0);
    await request();
    await expect.poll(warnings).toEqual([ended, ended]);
  },
);
