import { describe, expect, it } from 'vitest';
import { createHub } from '../../../src/features/peers/streams/hub.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { sharedApi } from '../../api/setup.ts';
import { rowsOf } from '../../commit/office.ts';
import { connect } from '../../peers/follower.ts';
import { present } from '../../setup/present.ts';
import { certificate, privateKey } from '../../sources/https-certificate.ts';
import type { Played, Product, ProductAnswer } from './product.ts';
import { device, startVendorA, startVendorB, startVendorC, startVendorD } from './products.ts';
import { bodies, openScene, runPost, sharedScene } from './scene.ts';

const server = sharedApi();
const busy: ProductAnswer = { status: 429, headers: { 'retry-after': '1' } };
const firewall = { firewall_enabled: true };
const offWhy = 'vendor A: the firewall is off';

/** Opens a scene in which vendor A decides about two peers: it approves `good` and denies `bad`. */
async function decided(options: Parameters<typeof runPost>[1] = {}, openOn = () => sharedScene(server())) {
  const scene = await openOn();
  const ids = await scene.machines('good', 'bad');
  const checked = await scene.api.group('checked', ids);
  const product = await startVendorA();
  product.devices = [device('good'), device('bad', { firewallEnabled: false }), ...others(8)];
  await scene.integrate('vendor-a', bodies['vendor-a'](product.url, [checked], firewall));
  const post = runPost(scene.api.engine, { everyMs: 100, ...options });
  await expect.poll(() => scene.status('vendor-a')).toMatchObject({ state: 'synced', devices: 10 });
  const synced = () => scene.status('vendor-a').then(({ lastSyncedAt }) => lastSyncedAt);
  return { ...scene, ids, product, post, synced };
}

function others(count: number) {
  return Array.from({ length: count }, (_, at) => device(`other-${at}`));
}

describe('an endpoint security sync that loses devices', () => {
  it('keeps the earlier verdicts until a person approves it, and reports it', async () => {
    const { api, ids, product, standing, status, events } = await decided();
    product.devices = [];
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'held', devices: 10, foundDevices: 0 });
    expect(await standing(ids)).toEqual([undefined, offWhy]);
    const text =
      'vendor A knows 0 devices, and knew 10 before: more than 20 % are gone; the earlier verdicts stay in effect; approve the sync if this is right';
    expect((await status('vendor-a')).message).toBe(text);
    expect((await api.call('GET', '/api/config/status')).body.endpointSecurity).toMatchObject([{ message: text }]);
    expect((await events()).at(-1)).toBe('integrated-validator.sync.held');
    const approve = () => api.call('POST', '/api/config/endpoint-security/vendor-a/approve');
    expect((await approve()).body).toEqual({ devices: 0 });
    const gone = (name: string) =>
      `vendor A: no device has the serial number \`SN-${name}\` or the hostname \`${name}\``;
    await expect.poll(() => standing(ids)).toEqual([gone('good'), gone('bad')]);
    expect((await events()).filter((code) => code.includes('sync'))).toEqual([
      'integrated-validator.sync.held',
      'integrated-validator.sync.approved',
    ]);
    expect((await approve()).status).toBe(412);
  });

  it('continues automatically when the devices are back, or four of five of them', async () => {
    const { ids, product, standing, status, synced } = await decided();
    const all = product.devices;
    product.devices = all.slice(0, 7);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'held' });
    const before = await synced();
    product.devices = all.slice(0, 8);
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced', devices: 8 });
    expect(await synced()).not.toBe(before);
    expect(await standing(ids)).toEqual([undefined, offWhy]);
  });

  it('is held even as the first sync when the product returns no device at all', async () => {
    const { api, machines, integrate, standing, status } = await sharedScene(server());
    const ids = await machines('good');
    const product = await startVendorA();
    await integrate('vendor-a', bodies['vendor-a'](product.url, [await api.group('checked', ids)]));
    runPost(api.engine, { everyMs: 100 });
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'held', deciding: false });
    expect(await standing(ids)).toEqual([undefined]);
  });
});

describe('a failing endpoint security product', () => {
  it('keeps its verdicts until they expire, then blocks all peers, and recovers automatically', async () => {
    const { api, ids, product, standing, reach, status, events } = await decided();
    product.always({ status: 503 });
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'failing', deciding: true });
    expect((await status('vendor-a')).message).toBe(
      `${new URL(product.url).host} answers 503; it is tried again, and until that succeeds, the last verdicts stay in effect`,
    );
    expect(await standing(ids)).toEqual([undefined, offWhy]);
    await expect.poll(events).toContain('integrated-validator.sync.failed');
    await rowsOf(
      api.engine.database,
      "update endpoint_security set last_synced_at = now() - interval '25 hours' returning 1",
    );
    await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'untrusted' });
    const why = 'vendor A could not be queried for more than 24 hours';
    await expect.poll(() => standing(ids)).toEqual([why, why]);
    expect(await reach(ids)).toEqual([[], []]);
    product.always(undefined);
    await expect.poll(() => standing(ids)).toEqual([undefined, offWhy]);
    expect((await events()).filter((code) => code.includes('sync.failed'))).toHaveLength(1);
  });

  const faults: Readonly<Record<string, readonly ProductAnswer[]>> = {
    'server errors': [{ status: 500 }, { status: 502 }, { status: 504 }],
    'answers that end too early': ['truncate', 'hang up'],
    'an answer that never comes': ['never'],
  };
  it.each(Object.entries(faults))('is retried at once after %s', async (_, answers) => {
    const { product, synced, events } = await decided({ timeoutMs: 300 });
    const before = await synced();
    product.next(...answers);
    await expect.poll(synced).not.toBe(before);
    expect((await events()).filter((code) => code.includes('sync'))).toEqual([]);
    expect(product.faults).toEqual([]);
  });

  it('is not retried before its Retry-After is over', async () => {
    const { product, synced } = await decided();
    const before = await synced();
    const times: number[] = [];
    product.next(
      () => {
        times.push(Date.now());
        return busy;
      },
      () => {
        times.push(Date.now());
        return undefined;
      },
    );
    await expect.poll(() => times.length).toBe(2);
    expect(present(times[1]) - present(times[0])).toBeGreaterThanOrEqual(990);
    await expect.poll(synced).not.toBe(before);
    product.always({ status: 429, headers: { 'retry-after': '3600' } });
    const asked = product.requests.length;
    await expect.poll(() => product.requests.length).toBeGreaterThan(asked);
  });

  const wrong: Readonly<
    Record<string, readonly [() => Promise<Product>, 'vendor-a' | 'vendor-b' | 'vendor-d', ProductAnswer, RegExp]>
  > = {
    'a page without its list': [startVendorA, 'vendor-a', { status: 200, body: {} }, /answers without the list `data`/],
    'no such resource': [startVendorA, 'vendor-a', { status: 404 }, /answers 404; see whether the address is right/],
    'a refusal to list devices': [
      startVendorA,
      'vendor-a',
      { status: 403 },
      /answers 403; see whether the credentials may read/,
    ],
    'a redirect': [
      startVendorA,
      'vendor-a',
      { status: 302, headers: { location: 'http://127.0.0.2/' } },
      /answers with a redirect/,
    ],
    'a grant without a token': [
      startVendorB,
      'vendor-b',
      { status: 200, body: {} },
      /answers a token request without a token/,
    ],
    'a grant that is refused': [
      startVendorD,
      'vendor-d',
      { status: 400, body: { error: 'invalid_scope' } },
      /grants no token: it answers 400 \(invalid_scope\)/,
    ],
    'a page of more devices than were asked for': [
      startVendorA,
      'vendor-a',
      { status: 200, text: `{"data":[${'{},'.repeat(500)}{}]}` },
      /answers with 501 items in the list `data`, although at most 500 were requested/,
    ],
    'a page of values that take up much more memory than text': [
      startVendorA,
      'vendor-a',
      { status: 200, text: `{"data":[${'{},'.repeat(2_700_000)}{}]}` },
      /answers with more than 1000000 values; such an answer is not read/,
    ],
    'a page that is larger than any that is right': [
      startVendorA,
      'vendor-a',
      { status: 200, text: `{"data":[{"id":"${'i'.repeat(9_000_000)}"}]}` },
      /answers with more than 8388608 bytes/,
    ],
    'a grant that is no grant, and large': [
      startVendorB,
      'vendor-b',
      { status: 200, text: `{"access_token":"${'t'.repeat(70_000)}"}` },
      /answers with more than 65536 bytes/,
    ],
  };
  it.each(Object.entries(wrong))('is reported with a sentence about %s', async (_, [start, vendor, answer, text]) => {
    const { api, integrate, status } = await sharedScene(server());
    const product = await start();
    product.always(answer);
    await integrate(vendor, bodies[vendor](product.url, [await api.group('checked')]));
    runPost(api.engine);
    await expect.poll(() => status(vendor)).toMatchObject({ state: 'failing', message: expect.stringMatching(text) });
    expect((await status(vendor)).message).toMatch(
      /; it is tried again, and until that succeeds, it keeps no peer out$/,
    );
  });

  it('is not retried at once when the server crashed while reading its answer, but is after a regular stop', async () => {
    const { api, integrate, status } = await sharedScene(server());
    const product = await startVendorA();
    const { promise: held, resolve: release } = Promise.withResolvers<ProductAnswer>();
    product.next(() => held);
    await integrate('vendor-a', bodies['vendor-a'](product.url, [await api.group('checked')]));
    const post = runPost(api.engine, { timeoutMs: 60_000 });
    await expect.poll(() => product.requests.length).toBe(1);
    const dueInMs = async () => Date.parse((await status('vendor-a')).nextSyncAt ?? '') - Date.now();
    expect(await dueInMs()).toBeGreaterThan(5000);
    const stopped = post.stop();
    release('hang up');
    await stopped;
    expect(await dueInMs()).toBeLessThan(0);
  });

  it('is not retried at once when its pages never end, and its verdicts expire as usual', async () => {
    const { api, ids, product, status, standing } = await decided({ deadlineMs: 500 });
    await rowsOf(
      api.engine.database,
      "update endpoint_security set last_synced_at = now() - interval '25 hours' returning 1",
    );
    let pages = 0;
    const more = (): ProductAnswer => {
      pages += 1;
      product.next(more);
      return { status: 200, body: { data: [], pagination: { nextCursor: `cursor-${pages}` } } };
    };
    product.next(more);
    await expect
      .poll(() => status('vendor-a'))
      .toMatchObject({ state: 'untrusted', lastError: 'not all devices could be read within 0.5 s' });
    expect(pages).toBeGreaterThan(2);
    const why = 'vendor A could not be queried for more than 24 hours';
    expect(await standing(ids)).toEqual([why, why]);
  });

  const circles: Readonly<
    Record<string, readonly [() => Promise<Product>, keyof typeof bodies, RegExp, (url: string) => JsonObject]>
  > = {
    'a cursor': [startVendorA, 'vendor-a', /agents$/, () => ({ data: [], pagination: { nextCursor: 'again' } })],
    'a link': [
      startVendorB,
      'vendor-b',
      /managedDevices$/,
      (url) => ({ value: [], '@odata.nextLink': `${url}/v1.0/deviceManagement/managedDevices` }),
    ],
    'an id': [startVendorC, 'vendor-c', /hosts$/, () => ({ hosts: Array.from({ length: 100 }, () => ({ id: 7 })) })],
    'an offset': [
      startVendorD,
      'vendor-d',
      /devices-scroll/,
      () => ({ resources: ['id-1'], meta: { pagination: { offset: 'again' } } }),
    ],
  };
  it.each(Object.entries(circles))(
    'is read no further when %s leads back to an earlier page',
    async (_, [start, vendor, list, body]) => {
      const { api, integrate, status } = await sharedScene(server());
      const product = await start();
      const circle: Played = ({ url }) => {
        product.next(circle);
        return list.test(url.pathname) ? { status: 200, body: body(product.url) } : undefined;
      };
      product.next(circle);
      await integrate(vendor, bodies[vendor](product.url, [await api.group('checked')]));
      runPost(api.engine);
      await expect
        .poll(() => status(vendor))
        .toMatchObject({
          state: 'failing',
          lastError: expect.stringContaining('answers with a page that links back to an earlier one'),
        });
      expect(product.requests.length).toBeLessThan(12);
    },
  );

  it('never has its token sent to another host, wherever the link to the next page leads', async () => {
    const { api, integrate, status } = await sharedScene(server());
    const [product, foreign] = [await startVendorB(), await startVendorB()];
    product.next(() => undefined, {
      status: 200,
      body: { value: [], '@odata.nextLink': `${foreign.url}/v1.0/deviceManagement/managedDevices` },
    });
    await integrate('vendor-b', bodies['vendor-b'](product.url, [await api.group('checked')]));
    runPost(api.engine);
    await expect
      .poll(() => status('vendor-b'))
      .toMatchObject({ message: expect.stringContaining('links to a next page on another host') });
    expect(foreign.requests).toEqual([]);
  });
});

it('an endpoint security product behind a private authority is read only when the server trusts the authority', async () => {
  const { api, integrate, status } = await sharedScene(server());
  const product = await startVendorA({ key: privateKey, cert: certificate });
  product.devices = others(2);
  await integrate('vendor-a', bodies['vendor-a'](product.url, [await api.group('checked')]));
  const distrustful = runPost(api.engine);
  await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'failing' });
  expect((await status('vendor-a')).message).toContain('does not trust (DEPTH_ZERO_SELF_SIGNED_CERT)');
  await distrustful.stop();
  expect((await api.call('POST', '/api/config/endpoint-security/vendor-a/sync')).status).toBe(200);
  runPost(api.engine, { authorities: certificate });
  await expect.poll(() => status('vendor-a')).toMatchObject({ state: 'synced', devices: 2 });
});

it('a peer that endpoint security blocks is removed from the maps of other peers, and added again when allowed', async () => {
  const { api, ids, product } = await decided({}, openScene);
  const hub = createHub({
    ...{ engine: api.engine, now: Date.now },
    listener: { connected: () => undefined, gone: () => undefined },
    failed: () => undefined,
  });
  try {
    const followers = ids.map((peer) => connect(hub, { account: api.account, peer })[0]);
    const seen = () =>
      followers.map(({ map }, at) => [
        map?.self['state'],
        map?.peers.map(({ id }) => id).filter((id) => id !== ids[at]),
      ]);
    const [good, bad] = ids;
    const apart = [
      ['active', []],
      ['waiting', []],
    ];
    await expect.poll(seen).toEqual(apart);
    product.devices = [device('good'), device('bad'), ...others(8)];
    await expect.poll(seen).toEqual([
      ['active', [bad]],
      ['active', [good]],
    ]);
    product.devices = [device('good'), device('bad', { firewallEnabled: false }), ...others(8)];
    await expect.poll(seen).toEqual(apart);
  } finally {
    hub.close();
  }
});

it('an endpoint security sync without news writes no verdict, no event and no revision', async () => {
  const { api, synced, events } = await decided();
  const written = async () =>
    await rowsOf(api.engine.database, 'select peer_id, written::text from peer_status order by 1');
  const [before, revision, happened] = [await written(), await api.revision(), await events()];
  for (const _ of [1, 2]) {
    const last = await synced();
    await expect.poll(synced).not.toBe(last);
  }
  expect([await written(), await api.revision(), await events()]).toEqual([before, revision, happened]);
});
