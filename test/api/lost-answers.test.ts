import type { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { resealAll } from '../../src/db/sealing/rotate.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { makeMachineKeys, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { sealContexts } from '../../src/model/schema/sealing.ts';
import { doc } from './documents.ts';
import { isReplay, losing, post, twice } from './losing.ts';
import { callAs, invitee, person, rowsOf } from './people.ts';
import { type Answer, sharedApi, type TestApi, testApi } from './setup.ts';

const api = sharedApi();

const file = (source: string, text: string): JsonObject => ({ source, files: [{ path: 'a.yaml', text }] });
const groups = (...names: readonly string[]) => names.map((name) => doc('Group', name, `name: ${name}`)).join('---\n');
const setupKey = { name: 'k', type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 };
const statedKey = doc('SetupKey', 'enrol', 'type: reusable\nexpires_in: 86400\nauto_groups: []\nusage_limit: 0');
const plannedKey = statedKey.replace('enrol', 'planned');
const git = { name: 'office', type: 'git', url: 'https://example.com/network.git', branch: 'main' };

const ownerOf = async ({ engine, account }: TestApi) =>
  (await engine.snapshots.current(account)).ofKind('User')[0]?.id ?? '';

const age = ({ engine }: TestApi, hours: number) =>
  engine.database.asOwner([`update idempotency_keys set created_at = created_at - interval '${hours} hours'`]);

/** A request that creates something, and the generated secret in its answer. */
interface Made {
  readonly what: string;
  /** Creates what the request needs, and returns its path. */
  prepare(own: TestApi): Promise<string>;
  readonly body?: () => Json;
  secret(answer: Answer): unknown;
}

const made: readonly Made[] = [
  {
    what: 'a setup key',
    prepare: async () => '/api/setup-keys',
    body: () => setupKey,
    secret: ({ body }) => body.key,
  },
  {
    what: 'a setup key of documents',
    prepare: async () => '/api/config/apply',
    body: () => file('team', statedKey),
    secret: ({ body }) => body.outputs[0].value,
  },
  {
    what: 'a stored plan with a setup key',
    prepare: async (own) => {
      const { id } = (await own.call('POST', '/api/config/plans', file('planned', plannedKey))).body;
      return `/api/config/plans/${id}/apply`;
    },
    body: () => ({}),
    secret: ({ body }) => body.outputs[0].value,
  },
  {
    what: 'an integration',
    prepare: async () => '/api/integrations/scim-idp',
    body: () => ({ prefix: 'p', provider: 'generic' }),
    secret: ({ body }) => body.auth_token,
  },
  {
    what: 'a new token of an integration',
    prepare: async (own) => {
      const { id } = (await own.call('POST', '/api/integrations/scim-idp', { prefix: 'q', provider: 'generic' })).body;
      return `/api/integrations/scim-idp/${id}/token`;
    },
    secret: ({ body }) => body.auth_token,
  },
  {
    what: 'a person with a password',
    prepare: async () => '/api/users',
    body: () => person({ email: 'ana@example.com' }),
    secret: ({ body }) => body.password,
  },
  {
    what: 'a token',
    prepare: async (own) => `/api/users/${await ownerOf(own)}/tokens`,
    body: () => ({ name: 'CI', expires_in: 30 }),
    secret: ({ body }) => body.plain_token,
  },
  {
    what: 'a token of proxies',
    prepare: async () => '/api/reverse-proxies/proxy-tokens',
    body: () => ({ name: 'Bern' }),
    secret: ({ body }) => body.plain_token,
  },
  {
    what: 'an invite',
    prepare: async () => '/api/users/invites',
    body: () => invitee({ email: 'bea@example.com' }),
    secret: ({ body }) => body.invite_token,
  },
  {
    what: 'a new token of an invite',
    prepare: async (own) =>
      `/api/users/invites/${(await own.call('POST', '/api/users/invites', invitee())).body.id}/regenerate`,
    body: () => ({}),
    secret: ({ body }) => body.invite_token,
  },
];

describe('a creation that is retried because the server died after the commit', () => {
  it.each(made)(
    'returns the first answer with its generated value, and creates nothing twice: $what',
    async ({ prepare, body: make = () => undefined, secret }) => {
      const own = api();
      const [url, body] = [await prepare(own), make()];
      const [first, again] = await twice(own, url, body);
      expect([first.status, secret(first)]).toEqual([first.status, expect.stringMatching(/^\S{12,}$/)]);
      // The answer to a change contains the plan, which the history returns without the lines of files.
      if ('plan' in first.body)
        expect(again.body).toMatchObject({ revision: first.body.revision, outputs: first.body.outputs });
      else expect(again.body).toEqual(first.body);
      const shown = ({ status, headers }: Answer) =>
        [status, headers['cache-control'], headers['heddle-notice'], headers['etag']] as const;
      expect([isReplay(again), ...shown(again)]).toEqual([true, ...shown(first)]);
      const revision = await own.revision();
      expect(await rowsOf(own, 'idempotency_keys', `answer::text like '%${secret(first)}%'`)).toBe(0);
      await age(own, 25);
      const masked = await post(own, url, body, url);
      expect(JSON.stringify(masked.body)).not.toContain(String(secret(first)));
      expect(await own.revision()).toBe(revision);
    },
  );
});

it('generated values kept for a retry are sealed again when the encryption key is rotated', async () => {
  const [old, fresh] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const vault = createVault([old]);
  await using own = await testApi('postgres', { vault });
  const first = await losing(own, () => post(own, '/api/setup-keys', setupKey, 'k'));
  const { registry, database } = own.engine;
  const both = createVault([fresh, old]);
  await resealAll(database, { registry, vault: both, form: 'bound', acceptUnbound: true });
  const text = `select key, answer ->> 'sealed' as sealed from idempotency_keys`;
  const [row] = await database.lookUp(statement<{ readonly key: string; readonly sealed: string }>(text, []));
  const { key = '', sealed = '' } = row ?? {};
  expect([both.isCurrent(sealed, 'bound'), vault.isCurrent(sealed, 'bound')]).toEqual([true, false]);
  expect(both.open(sealed, sealContexts.answer(own.account, key))).toContain(first.body.key);
});

it('generated values kept for a retry are refused with 403 to a caller who has lost the right since', async () => {
  await using own = await testApi();
  const user = { name: 'a', is_service_user: true, role: 'admin', auto_groups: [] };
  const admin = (await own.call('POST', '/api/users', user)).body.id;
  const asAdmin = await callAs(own, admin);
  const asked = [
    ['/api/setup-keys', setupKey],
    ['/api/config/apply', file('team', statedKey)],
    ['/api/users/invites', invitee()],
  ] as const;
  const ask = ([url, body]: (typeof asked)[number]) => asAdmin('POST', url, body, { 'idempotency-key': url });
  for (const one of asked) expect((await losing(own, () => ask(one))).status).toBe(200);
  await own.call('PUT', `/api/users/${admin}`, { role: 'network_admin', auto_groups: [], is_blocked: false });
  for (const one of asked) {
    const { status, body } = await ask(one);
    expect([one[0], status, JSON.stringify(body)]).toEqual([one[0], 403, expect.not.stringMatching(/outputs|nbi_/)]);
  }
});

it('keeping generated values for a retry adds no SQL statement to the commit', async () => {
  await using own = await testApi();
  const { database } = own.engine;
  const { inAccount } = database;
  let sent = 0;
  const counting = (account: string, queries: readonly CompiledQuery<unknown>[], options?: { write?: boolean }) => {
    if (options?.write === true) sent += queries.length;
    return inAccount.call(database, account, queries, options);
  };
  // The wrapper returns the rows of the original method.
  Object.assign(database, { inAccount: counting });
  const statements = async (work: () => Promise<unknown>) => {
    sent = 0;
    await work();
    return sent;
  };
  const plain = await statements(() => post(own, '/api/groups', { name: 'g' }, 'k1'));
  const generating = await statements(() => post(own, '/api/setup-keys', setupKey, 'k2'));
  expect(generating).toBe(plain);
});

describe('a creation without generated values that is retried because the server died after the commit', () => {
  it('returns the source that was created', async () => {
    const own = api();
    const [first, again] = await twice(own, '/api/config/sources', git);
    expect([first.status, again.status, isReplay(again), again.body]).toEqual([201, 201, true, first.body]);
    const other = await post(own, '/api/config/sources', git, 'another');
    expect([other.status, other.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    const suspended = await twice(own, '/api/config/sources/office/suspend', undefined);
    expect(suspended.map(({ status, body }) => [status, body.suspended])).toEqual([
      [200, true],
      [200, true],
    ]);
  });

  it('returns the same peer of temporary access', async () => {
    const own = api();
    const [target = ''] = await own.peers('target');
    const input = { name: 'browser', wg_pub_key: tunnelKeyOf(makeMachineKeys()), rules: ['tcp/22', 'tcp/22'] };
    const [first, again] = await twice(own, `/api/peers/${target}/temporary-access`, input);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
  });

  it('returns the tenant that was created', async () => {
    const own = api();
    const body = { name: 'Acme', domain: 'acme.example.com', groups: [] };
    const [first, again] = await twice(own, '/api/integrations/msp/tenants', body);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
  });
});

describe('a stored plan that changes nothing', () => {
  const saved = async (own: TestApi) => {
    await own.call('POST', '/api/config/apply', file('unchanged', groups('one')));
    const { id } = (await own.call('POST', '/api/config/plans', file('unchanged', groups('one')))).body;
    return `/api/config/plans/${id}/apply`;
  };

  it('is reported as applied to a retry when the first answer was lost', async () => {
    const own = api();
    const url = await saved(own);
    const [first, again] = await twice(own, url, {});
    // No server works on the request any more, but the retry must wait until the first attempt counts as abandoned.
    expect([first.status, again.status]).toEqual([200, 409]);
    await own.engine.database.asOwner([
      'update idempotency_keys set attempted_at = to_timestamp(0) where status is null',
    ]);
    const later = await post(own, url, {}, url);
    expect([later.status, later.body.revision, later.body.plan.state]).toEqual([200, null, 'applied']);
    const other = await post(own, url, {}, 'applied');
    expect([other.status, other.body.message]).toEqual([412, expect.stringContaining('was applied already')]);
  });
});

describe('the refusal of a retry that took over a request', () => {
  it('is not stored when the first attempt turns out to have been committed', async () => {
    await using own = await testApi();
    const { database } = own.engine;
    const url = '/api/reverse-proxies/proxy-tokens';
    // Simulates a first attempt that commits while the second one runs.
    const first = await losing(own, () => post(own, url, { name: 'Bern' }, 'k'));
    await database.asOwner([
      `create table seen as select answer from idempotency_keys`,
      `update idempotency_keys set answer = null, attempted_at = to_timestamp(0)`,
      `create function late() returns trigger language plpgsql security definer as
         $$ begin new.answer := (select answer from seen); return new; end $$`,
      'create trigger late before update on idempotency_keys for each row when (new.status is null) execute function late()',
    ]);
    const second = await post(own, url, { name: 'Bern' }, 'k');
    await database.asOwner(['drop trigger late on idempotency_keys', 'drop function late', 'drop table seen']);
    expect([second.status, second.headers['retry-after']]).toEqual([409, '1']);
    expect((await post(own, url, { name: 'Bern' }, 'k')).body).toEqual(first.body);
  });
});
