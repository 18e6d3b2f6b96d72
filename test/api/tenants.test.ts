import { beforeAll, describe, expect, it } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { findRevision } from '../../src/db/commit/accounts.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { putObjects } from '../setup/objects.ts';
import { problemsOf } from './problems.ts';
import { type Answer, sharedApi } from './setup.ts';

/** What DNS says in these tests. */
const records = new Map<string, readonly string[]>();
const api = sharedApi({
  async resolveTxt(name) {
    if (name.includes('broken')) throw new Error('SERVFAIL');
    return records.get(name) ?? [];
  },
});
const tenants = '/api/integrations/msp/tenants';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
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

/** A call with the token of somebody in another account. */
type Ask = (method: string, url: string, body?: Json) => Promise<Answer>;
let tokens = 0;
async function signIn(account: string, user: string): Promise<Ask> {
  const token = makeToken('nbp_', new Uint8Array(32).fill(100 + ++tokens));
  const { database, newId, now } = api().engine;
  const [createdAt, expiresAt] = [now(), '2999-01-01T00:00:00Z'];
  const who = { account, id: newId(), user, createdBy: user };
  await insertToken(database, { ...who, name: 'test', hash: hashToken(token), createdAt, expiresAt });
  return (method, url, body) => api().call(method, url, body, { authorization: `Token ${token}` });
}

async function ownerOf(account: string): Promise<Ask> {
  const state = await api().engine.snapshots.fresh(account);
  const owner = state.ofKind('User').find(({ spec }) => spec['role'] === 'owner');
  return signIn(account, owner?.id ?? '');
}

async function addUser(account: string, name: string, spec: JsonObject = {}): Promise<string> {
  const { engine } = api();
  const kind = engine.registry.get('User');
  const id = engine.newId();
  const person = { name, email: `${name}@example.com`, role: 'user', auto_groups: [], is_service_user: false, ...spec };
  const { spec: canonical } = canonicalSpec(kind, person);
  const user = storedObject(engine, { id, kind: 'User', spec: canonical, derived: {} }, engine.now());
  await putObjects(engine, account, () => [user]);
  return id;
}

/** An account of its own whose domain is known: that of a tenant that was proved and let go. */
async function accountOf(domain: string): Promise<{ readonly id: string; readonly owner: string }> {
  const made = await create(domain);
  expect((await prove(made)).status).toBe(200);
  const owner = await addUser(made.id, 'owner', { role: 'admin' });
  expect((await act(made.id, 'unlink', { owner })).status).toBe(200);
  return { id: made.id, owner };
}

const codesOf = async (id: string) => {
  const [row] = await api().engine.database.inAccount(api().account, [
    {
      sql: 'select array_agg(activity_code order by id) as codes from audit_events where target_id = $1',
      parameters: [id],
    } as never,
  ]);
  return (row as unknown as readonly { readonly codes: readonly string[] }[])[0]?.codes;
};

describe('a tenant', () => {
  it('is made with an account of its own, and waits for the proof of its domain', async () => {
    const answer = await api().call('POST', tenants, tenant('Acme.Example.COM.'));
    const made = answer.body;
    expect([answer.status, made]).toEqual([
      200,
      {
        id: expect.any(String),
        name: 'Tenant Acme.Example.COM.',
        domain: 'acme.example.com',
        groups: [{ id: group, role: 'admin' }],
        created_at: timestamp,
        updated_at: timestamp,
        dns_challenge: expect.stringMatching(/^heddle-challenge=[0-9a-f]{40}$/),
        status: 'pending',
      },
    ]);
    expect((await api().call('GET', tenants)).body).toContainEqual(made);
    const inside = await ownerOf(made.id);
    const [account] = (await inside('GET', '/api/accounts')).body;
    expect(account).toMatchObject({ id: made.id, domain: '', domain_category: '' });
    expect((await inside('GET', '/api/groups')).body).toMatchObject([{ name: 'All' }]);
    expect((await inside('GET', tenants)).body).toEqual([]);
    expect((await inside('GET', '/api/config/revisions')).body).toMatchObject([{ revision: 1 }]);
  });

  it('is active once its domain was proved, which makes one revision in each account', async () => {
    const made = await create('proved.example.com');
    const before = await api().revision();
    const missing = await act(made.id, 'dns');
    expect([missing.status, missing.body.message]).toEqual([
      412,
      `the TXT record _heddle-challenge.proved.example.com does not say \`${made.dns_challenge}\` (it has 0 TXT records, none of them this one); add it and try again`,
    ]);
    records.set('_heddle-challenge.proved.example.com', ['heddle-challenge=other']);
    expect((await act(made.id, 'dns')).status).toBe(412);
    expect(await api().revision()).toBe(before);
    const proved = await prove(made);
    expect([proved.status, proved.body]).toEqual([200, '']);
    const active = await shown(made.id);
    expect(active).toEqual({ ...made, status: 'active', activated_at: timestamp, updated_at: timestamp });
    expect(await api().revision()).toBe(before + 1);
    const inside = await ownerOf(made.id);
    expect((await inside('GET', '/api/accounts')).body[0]).toMatchObject({
      domain: 'proved.example.com',
      domain_category: 'private',
    });
    expect((await inside('GET', '/api/config/revisions')).body).toHaveLength(2);
    expect((await act(made.id, 'dns')).status).toBe(200);
    expect(await api().revision()).toBe(before + 1);
    expect(await codesOf(made.id)).toEqual(['msp.tenant.create', 'msp.tenant.verify']);
  });

  it('is not proved by name servers that do not answer', async () => {
    const made = await create('broken.example.com');
    const answer = await act(made.id, 'dns');
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('no name server answers')]);
  });

  it('gets another name and other groups, never another domain', async () => {
    const made = await create('renamed.example.com');
    const one = `${tenants}/${made.id}`;
    const other = await api().group('juniors');
    const groups = [
      { id: group, role: 'owner' },
      { id: other, role: 'auditor' },
    ].sort((a, b) => (a.id < b.id ? -1 : 1));
    const before = await api().revision();
    expect((await api().call('PUT', one, made)).body).toEqual(made);
    expect(await api().revision()).toBe(before);
    const changed = await api().call('PUT', one, { name: 'Renamed', groups, domain: 'elsewhere.example.com' });
    expect(changed.body).toEqual({ ...made, name: 'Renamed', groups, updated_at: timestamp });
    expect((await api().call('PUT', one, { name: 'Renamed', groups: [] })).body.groups).toEqual([]);
    expect(await codesOf(made.id)).toEqual(['msp.tenant.create', 'msp.tenant.update', 'msp.tenant.update']);
    expect((await api().call('PUT', `${tenants}/nobody`, { name: 'x', groups: [] })).status).toBe(404);
  });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ name: undefined as never }, ['field_required ']],
    [{ domain: undefined as never }, ['field_required ']],
    [{ groups: undefined as never }, ['field_required ']],
    [{ name: '' }, ['value_too_short /name']],
    [{ domain: 'no domain' }, ['domain_invalid /domain']],
    [{ domain: 7 }, ['type_wrong /domain']],
    [{ groups: [{ id: 'nobody', role: 'admin' }] }, ['reference_unknown /groups/0/id']],
    [{ groups: [{ role: 'admin' }] }, ['field_required /groups/0']],
    [{ groups: [{ id: 'x' }] }, ['field_required /groups/0', 'reference_unknown /groups/0/id']],
    [{ groups: [{ id: 'x', role: 'king' }] }, ['reference_unknown /groups/0/id', 'value_not_allowed /groups/0/role']],
  ])('is refused with %j, and no account is made', async (more, problems) => {
    const accounts = await countAccounts();
    const answer = await api().call('POST', tenants, tenant('refused.example.com', more));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
    expect(await countAccounts()).toBe(accounts);
  });

  it('has a domain of its own', async () => {
    await create('twice.example.com');
    const accounts = await countAccounts();
    const again = await api().call('POST', tenants, tenant('TWICE.example.com'));
    expect([again.status, problemsOf(again)]).toEqual([409, ['value_taken /domain']]);
    expect(await countAccounts()).toBe(accounts);
  });

  it('of one domain is made once by 20 who try at the same time', async () => {
    const accounts = await countAccounts();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api().call('POST', tenants, tenant('contended.example.com'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect(await countAccounts()).toBe(accounts + 1);
  });

  it('keeps a group in use', async () => {
    const used = await api().group('used');
    await api().call('POST', tenants, tenant('uses.example.com', { groups: [{ id: used, role: 'user' }] }));
    const answer = await api().call('DELETE', `/api/groups/${used}`);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('msptenant')]);
  });

  it('is served at the price that was last chosen', async () => {
    const made = await create('priced.example.com');
    const chosen = await act(made.id, 'subscription', { priceID: 'price_team' });
    expect([chosen.status, chosen.body]).toEqual([200, '']);
    const before = await api().revision();
    expect((await act(made.id, 'subscription', { priceID: 'price_team' })).status).toBe(200);
    expect(await api().revision()).toBe(before);
    const state = await api().engine.snapshots.fresh(api().account);
    expect(state.get(made.id)?.derived['price_id']).toBe('price_team');
    expect(await codesOf(made.id)).toEqual(['msp.tenant.create', 'msp.tenant.subscription']);
    expect(problemsOf(await act(made.id, 'subscription', {}))).toEqual(['field_required ']);
    expect(problemsOf(await act(made.id, 'subscription', { priceID: '' }))).toEqual(['value_too_short /priceID']);
    expect((await act('nobody', 'subscription', { priceID: 'x' })).status).toBe(404);
  });
});

describe('a domain', () => {
  it('belongs to the first account that proves it', async () => {
    const first = await create('raced.example.com');
    const rival = await create('rival-msp.example.com');
    await prove(rival);
    const inside = await ownerOf(rival.id);
    const made = (await inside('POST', tenants, { name: 'Raced', domain: 'raced.example.com', groups: [] })).body;
    expect(made.status).toBe('pending');
    records.set('_heddle-challenge.raced.example.com', [first.dns_challenge, made.dns_challenge]);
    expect((await inside('POST', `${tenants}/${made.id}/dns`)).status).toBe(200);
    const late = await act(first.id, 'dns');
    expect([late.status, late.body.message]).toEqual([409, expect.stringContaining('already exists')]);
    expect((await shown(first.id)).status).toBe('pending');
  });

  it('is not its own tenant', async () => {
    const { id } = await accountOf('self.example.com');
    const inside = await ownerOf(id);
    const answer = await inside('POST', tenants, { name: 'Self', domain: 'self.example.com', groups: [] });
    expect(answer.status).toBe(409);
  });
});

describe('an account that is there already', () => {
  it('is invited, and its owner accepts', async () => {
    const { id, owner } = await accountOf('known.example.com');
    const accounts = await countAccounts();
    const made = await create('known.example.com');
    expect(made).toMatchObject({ id, status: 'existing', domain: 'known.example.com' });
    expect(await countAccounts()).toBe(accounts);
    for (const what of ['dns', 'unlink']) {
      const early = await act(id, what, what === 'unlink' ? { owner } : undefined);
      expect([what, early.status]).toEqual([what, 412]);
    }
    const invited = await act(id, 'invite');
    expect([invited.status, invited.body]).toEqual([
      200,
      { ...made, status: 'invited', invited_at: timestamp, updated_at: timestamp },
    ]);
    const before = await api().revision();
    expect((await act(id, 'invite')).body).toEqual(invited.body);
    expect(await api().revision()).toBe(before);
    const inside = await signIn(id, owner);
    const accepted = await inside('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
    expect([accepted.status, accepted.body]).toEqual([200, '']);
    expect(await shown(id)).toMatchObject({ status: 'active', activated_at: timestamp, invited_at: timestamp });
    expect((await inside('PUT', `${tenants}/${id}/invite`, { value: 'accept' })).status).toBe(412);
    expect((await act(id, 'invite')).status).toBe(412);
    expect(await codesOf(id)).toEqual(expect.arrayContaining(['msp.tenant.invite', 'msp.tenant.accept']));
  });

  it('may decline, and may be invited again', async () => {
    const { id, owner } = await accountOf('shy.example.com');
    await create('shy.example.com');
    const inside = await signIn(id, owner);
    const answer = (value: Json) => inside('PUT', `${tenants}/${id}/invite`, { value });
    expect((await answer('decline')).status).toBe(412);
    await act(id, 'invite');
    expect(problemsOf(await answer('maybe'))).toEqual(['value_not_allowed /value']);
    expect((await answer('decline')).status).toBe(200);
    const declined = await shown(id);
    expect([declined.status, declined.activated_at]).toEqual(['existing', undefined]);
    expect(await codesOf(id)).toEqual(expect.arrayContaining(['msp.tenant.decline']));
    expect((await act(id, 'invite')).body.status).toBe('invited');
  });

  it('is answered for by its owner alone', async () => {
    const { id } = await accountOf('guarded.example.com');
    await create('guarded.example.com');
    await act(id, 'invite');
    const admin = await signIn(id, await addUser(id, 'admin', { role: 'admin' }));
    for (const ask of [admin, api().call]) {
      const answer = await ask('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
      expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('only the owner')]);
    }
    expect((await act('nobody', 'invite', { value: 'accept' }, 'PUT')).status).toBe(404);
  });

  it('has one keeper', async () => {
    const { id } = await accountOf('wanted.example.com');
    await create('wanted.example.com');
    const rival = await accountOf('other-msp.example.com');
    const inside = await signIn(rival.id, rival.owner);
    await inside('POST', tenants, { name: 'Wanted', domain: 'wanted.example.com', groups: [] });
    expect((await inside('POST', `${tenants}/${id}/invite`)).status).toBe(200);
    const late = await act(id, 'invite');
    expect([late.status, late.body.message]).toEqual([412, expect.stringContaining('somebody else')]);
  });

  it('is not invited while its domain is to be proved, or when nobody knows it', async () => {
    const made = await create('fresh.example.com');
    expect((await act(made.id, 'invite')).status).toBe(412);
    expect((await act('nobody', 'invite')).status).toBe(404);
  });
});

describe('letting a tenant go', () => {
  it('gives its account to a person there, and ends the link', async () => {
    const made = await create('freed.example.com');
    await prove(made);
    const [owner, service, blocked] = [
      await addUser(made.id, 'ana'),
      await addUser(made.id, 'robot', { is_service_user: true, email: '' }),
      await addUser(made.id, 'eve', { is_blocked: true }),
    ];
    const state = await api().engine.snapshots.fresh(made.id);
    const machine = state.ofKind('User').find(({ spec }) => spec['role'] === 'owner')?.id ?? '';
    for (const other of ['nobody', service, blocked, machine]) {
      const answer = await act(made.id, 'unlink', { owner: other });
      expect([answer.status, problemsOf(answer)]).toEqual([422, ['tenant_owner_invalid /owner']]);
    }
    const gone = await act(made.id, 'unlink', { owner });
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect(await shown(made.id)).toBeUndefined();
    const after = await api().engine.snapshots.fresh(made.id);
    expect([after.get(owner)?.spec['role'], after.get(machine)]).toEqual(['owner', undefined]);
    expect(after.get(made.id)?.derived['msp']).toBeUndefined();
    expect(await codesOf(made.id)).toEqual(['msp.tenant.create', 'msp.tenant.verify', 'msp.tenant.unlink']);
    expect((await act(made.id, 'unlink', { owner })).status).toBe(404);
    expect((await create('freed.example.com')).status).toBe('existing');
  });

  it('wants an owner', async () => {
    const made = await create('stuck.example.com');
    expect(problemsOf(await act(made.id, 'unlink', {}))).toEqual(['field_required ']);
    expect(problemsOf(await act(made.id, 'unlink', { owner: 7 }))).toEqual(['type_wrong /owner']);
    expect((await act(made.id, 'unlink')).status).toBe(400);
  });

  it('makes the former owner of an invited account an admin', async () => {
    const { id, owner } = await accountOf('handed.example.com');
    await create('handed.example.com');
    await act(id, 'invite');
    await (await signIn(id, owner))('PUT', `${tenants}/${id}/invite`, { value: 'accept' });
    const next = await addUser(id, 'next');
    expect((await act(id, 'unlink', { owner: next })).status).toBe(200);
    const state = await api().engine.snapshots.fresh(id);
    expect([state.get(owner)?.spec['role'], state.get(next)?.spec['role']]).toEqual(['admin', 'owner']);
  });
});

describe('removing a tenant', () => {
  const remove = (id: string, ask: Ask = (method, url, body) => api().call(method, url, body)) =>
    ask('DELETE', `${tenants}/${id}`);
  const isThere = async (id: string) => (await findRevision(api().engine.database, id)) !== undefined;

  it('takes the account along whose domain nobody proved; that wants an owner', async () => {
    const made = await create('given-up.example.com');
    const admin = await signIn(api().account, await addUser(api().account, 'remover', { role: 'admin' }));
    expect((await remove(made.id, admin)).status).toBe(403);
    expect([await isThere(made.id), (await shown(made.id)).status]).toEqual([true, 'pending']);
    const gone = await remove(made.id);
    expect([gone.status, gone.body]).toEqual([200, '']);
    expect([await isThere(made.id), await shown(made.id)]).toEqual([false, undefined]);
    expect((await remove(made.id)).status).toBe(404);
    expect((await create('given-up.example.com')).status).toBe('pending');
  });

  it('leaves an account alone that was there before, and takes the invitation back', async () => {
    const { id } = await accountOf('left-alone.example.com');
    await create('left-alone.example.com');
    expect((await remove(id)).status).toBe(200);
    await create('left-alone.example.com');
    await act(id, 'invite');
    expect((await remove(id)).status).toBe(200);
    const state = await api().engine.snapshots.fresh(id);
    expect(state.get(id)?.derived['msp_invite']).toBeUndefined();
    expect(await isThere(id)).toBe(true);
  });

  it('is for what is not active', async () => {
    const made = await create('running.example.com');
    await prove(made);
    const answer = await remove(made.id);
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('unlink')]);
  });
});

describe('a link', () => {
  it('is let go by owners alone', async () => {
    const made = await create('owned.example.com');
    await prove(made);
    const next = await addUser(made.id, 'heir');
    const admin = await signIn(api().account, await addUser(api().account, 'unlinker', { role: 'admin' }));
    expect((await admin('POST', `${tenants}/${made.id}/unlink`, { owner: next })).status).toBe(403);
    expect((await act(made.id, 'unlink', { owner: next })).status).toBe(200);
  });

  it('that only one side knows makes nobody an owner', async () => {
    const { id } = await accountOf('claimed.example.com');
    const heir = await addUser(id, 'heir-of-claimed');
    await create('claimed.example.com');
    // As after an archive that was forged.
    await putObjects(api().engine, api().account, (state) => {
      const tenant = state.get(id);
      return tenant === undefined ? [] : [{ ...tenant, derived: { ...tenant.derived, status: 'active' } }];
    });
    const answer = await act(id, 'unlink', { owner: heir });
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('not linked')]);
    expect((await api().engine.snapshots.fresh(id)).get(heir)?.spec['role']).toBe('user');
  });

  it('that makes owners keeps the claim that fills its group in the hands of owners', async () => {
    const { engine, account } = api();
    const kind = engine.registry.get('Group');
    const id = engine.newId();
    const { spec } = canonicalSpec(kind, { name: 'masters', peers: [] });
    const masters = storedObject(engine, { id, kind: 'Group', spec, derived: { issued: 'jwt' } }, engine.now());
    await putObjects(engine, account, () => [masters]);
    const made = await create('mastered.example.com');
    const admin = await signIn(account, await addUser(account, 'claimer', { role: 'admin' }));
    const [{ settings }] = (await api().call('GET', '/api/accounts')).body;
    const change = (ask: Ask, more: JsonObject) =>
      ask('PUT', `/api/accounts/${account}`, { settings: { ...settings, ...more } });
    const claim = { jwt_groups_enabled: true, jwt_groups_claim_name: 'department' };
    expect((await change(admin, claim)).status).toBe(200);
    const groups = [{ id, role: 'owner' }];
    expect((await api().call('PUT', `${tenants}/${made.id}`, { name: 'Mastered', groups })).status).toBe(200);
    for (const more of [
      { ...claim, jwt_groups_claim_name: 'nickname' },
      { ...claim, jwt_groups_enabled: false },
    ])
      expect((await change(admin, more)).status).toBe(403);
    expect((await change(admin, { ...claim, peer_login_expiration: 7200 })).status).toBe(200);
    const renamed = await admin('PUT', `/api/groups/${id}`, { name: 'everybody', peers: [] });
    expect(renamed.status).toBe(403);
    expect(
      (await change((...args) => api().call(...args), { ...claim, jwt_groups_claim_name: 'nickname' })).status,
    ).toBe(200);
    await change((...args) => api().call(...args), { jwt_groups_enabled: false, jwt_groups_claim_name: '' });
  });
});

describe('deleting an account', () => {
  it('takes the accounts along that wait for a proof, and no invitation stays behind', async () => {
    const { id, owner } = await accountOf('closing.example.com');
    const invited = await accountOf('was-invited.example.com');
    const inside = await signIn(id, owner);
    const make = async (domain: string) => (await inside('POST', tenants, { name: domain, domain, groups: [] })).body;
    const pending = await make('unproved.example.com');
    await make('was-invited.example.com');
    expect((await inside('POST', `${tenants}/${invited.id}/invite`)).status).toBe(200);
    expect((await inside('DELETE', `/api/accounts/${id}`)).status).toBe(200);
    const { database, snapshots } = api().engine;
    const there = await Promise.all([id, pending.id, invited.id].map((one) => findRevision(database, one)));
    expect(there.map((revision) => revision !== undefined)).toEqual([false, false, true]);
    expect((await snapshots.fresh(invited.id)).get(invited.id)?.derived['msp_invite']).toBeUndefined();
  });
});

describe('documents', () => {
  const file = (text: string) => ({ source: 'git', files: [{ path: 'tenants.yaml', text }] });
  const document = (domain: string) => `
apiVersion: heddle.dev/v1
kind: MSPTenant
metadata: {name: ${domain}}
spec: {name: By document, domain: ${domain}, groups: [{id: consultants, role: auditor}]}
`;

  it('state tenants that are there, by their domain, and never make one', async () => {
    const made = await create('stated.example.com');
    const plan = await api().call('POST', '/api/config/plans', file(document('absent.example.com')));
    expect(plan.body.warnings.map(({ code }: JsonObject) => code)).toEqual(['object_pending']);
    const applied = await api().call('POST', '/api/config/apply', file(document('stated.example.com')));
    expect([applied.status, problemsOf(applied)]).toEqual([200, []]);
    expect(await shown(made.id)).toMatchObject({ name: 'By document', groups: [{ id: group, role: 'auditor' }] });
    const managed = await api().call('PUT', `${tenants}/${made.id}`, { name: 'By hand', groups: [] });
    expect(managed.status).toBe(409);
    await prove(made);
    const again = await api().call('POST', '/api/config/plans', file(document('stated.example.com')));
    expect(again.body.counts).toMatchObject({ create: 0, update: 0, delete: 0 });
  });
});

async function countAccounts(): Promise<number> {
  const [row] = await api().engine.database.lookUp({
    sql: 'select count(*) as count from accounts',
    parameters: [],
  } as never);
  return (row as { readonly count: number }).count;
}
