import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { problemsOf } from './problems.ts';
import { tenants, tenantsScene, timestamp } from './tenants-scene.ts';

const { api, records, tenant, create, shown, act, prove, accountOf, group, ownerOf, codesOf, countAccounts } =
  tenantsScene();

describe('a tenant', () => {
  it('is created with a separate account, and is pending until its domain is proved', async () => {
    const answer = await api().call('POST', tenants, tenant('Acme.Example.COM.'));
    const made = answer.body;
    expect([answer.status, made]).toEqual([
      200,
      {
        id: expect.any(String),
        name: 'Tenant Acme.Example.COM.',
        domain: 'Acme.Example.COM.',
        groups: [{ id: group(), role: 'admin' }],
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

  it('becomes active when its domain is proved, with one revision in each account', async () => {
    const made = await create('proved.example.com');
    const before = await api().revision();
    const missing = await act(made.id, 'dns');
    expect([missing.status, missing.body.message]).toEqual([
      412,
      `the TXT record _heddle-challenge.proved.example.com does not contain \`${made.dns_challenge}\` (it has 0 TXT records, none with this value); add it and try again`,
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

  it('is not proved when no name server answers', async () => {
    const made = await create('broken.example.com');
    const answer = await act(made.id, 'dns');
    expect([answer.status, answer.body.message]).toEqual([412, expect.stringContaining('no name server answers')]);
  });

  it('can change its name and groups, but not its domain', async () => {
    const made = await create('renamed.example.com');
    const one = `${tenants}/${made.id}`;
    const other = await api().group('juniors');
    const groups = [
      { id: group(), role: 'owner' },
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
  ])('is refused with %j, and no account is created', async (more, problems) => {
    const accounts = await countAccounts();
    const answer = await api().call('POST', tenants, tenant('refused.example.com', more));
    expect([answer.status, problemsOf(answer)]).toEqual([422, problems]);
    expect(await countAccounts()).toBe(accounts);
  });

  it('must have a unique domain', async () => {
    await create('twice.example.com');
    const accounts = await countAccounts();
    const again = await api().call('POST', tenants, tenant('TWICE.example.com'));
    expect([again.status, problemsOf(again)]).toEqual([409, ['value_taken /domain']]);
    expect(await countAccounts()).toBe(accounts);
  });

  it('is created once by 20 simultaneous requests for one domain', async () => {
    const accounts = await countAccounts();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api().call('POST', tenants, tenant('contended.example.com'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    expect(await countAccounts()).toBe(accounts + 1);
  });

  it('keeps its groups from being deleted', async () => {
    const used = await api().group('used');
    await api().call('POST', tenants, tenant('uses.example.com', { groups: [{ id: used, role: 'user' }] }));
    const answer = await api().call('DELETE', `/api/groups/${used}`);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('linked to MSP tenant')]);
  });

  it('stores the chosen price, and writes nothing when it is chosen again', async () => {
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

describe('the domain of a tenant', () => {
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

  it('cannot be the domain of its managing account', async () => {
    const { id } = await accountOf('self.example.com');
    const inside = await ownerOf(id);
    const answer = await inside('POST', tenants, { name: 'Self', domain: 'self.example.com', groups: [] });
    expect(answer.status).toBe(409);
  });
});

describe('documents of tenants', () => {
  const file = (text: string) => ({ source: 'git', files: [{ path: 'tenants.yaml', text }] });
  const document = (domain: string) => `
apiVersion: heddle.dev/v1
kind: MSPTenant
metadata: {name: ${domain}}
spec: {name: By document, domain: ${domain}, groups: [{id: consultants, role: auditor}]}
`;

  it('state existing tenants by their domain, and create none', async () => {
    const made = await create('stated.example.com');
    const plan = await api().call('POST', '/api/config/plans', file(document('absent.example.com')));
    expect(plan.body.warnings.map(({ code }: JsonObject) => code)).toEqual(['object_pending']);
    const applied = await api().call('POST', '/api/config/apply', file(document('stated.example.com')));
    expect([applied.status, problemsOf(applied)]).toEqual([200, []]);
    expect(await shown(made.id)).toMatchObject({ name: 'By document', groups: [{ id: group(), role: 'auditor' }] });
    const managed = await api().call('PUT', `${tenants}/${made.id}`, { name: 'By hand', groups: [] });
    expect(managed.status).toBe(409);
    await prove(made);
    const again = await api().call('POST', '/api/config/plans', file(document('stated.example.com')));
    expect(again.body.counts).toMatchObject({ create: 0, update: 0, delete: 0 });
  });
});
