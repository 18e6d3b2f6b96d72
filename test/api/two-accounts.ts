import { beforeAll, expect } from 'vitest';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { createAccountFor } from '../../src/features/accounts/join.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { addPeers } from '../setup/peers.ts';
import { operationsOf } from './described.ts';
import { doc } from './documents.ts';
import { sharedApi, type TestApi } from './setup.ts';

/** Sends a request as a user of an account. */
export type Ask = (
  method: string,
  url: string,
  body?: Json,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Returns a function that sends requests with a token. */
export const asker =
  ({ app }: TestApi, token: string): Ask =>
  async (method, url, body) => {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        authorization: `Token ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return { status: response.statusCode, text: response.body };
  };

/** A token of the owner of each account. */
export const tokens = [81, 82].map((byte) => makeToken('nbp_', new Uint8Array(32).fill(byte)));

async function tokenFor(api: TestApi, account: string, at: number): Promise<string> {
  const { database, newId, now, snapshots } = api.engine;
  const owner = (await snapshots.fresh(account)).ofKind('User').find(({ spec }) => spec['role'] === 'owner');
  const [id, value] = [newId(), tokens[at] ?? ''];
  const who = { account, id, user: owner?.id ?? '', createdBy: owner?.id ?? '', name: 'test' };
  await insertToken(database, { ...who, hash: hashToken(value), createdAt: now(), expiresAt: '2999-01-01T00:00:00Z' });
  return value;
}

/** Creates one object of most kinds. All names contain `mark`, which identifies the account. */
async function fill(api: TestApi, ask: Ask, account: string, mark: string): Promise<void> {
  const peers = await addPeers(api.engine, account, [`${mark}-pc`, `${mark}-gate`]);
  const make = async (url: string, body: JsonObject): Promise<string> => {
    const { status, text } = await ask('POST', url, body);
    expect([url, status, status < 300 ? '' : text]).toEqual([url, expect.any(Number), '']);
    return String(JSON.parse(text).id);
  };
  const named = { name: `${mark} thing`, description: mark };
  const group = await make('/api/groups', { name: `${mark} group`, peers });
  const rule = { name: mark, enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
  const rules = [{ ...rule, sources: [group], destinations: [group] }];
  await make('/api/policies', { ...named, enabled: true, rules });
  await make('/api/posture-checks', { ...named, checks: { client_version_check: { min_version: '0.30.0' } } });
  const network = await make('/api/networks', named);
  const inside = { address: `${mark}.internal.example.com`, enabled: true, groups: [group] };
  await make(`/api/networks/${network}/resources`, { ...named, ...inside });
  const route = { network_id: mark, network: '10.9.0.0/24', peer: peers[1] ?? '', metric: 9999, masquerade: true };
  const more = { enabled: true, groups: [group], keep_route: false };
  await make('/api/routes', { description: mark, ...route, ...more });
  const zone = { name: mark, domain: `${mark}.example.org`, enable_search_domain: false, distribution_groups: [group] };
  const zoneId = await make('/api/dns/zones', zone);
  const record = { name: `a.${mark}.example.org`, type: 'A', content: '10.0.0.1', ttl: 300 };
  await make(`/api/dns/zones/${zoneId}/records`, record);
  const key = { name: mark, type: 'reusable', expires_in: 86400, auto_groups: [group], usage_limit: 0 };
  await make('/api/setup-keys', key);
  const bot = { name: `${mark} bot`, role: 'admin', auto_groups: [group], is_service_user: true };
  const user = await make('/api/users', bot);
  await ask('POST', `/api/users/${user}/tokens`, { name: mark, expires_in: 30 });
  await make('/api/integrations/scim-idp', { provider: 'generic', prefix: mark });
  const channel = {
    type: 'email',
    target: { emails: [`${mark}@example.com`] },
    event_types: ['user.join'],
    enabled: true,
  };
  await make('/api/integrations/notifications/channels', channel);
  const files = [{ path: `${mark}.yaml`, text: doc('Group', `${mark}-declared`, `name: ${mark} declared`) }];
  expect((await ask('POST', '/api/config/apply', { source: mark, files })).status).toBe(200);
  expect((await ask('POST', '/api/config/plans', { source: mark, files })).status).toBeLessThan(300);
}

const streams = ['/api/config/events'];
const ofServer = ['/metrics', '/docs', '/api/openapi.json'];

/** Creates one server with two accounts, `alder` and `birch`, for all tests of a file. */
export function twoAccounts() {
  const api = sharedApi();
  let other = '';
  let others: readonly string[] = [];
  /** One id of each kind in `others`. */
  let firsts: readonly string[] = [];

  beforeAll(async () => {
    const { engine, account } = api();
    await fill(api(), asker(api(), await tokenFor(api(), account, 0)), account, 'alder');
    const person = {
      issuer: 'https://id.example.com',
      subject: 'bea',
      email: 'bea@birch.example',
      emailVerified: true,
    };
    await createAccountFor(engine, { ...person, name: 'Bea Birch' }, 'birch.example');
    other = (await findEntry(engine.database, 'domain', 'birch.example')) ?? '';
    await fill(api(), asker(api(), await tokenFor(api(), other, 1)), other, 'birch');
    const state = await engine.snapshots.fresh(other);
    // Sequential ids are the same in every account.
    const objects = [...state.objects()].filter(({ id }) => !/-\d+$/.test(id));
    others = [other, ...objects.map(({ id }) => id)];
    firsts = [...new Map(objects.map(({ kind, id }) => [kind, id])).values()];
  });

  const leaks = (text: string) => [...others, 'birch', 'Birch'].filter((mark) => text.includes(mark));

  /** Sends every GET of the OpenAPI document whose path is chosen as one account. Returns what leaked, by URL. */
  async function walk(ask: Ask, isChosen: (path: string) => boolean = () => true) {
    const document = JSON.parse((await ask('GET', '/api/openapi.json')).text);
    const answers: Record<string, string> = {};
    for (const { method, path } of operationsOf(document)) {
      if (method !== 'get' || streams.includes(path) || ofServer.includes(path) || !path.startsWith('/api/')) continue;
      if (!isChosen(path)) continue;
      const ids = path.includes('{') ? firsts : [''];
      for (const id of ids) {
        const url = path.replace(/\{n\}/g, '1').replace(/\{\w+\}/g, id);
        const { status, text } = await ask('GET', url);
        // The answer may repeat the id in the URL to the caller who sent it.
        const reported = id === '' ? text : text.replaceAll(id, '');
        if (leaks(reported).length > 0) answers[url] = `${status} tells ${leaks(reported).join(', ')}`;
        if (id !== '' && status === 200 && !path.includes('{revision}')) answers[url] = 'is found';
        if (status >= 500) answers[url] = String(status);
      }
    }
    return answers;
  }

  return {
    api,
    /** The id of the account `birch`. */
    other: () => other,
    /** Returns the names and ids of `birch` that a text contains. */
    leaks,
    walk,
  };
}
