import { beforeAll, expect } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from '../setup/objects.ts';
import { type Answer, sharedApi, type TestApi } from './setup.ts';

export const tenants = '/api/integrations/msp/tenants';
export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);

/** Sends a request with the token of a user of another account. */
export type Ask = (method: string, url: string, body?: Json) => Promise<Answer>;

/** Starts one server for a test file about tenants, with a group whose members manage them. */
export function tenantsScene() {
  /** TXT records in DNS, by name. */
  const records = new Map<string, readonly string[]>();
  const api = sharedApi({
    async resolveTxt(name) {
      if (name.includes('broken')) throw new Error('SERVFAIL');
      return records.get(name) ?? [];
    },
  });
  let group = '';
  beforeAll(async () => {
    group = await api().group('consultants');
  });
  const tenant = (domain: string, more: JsonObject = {}): JsonObject => ({
    name: `Tenant ${domain}`,
    domain,
    groups: [{ id: group, role: 'admin' }],
    ...more,
  });
  const create = async (domain: string) => (await api().call('POST', tenants, tenant(domain))).body;
  const shown = async (id: string) =>
    (await api().call('GET', tenants)).body.find((item: JsonObject) => item['id'] === id);
  const act = (id: string, what: string, body?: Json, method = 'POST') =>
    api().call(method, `${tenants}/${id}/${what}`, body);
  const prove = async (made: JsonObject): Promise<Answer> => {
    records.set(`_heddle-challenge.${made['domain']}`, ['v=spf1 -all', String(made['dns_challenge'])]);
    return act(String(made['id']), 'dns');
  };

  /** Creates a separate account with a proved domain: a tenant that was proved and then unlinked. */
  async function accountOf(domain: string): Promise<{ readonly id: string; readonly owner: string }> {
    const made = await create(domain);
    expect((await prove(made)).status).toBe(200);
    const owner = await addUser(api(), made.id, 'owner', { role: 'admin' });
    expect((await act(made.id, 'unlink', { owner })).status).toBe(200);
    return { id: made.id, owner };
  }

  return {
    ...{ api, records, tenant, create, shown, act, prove, accountOf },
    group: () => group,
    signIn: (account: string, user: string) => signIn(api(), account, user),
    ownerOf: (account: string) => ownerOf(api(), account),
    addUser: (account: string, name: string, spec?: JsonObject) => addUser(api(), account, name, spec),
    codesOf: (id: string) => codesOf(api(), id),
    countAccounts: () => countAccounts(api()),
  };
}

let tokens = 0;
async function signIn({ engine, call }: TestApi, account: string, user: string): Promise<Ask> {
  const token = makeToken('nbp_', new Uint8Array(32).fill(100 + ++tokens));
  const { database, newId, now } = engine;
  const [createdAt, expiresAt] = [now(), '2999-01-01T00:00:00Z'];
  const who = { account, id: newId(), user, createdBy: user };
  await insertToken(database, { ...who, name: 'test', hash: hashToken(token), createdAt, expiresAt });
  return (method, url, body) => call(method, url, body, { authorization: `Token ${token}` });
}

async function ownerOf(api: TestApi, account: string): Promise<Ask> {
  const state = await api.engine.snapshots.fresh(account);
  const owner = state.ofKind('User').find(({ spec }) => spec['role'] === 'owner');
  return signIn(api, account, owner?.id ?? '');
}

async function addUser({ engine }: TestApi, account: string, name: string, spec: JsonObject = {}): Promise<string> {
  const kind = engine.registry.get('User');
  const id = engine.newId();
  const person = { name, email: `${name}@example.com`, role: 'user', auto_groups: [], is_service_user: false, ...spec };
  const { spec: canonical } = canonicalSpec(kind, person);
  const user = storedObject(engine, { id, kind: 'User', spec: canonical, derived: {} }, engine.now());
  await putObjects(engine, account, () => [user]);
  return id;
}

async function codesOf({ engine, account }: TestApi, id: string) {
  const [row] = await engine.database.inAccount(account, [
    {
      sql: 'select array_agg(activity_code order by id) as codes from audit_events where target_id = $1',
      parameters: [id],
    } as never,
  ]);
  return (row as unknown as readonly { readonly codes: readonly string[] }[])[0]?.codes;
}

async function countAccounts({ engine }: TestApi): Promise<number> {
  const [row] = await engine.database.lookUp({
    sql: 'select count(*) as count from accounts',
    parameters: [],
  } as never);
  return (row as { readonly count: number }).count;
}
