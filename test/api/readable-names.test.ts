import { describe, expect, it } from 'vitest';
import type { Call as EngineCall } from '../../src/commit/engine.ts';
import { applyPlan } from '../../src/features/config/plans/apply-plan.ts';
import { readableRequestFindings } from '../../src/features/config/plans/refusal.ts';
import { recordStatus } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { initialStatus } from '../../src/model/sources/status.ts';
import { doc } from './documents.ts';
import { callAs, person } from './people.ts';
import { type Call, type TestApi, testApi } from './setup.ts';

const secret = 'hidden-tenant';
const checks = doc(
  'EdrVendorB',
  'vendor-b',
  `client_id: ${secret}\ntenant_id: t\ngroups: [devs]\nlast_synced_interval: 24\nsecret: {valueFrom: {envRef: HEDDLE_VALUE_B}}`,
);
const values = { 'env:HEDDLE_VALUE_B': 'of a document' };
const group = (name: string) => doc('Group', name, `name: ${name}`);
const body = (source: string, ...documents: readonly string[]): JsonObject => ({
  source,
  values,
  files: [{ path: `${source}.yaml`, text: documents.join('---\n') }],
});

// Roles that may read everything (`true`), and roles that may not read integrations (`false`).
const roles = [
  ['owner', true],
  ['admin', true],
  ['auditor', true],
  ['network_admin', false],
] as const;

/** Applies a group that an integration of another source uses. */
async function scene(own: TestApi): Promise<void> {
  const applied = [body('team', group('devs'), group('ops')), body('other', checks)];
  for (const one of applied) expect((await own.call('POST', '/api/config/apply', one)).status).toBe(200);
}

async function asRole(own: TestApi, role: string): Promise<Call> {
  // The account already has its first owner, whose caller is used instead of a new user.
  if (role === 'owner') return own.call;
  const made = await own.call('POST', '/api/users', person({ role }));
  expect(made.status).toBe(200);
  return callAs(own, made.body.id);
}

const counted = '1 object that you may not read';

describe('a caller who may not read a kind', () => {
  it('sees a count instead of names of its objects in the warnings of stored plans', async () => {
    await using own = await testApi();
    await scene(own);
    const stays = await own.call('POST', '/api/config/plans', body('team', group('ops')));
    expect(stays.body.warnings).toMatchObject([{ code: 'in_use', usedBy: [expect.stringContaining('vendor-b')] }]);
    for (const [role, sees] of roles) {
      const ask = await asRole(own, role);
      const { body: shown } = await ask('GET', `/api/config/plans/${stays.body.id}`);
      const text = JSON.stringify(shown.warnings);
      expect([role, text.includes('vendor-b'), text.includes(counted)]).toEqual([role, sees, !sees]);
      const markdown = JSON.stringify((await ask('GET', `/api/config/plans/${stays.body.id}.md`)).body);
      expect([role, markdown.includes('vendor-b')]).toEqual([role, sees]);
    }
  });

  it('sees a count instead of names in the warnings of a validation', async () => {
    await using own = await testApi();
    await scene(own);
    for (const [role, sees] of roles.filter(([name]) => name !== 'auditor')) {
      const validate = await asRole(own, role);
      const { status, body: shown } = await validate('POST', '/api/config/validate', body('team', group('ops')));
      const text = JSON.stringify(shown.warnings);
      expect([role, status, text.includes('vendor-b'), text.includes(counted)]).toEqual([role, 200, sees, !sees]);
    }
  });

  it('sees the warnings of a validation about its own files, and their number in a stored plan', async () => {
    await using own = await testApi();
    const whole = body('team', group('devs'), checks);
    expect((await own.call('POST', '/api/config/apply', whole)).status).toBe(200);
    const override = { kind: 'EdrVendorB', name: 'vendor-b', reason: 'incident', values: { last_synced_interval: 48 } };
    const made = await own.call('POST', '/api/config/overrides', override);
    expect([made.status, made.body.message]).toEqual([200, undefined]);
    const warning = { code: 'unit_overridden', kind: 'EdrVendorB', key: 'vendor-b' };
    const { body: plan } = await own.call('POST', '/api/config/plans', whole);
    expect(plan.warnings).toMatchObject([warning]);
    const ask = await asRole(own, 'network_admin');
    const { status, body: shown } = await ask('POST', '/api/config/validate', whole);
    expect([status, shown.warnings]).toMatchObject([200, [warning]]);
    // A reader of a plan need not be the author of its files.
    const { body: read } = await ask('GET', `/api/config/plans/${plan.id}`);
    expect(read.warnings).toEqual([
      { code: 'problems_hidden', message: expect.stringMatching('^1 problem is about objects that you may not read') },
    ]);
  });

  it('sees nothing of its objects in the refusal of a stored plan that has become invalid or stale', async () => {
    await using own = await testApi();
    const whole = (interval: string, ...groups: readonly string[]) =>
      body('both', group('devs'), ...groups.map(group), checks.replace('24', interval));
    expect((await own.call('POST', '/api/config/apply', whole('24'))).status).toBe(200);
    const ofGroup = await own.call('POST', '/api/config/plans', body('team', group('ops')));
    const ofChecks = await own.call('POST', '/api/config/plans', whole('48', 'qa'));
    expect((await own.call('POST', '/api/config/apply', whole('72'))).status).toBe(200);
    for (const role of ['admin', 'network_admin']) {
      const { id } = (await own.call('POST', '/api/users', person({ role }))).body;
      // The role matrix permits the request itself only to roles that may read everything.
      const call: EngineCall = { account: own.account, revision: 0, actor: { type: 'user', id, name: 'Ana' } };
      for (const [plan, strictBase] of [
        [ofGroup, true],
        [ofChecks, false],
      ] as const) {
        const refused = await applyPlan(own.engine, call, plan.body.id, { strictBase }).catch((error) => error);
        const text = JSON.stringify([refused.message, refused.problems]);
        const sees = role === 'admin';
        const isCounted = text.includes('objects that you may not read');
        expect([role, refused.reason, /vendor-b|edr/i.test(text), isCounted]).toEqual([role, 'stale', sees, !sees]);
      }
    }
  });

  it('sees a count instead of names among the users of an object that a plan deletes', async () => {
    await using own = await testApi();
    const both = await own.call('POST', '/api/config/apply', body('team', group('devs'), group('ops'), checks));
    expect(both.status).toBe(200);
    const plan = await own.call('POST', '/api/config/plans', body('team', group('ops')));
    const used = (changes: readonly JsonObject[]) => changes.filter(({ usedBy }) => usedBy !== undefined);
    expect(used(plan.body.changes)).toMatchObject([{ key: 'devs' }]);
    for (const [role, sees] of roles) {
      const shown = (await (await asRole(own, role))('GET', `/api/config/plans/${plan.body.id}`)).body;
      const text = JSON.stringify(used(shown.changes));
      expect([role, text.includes('vendor-b'), text.includes(counted)]).toEqual([role, sees, !sees]);
    }
  });

  it('sees a count instead of names in the guards of stored plans', async () => {
    await using own = await testApi();
    const guarded = checks.replace('metadata:', 'metadata:\n  annotations: {heddle.dev/prevent-delete: "true"}');
    const target = 'type: email\ntarget: {emails: [ops@example.com]}\nevent_types: [user.join]\nenabled: true';
    const channels = ['alarm-a', 'alarm-b', 'alarm-c'].map((name) => doc('NotificationChannel', name, target));
    const whole = body('team', group('devs'), guarded, ...channels);
    expect((await own.call('POST', '/api/config/apply', whole)).status).toBe(200);
    const plan = await own.call('POST', '/api/config/plans', body('team', group('devs')));
    expect(plan.body.guards).toMatchObject([
      { guard: 'kind', kind: 'NotificationChannel' },
      { guard: 'protected', kind: 'EdrVendorB', key: 'vendor-b' },
    ]);
    const hidden = (guard: string) => ({
      guard,
      message: expect.stringMatching(`^1 ${guard} guard is about objects that you may not read`),
    });
    for (const [role, sees] of roles) {
      const ask = await asRole(own, role);
      const shown = (await ask('GET', `/api/config/plans/${plan.body.id}`)).body;
      expect([role, shown.guards]).toEqual([role, sees ? plan.body.guards : [hidden('kind'), hidden('protected')]]);
      const markdown = JSON.stringify((await ask('GET', `/api/config/plans/${plan.body.id}.md`)).body);
      expect([role, /vendor-b|EdrVendorB|NotificationChannel/.test(markdown)]).toEqual([role, sees]);
    }
  });

  it('sees nothing of its objects in the guards of a refusal of a stale plan', async () => {
    await using own = await testApi();
    const guarded = checks.replace('metadata:', 'metadata:\n  annotations: {heddle.dev/prevent-delete: "true"}');
    const apply = async (...documents: readonly string[]) =>
      expect((await own.call('POST', '/api/config/apply', body('team', group('devs'), ...documents))).status).toBe(200);
    await apply(guarded);
    const plan = await own.call('POST', '/api/config/plans', body('team', group('devs')));
    // The integration is deleted in the meantime, after its protection.
    for (const documents of [[checks], []]) await apply(...documents);
    for (const role of ['admin', 'network_admin']) {
      const { id } = (await own.call('POST', '/api/users', person({ role }))).body;
      const call: EngineCall = { account: own.account, revision: 0, actor: { type: 'user', id, name: 'Ana' } };
      const refused = await applyPlan(own.engine, call, plan.body.id, { approve: plan.body.digest }).catch(
        (error) => error,
      );
      const text = JSON.stringify([refused.message, refused.problems]);
      expect([role, refused.reason, /vendor-b|edr/i.test(text)]).toEqual([role, 'stale', role === 'admin']);
    }
  });

  it('sees a count instead of names in the refusal to delete a used object', async () => {
    await using own = await testApi();
    const devs = await own.group('devs');
    expect((await own.call('POST', '/api/config/apply', body('other', checks))).status).toBe(200);
    for (const [role, sees] of roles.filter(([name]) => name !== 'auditor')) {
      const { status, body: refused } = await (await asRole(own, role))('DELETE', `/api/groups/${devs}`);
      const text = JSON.stringify(refused);
      expect([role, status, text.includes('vendor-b'), text.includes(counted)]).toEqual([role, 400, sees, !sees]);
    }
  });

  it('sees nothing of its objects in the refusal of documents that delete them', async () => {
    await using own = await testApi();
    const both = await own.call('POST', '/api/config/apply', body('team', group('devs'), group('ops'), checks));
    expect(both.status).toBe(200);
    const ask = await asRole(own, 'network_admin');
    const without = body('team', group('devs'), group('ops'));
    for (const path of ['validate', 'plans', 'tests'].map((name) => `/api/config/${name}`)) {
      const { status, body: refused } = await ask('POST', path, without);
      expect([path, status, refused.problems]).toEqual([
        path,
        403,
        [{ code: 'not_allowed', message: expect.stringContaining('objects that you may not read') }],
      ]);
      expect(JSON.stringify(refused)).not.toMatch(/vendor-b|edr/i);
    }
  });

  it('sees the problems of files of the request only, and not those of files of another source', async () => {
    await using own = await testApi();
    const made = await own.call('POST', '/api/users', person({ role: 'network_admin' }));
    const { account, engine } = own;
    const state = await engine.snapshots.fresh(account);
    const call: EngineCall = { account, revision: 0, actor: { type: 'user', id: made.body.id, name: 'Ana' } };
    const problem = (file: string) =>
      ({ code: 'managed_field', kind: 'EdrVendorB', key: file, file, message: `problem of ${file}` }) as const;
    const request = { documents: [], problems: [problem('own.yaml')] };
    const shown = readableRequestFindings(state, call, request, [problem('own.yaml'), problem('other.yaml')]);
    expect(shown).toEqual([
      problem('own.yaml'),
      { code: 'problems_hidden', message: expect.stringMatching('^1 problem is about objects that you may not read') },
    ]);
  });

  it.each([
    ['is invalid', 'invalid', 'EdrVendorB vendor-b: unknown Group `nobody`'],
    ['needs an approval', 'needs_approval', 'source git needs an approval: deletes EdrVendorB vendor-b'],
  ] as const)('sees no names of its objects in the status of a source that %s', async (_, state, message) => {
    await using own = await testApi();
    await scene(own);
    await own.call('POST', '/api/config/sources', {
      name: 'git',
      type: 'git',
      url: 'https://example.com/a.git',
      branch: 'main',
    });
    await recordStatus(own.engine, own.account, 'git', {
      ...initialStatus,
      ...{
        ...{ state, message },
        ...(state === 'invalid'
          ? { problems: [{ code: 'reference_unknown', kind: 'EdrVendorB', key: 'vendor-b', message }] }
          : {}),
      },
      history: [{ digest: 'd', result: state, message, at: own.engine.now() }],
    });
    for (const [role, sees] of roles) {
      const ask = await asRole(own, role);
      for (const path of ['/api/config/sources/git', '/api/config/sources', '/api/config/status']) {
        const { status, body: shown } = await ask('GET', path);
        expect([role, path, status, JSON.stringify(shown).includes('vendor-b')]).toEqual([role, path, 200, sees]);
      }
    }
  });

  it('sees no names of its objects in drift and history', async () => {
    await using own = await testApi();
    await scene(own);
    expect((await own.call('POST', '/api/config/apply', body('other', checks.replace('24', '72')))).status).toBe(200);
    for (const [role, sees] of roles) {
      const ask = await asRole(own, role);
      for (const path of ['/api/config/drift', '/api/config/revisions?limit=1000', '/api/config/revisions/3']) {
        const { status: answered, body: shown } = await ask('GET', path);
        const isNamed = JSON.stringify(shown).includes('vendor-b');
        expect([role, path, answered, isNamed && !sees]).toEqual([role, path, 200, false]);
      }
    }
  });
});
