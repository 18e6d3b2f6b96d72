import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import type { Database, RowsOf } from '../../src/db/database.ts';
import { createAccountFor } from '../../src/features/accounts/join.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { addPeers } from '../setup/peers.ts';
import { withInAccount, withoutAccountFilter } from '../setup/without-account-filter.ts';
import { operationsOf } from './described.ts';
import { doc } from './documents.ts';
import { apiOn, asOperator, sharedApi, type TestApi } from './setup.ts';

const api = sharedApi();
let other = '';
let others: readonly string[] = [];
/** One id of each kind in `others`. */
let firsts: readonly string[] = [];

/** Sends a request as a user of an account. */
type Ask = (method: string, url: string, body?: Json) => Promise<{ readonly status: number; readonly text: string }>;

const asker =
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

const tokens = [81, 82].map((byte) => makeToken('nbp_', new Uint8Array(32).fill(byte)));

async function tokenFor(account: string, at: number): Promise<string> {
  const { database, newId, now, snapshots } = api().engine;
  const owner = (await snapshots.fresh(account)).ofKind('User').find(({ spec }) => spec['role'] === 'owner');
  const [id, value] = [newId(), tokens[at] ?? ''];
  const who = { account, id, user: owner?.id ?? '', createdBy: owner?.id ?? '', name: 'test' };
  await insertToken(database, { ...who, hash: hashToken(value), createdAt: now(), expiresAt: '2999-01-01T00:00:00Z' });
  return value;
}

/** Creates one object of most kinds. All names contain `mark`, which identifies the account. */
async function fill(ask: Ask, account: string, mark: string): Promise<void> {
  const peers = await addPeers(api().engine, account, [`${mark}-pc`, `${mark}-gate`]);
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

beforeAll(async () => {
  const { engine, account } = api();
  await fill(asker(api(), await tokenFor(account, 0)), account, 'alder');
  const person = { issuer: 'https://id.example.com', subject: 'bea', email: 'bea@birch.example', emailVerified: true };
  await createAccountFor(engine, { ...person, name: 'Bea Birch' }, 'birch.example');
  other = (await findEntry(engine.database, 'domain', 'birch.example')) ?? '';
  await fill(asker(api(), await tokenFor(other, 1)), other, 'birch');
  const state = await engine.snapshots.fresh(other);
  // Sequential ids are the same in every account.
  const objects = [...state.objects()].filter(({ id }) => !/-\d+$/.test(id));
  others = [other, ...objects.map(({ id }) => id)];
  firsts = [...new Map(objects.map(({ kind, id }) => [kind, id])).values()];
});

/** Returns the names and ids of the other account that a text contains. */
function leaks(text: string): readonly string[] {
  return [...others, 'birch', 'Birch'].filter((mark) => text.includes(mark));
}

const streams = ['/api/config/events'];
const ofServer = ['/metrics', '/docs', '/api/openapi.json'];

/** Sends every GET of the OpenAPI document as one account. Returns what leaked, by URL. */
async function walk(ask: Ask): Promise<Readonly<Record<string, string>>> {
  const document = JSON.parse((await ask('GET', '/api/openapi.json')).text);
  const answers: Record<string, string> = {};
  for (const { method, path } of operationsOf(document)) {
    if (method !== 'get' || streams.includes(path) || ofServer.includes(path) || !path.startsWith('/api/')) continue;
    const places = path.includes('{') ? firsts : [''];
    for (const place of places) {
      const url = path.replace(/\{n\}/g, '1').replace(/\{\w+\}/g, place);
      const { status, text } = await ask('GET', url);
      // The answer may repeat the id in the URL to the caller who sent it.
      const reported = place === '' ? text : text.replaceAll(place, '');
      if (leaks(reported).length > 0) answers[url] = `${status} tells ${leaks(reported).join(', ')}`;
      if (place !== '' && status === 200 && !path.includes('{revision}')) answers[url] = 'is found';
      if (status >= 500) answers[url] = String(status);
    }
  }
  return answers;
}

describe('another account on the same server', () => {
  let servers: readonly TestApi[] = [];
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  const serve = async (database: Database): Promise<Ask> => {
    const server = await apiOn(database, async () => {});
    servers = [...servers, server];
    return asker(server, tokens[0] ?? '');
  };

  it('is not visible in any answer, error or count', async () => {
    expect(await walk(asker(api(), tokens[0] ?? ''))).toEqual({});
  });

  it('does have objects, which its own owner sees', async () => {
    const ask = asker(api(), tokens[1] ?? '');
    for (const url of ['/api/groups', '/api/peers', '/api/policies', '/api/setup-keys', '/api/config/revisions'])
      expect(leaks((await ask('GET', url)).text).length).toBeGreaterThan(0);
    for (const url of ['/api/peers', '/api/setup-keys'])
      expect(JSON.parse((await ask('GET', url)).text)).toHaveLength(url === '/api/peers' ? 2 : 1);
  });

  it('cannot read or change anything of the whole server', async () => {
    for (const [method, url] of [
      ['GET', '/metrics'],
      ['POST', '/api/config/secrets/rotate'],
      ['POST', '/api/config/idp/rotate'],
    ] as const) {
      const [first, second] = await Promise.all(tokens.map((token) => asker(api(), token)(method, url)));
      // Even users of the operator's account may not act as the operator.
      expect([url, first?.status, second?.status]).toEqual([url, 403, 403]);
      expect((await api().call(method, url, method === 'GET' ? undefined : {}, asOperator)).status).toBe(200);
    }
  });

  it('cannot be changed, and is answered with 404 like an unknown one', async () => {
    const ask = asker(api(), tokens[0] ?? '');
    const before = (await api().engine.snapshots.fresh(other)).revision;
    const group = (await api().engine.snapshots.fresh(other)).ofKind('Group')[0]?.id ?? '';
    for (const [method, url, body] of [
      ['PUT', `/api/groups/${group}`, { name: 'taken over', peers: [] }],
      ['DELETE', `/api/groups/${group}`],
      ['DELETE', `/api/accounts/${other}`],
    ] as const)
      expect([url, (await ask(method, url, body)).status]).toEqual([url, 404]);
    const borrowed = await ask('POST', '/api/setup-keys', {
      ...{ name: 'k', type: 'reusable', expires_in: 86400, auto_groups: [group], usage_limit: 0 },
    });
    expect([borrowed.status, leaks(borrowed.text.replaceAll(group, ''))]).toEqual([422, []]);
    expect((await api().engine.snapshots.fresh(other)).revision).toBe(before);
  });

  it('is not visible when no statement filters by account: row-level security suffices', async () => {
    const { database } = api().engine;
    let without = 0;
    const ask = await serve(
      withoutAccountFilter(database, () => {
        without++;
      }),
    );
    expect(await walk(ask)).toEqual({});
    expect(without).toBeGreaterThan(50);
  });

  it('is not visible without row-level security: the statements suffice', async () => {
    const { database } = api().engine;
    const ask = await serve(
      withInAccount(database, async (_, statements) => {
        const answers: unknown[] = [];
        await database.asOwner(async (run) => {
          for (const { sql, parameters } of statements) answers.push(await run(sql, parameters));
        });
        // The result has one list of rows for each statement, in order.
        return answers as unknown as RowsOf<typeof statements>;
      }),
    );
    expect(await walk(ask)).toEqual({});
  });

  it('does not reserve names', async () => {
    const ask = asker(api(), tokens[0] ?? '');
    expect((await ask('POST', '/api/groups', { name: 'birch group' })).status).toBe(200);
  });
});
