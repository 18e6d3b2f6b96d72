import { describe, expect, it } from 'vitest';
import { openVendorA } from '../../../src/features/integrations/endpoint-security/vendors/a.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { sharedApi } from '../../api/setup.ts';
import type { Product } from './product.ts';
import { device, startVendorA, startVendorB, startVendorC, startVendorD } from './products.ts';
import { bodies, runPost, sharedScene } from './scene.ts';

type Vendor = keyof typeof bodies;

interface Case {
  readonly start: () => Promise<Product>;
  /** Settings that state the requirements for a device. */
  readonly match: JsonObject;
  /** Members that make a device fail a requirement, by the expected reason. */
  readonly wrong: Readonly<Record<string, JsonObject>>;
}

const cases: Readonly<Record<Vendor, Case>> = {
  'vendor-a': {
    start: () => startVendorA(),
    match: {
      ...{ active_threats: 1, encrypted_applications: true, firewall_enabled: true, infected: false, is_active: true },
      ...{ is_up_to_date: true, network_status: 'connected', operational_state: 'na' },
    },
    wrong: {
      '2 active threats, and at most 1 are allowed': { activeThreats: 2 },
      'an unknown number of active threats, and at most 1 are allowed': { activeThreats: null },
      'its applications are not encrypted': { encryptedApplications: false },
      'the firewall is off': { firewallEnabled: null },
      'it is infected': { infected: true },
      'the agent is not active; the agent is not up to date': { isActive: false, isUpToDate: false },
      'its network status is not `connected`': { networkStatus: 'disconnected' },
      'its operational state is not `na`': { operationalState: 'partially_disabled' },
    },
  },
  'vendor-b': {
    start: () => startVendorB(),
    match: {},
    wrong: {
      'its compliance state is `inGracePeriod`, not `compliant`': { complianceState: 'inGracePeriod' },
      'its compliance state is `unknown`, not `compliant`': { complianceState: null },
    },
  },
  'vendor-c': {
    start: startVendorC,
    match: {
      ...{ disk_encryption_enabled: true, failing_policies_count_max: 1, vulnerable_software_count_max: 1 },
      ...{ status_online: true, required_policies: [3] },
    },
    wrong: {
      'its disk is not encrypted': { disk_encryption_enabled: null },
      'it is not online': { status: 'offline' },
      '2 failing policies, and at most 1 are allowed': { issues: { failing_policies_count: 2 } },
      '2 vulnerable programs, and at most 1 are allowed': {
        software: ['one', 'two', 'safe'].map((name) => ({
          name,
          vulnerabilities: name === 'safe' ? null : [{ cve: 'CVE-2026-1' }],
        })),
      },
      'it does not meet the policy 3': { policies: [{ id: 3, response: '' }] },
    },
  },
  'vendor-d': {
    start: () => startVendorD(),
    match: {},
    wrong: {
      'its assessment is 69, and at least 70 is needed': { score: 69 },
      'it has no assessment': { score: null },
    },
  },
};

const server = sharedApi();
const long = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

describe.each(Object.entries(cases))('the endpoint security product %s', (vendor, { start, match, wrong }) => {
  const name = vendor as Vendor;
  const product = name.replace('vendor-', 'vendor ').toUpperCase().replace('VENDOR', 'vendor');

  it('blocks peers by the facts that it returns about their devices', async () => {
    const { api, machines, integrate, standing, status } = await sharedScene(server());
    const labels = ['good', 'old', 'gone', ...Object.keys(wrong).map((_, at) => `wrong-${at}`)];
    const ids = await machines(...labels);
    const counterpart = await start();
    counterpart.devices = [
      device('good'),
      device('old', {}, { seenAt: long(25) }),
      ...Object.values(wrong).map((more, at) => device(`wrong-${at}`, more)),
    ];
    const checked = await api.group('checked', ids);
    await integrate(name, bodies[name](counterpart.url, [checked], match));
    runPost(api.engine);
    await expect.poll(() => status(name)).toMatchObject({ state: 'synced', devices: labels.length - 1 });
    const found = await standing(ids);
    expect(found).toEqual([
      undefined,
      expect.stringMatching(/the device was last seen at .*, more than 24 hours ago/),
      `${product}: no device has the serial number \`SN-gone\` or the hostname \`gone\``,
      ...Object.keys(wrong).map((text) => `${product}: ${text}`),
    ]);
    expect(counterpart.faults).toEqual([]);
  });

  it('is queried about a machine that has just enrolled', async () => {
    const { api, machines, integrate, standing, status } = await sharedScene(server());
    const counterpart = await start();
    counterpart.devices = [device('good'), device('bad', Object.values(wrong)[0])];
    const all = (await api.call('GET', '/api/groups')).body[0].id;
    await integrate(name, bodies[name](counterpart.url, [all], match));
    runPost(api.engine);
    await expect.poll(() => status(name)).toMatchObject({ state: 'synced' });
    const ids = await machines('good', 'bad', "o'neill");
    const why = `${product}: ${Object.keys(wrong)[0]}`;
    const gone = `${product}: no device has the serial number \`SN-o'neill\` or the hostname \`o'neill\``;
    await expect.poll(() => standing(ids)).toEqual([undefined, why, gone]);
  });

  it('is read page by page, even when its tokens are revoked meanwhile', async () => {
    const { api, machines, integrate, standing, status } = await sharedScene(server());
    const [last = ''] = await machines('m-2399');
    const counterpart = await start();
    counterpart.devices = Array.from({ length: 2400 }, (_, at) => device(`m-${at}`));
    const checked = await api.group('checked', [last]);
    await integrate(name, bodies[name](counterpart.url, [checked], match));
    // The tokens are revoked while the server reads the pages.
    counterpart.next(...Array.from({ length: 3 }, () => () => undefined), () => {
      counterpart.revokeTokens();
      return undefined;
    });
    runPost(api.engine);
    await expect.poll(() => status(name)).toMatchObject({ state: 'synced', devices: 2400 });
    expect(await standing([last])).toEqual([undefined]);
    expect(counterpart.faults.filter((fault) => !fault.includes('was not granted'))).toEqual([]);
  });

  it('is reported in one sentence, without secrets, when it refuses the credentials', async () => {
    const { api, integrate, status } = await sharedScene(server());
    const counterpart = await start();
    counterpart.devices = [device('good')];
    const checked = await api.group('checked');
    const secrets = { api_token: 'wrong-secret', secret: 'wrong-secret' };
    const body = bodies[name](counterpart.url, [checked], match);
    const given = Object.fromEntries(Object.entries(secrets).filter(([member]) => member in body));
    await integrate(name, { ...body, ...given });
    const post = runPost(api.engine);
    await expect.poll(() => status(name)).toMatchObject({ state: 'failing', deciding: false });
    const { message } = await status(name);
    expect(message).toMatch(
      /127\.0\.0\.1:\d+ .*401.*see whether the (credentials|client and its secret) are right and still valid/,
    );
    const events = JSON.stringify((await api.call('GET', '/api/events/audit')).body);
    expect([message, events, ...post.reports].join('\n')).not.toContain('wrong-secret');
    expect((await api.call('GET', '/api/config/status')).body.endpointSecurity).toEqual([
      { vendor: name, kind: expect.stringContaining('EdrVendor'), state: 'failing', message },
    ]);
  });
});

it('reading devices fails after 20,000 pages when a product never returns the last one', async () => {
  let pages = 0;
  const endless = openVendorA({ api_url: 'https://product.example.com' }, () => {
    pages += 1;
    return Promise.resolve({ status: 200, body: { data: [], pagination: { nextCursor: `cursor-${pages}` } } });
  });
  const read = async (): Promise<void> => {
    for await (const devices of endless.devices()) expect(devices).toEqual([]);
  };
  await expect(read()).rejects.toThrow('product.example.com answers with more than 20000 pages');
});
