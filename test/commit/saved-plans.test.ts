import { describe, expect, it } from 'vitest';
import { storedObject } from '../../src/commit/bootstrap.ts';
import type { Engine } from '../../src/commit/engine.ts';
import type { Database } from '../../src/db/database.ts';
import { applyIfApproved, applyNow, applyPlan } from '../../src/features/config/plans/apply-plan.ts';
import { approvePlan, NeedsApproval } from '../../src/features/config/plans/approvals.ts';
import { createPlan, findApproval, showPlan, showPlanPatches } from '../../src/features/config/plans/saved-plans.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { Conflict, NotFound, UnsafePlan } from '../../src/model/errors.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { createObject, replaceObject } from '../../src/objects/objects.ts';
import { readTables } from '../db/accounts.ts';
import { allow, document, objectOf } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { actor, applyRequest, newOffice, putAll, revisionsOf, rowsOf, upTo } from './office.ts';

const lenient = { strict: false };
const stale = { name: 'Conflict', reason: 'stale' };

/** Plans a group of an identity provider that has the name of an existing group. */
function bringTwin(engine: Engine, state: Snapshot, name: string) {
  const spec = canonicalSpec(engine.registry.get('Group'), { name }).spec;
  const twin = { id: engine.newId(), kind: 'Group', spec, derived: { issued: 'jwt' } };
  return putAll(engine, state, [{ after: storedObject(engine, twin, engine.now()) }]);
}

eachEngine('a saved plan on %s', (name) => {
  it('is applied once, as shown', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const plan = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    expect(plan).toMatchObject({
      state: 'ready',
      counts: { create: 1 },
      changes: [{ action: 'create', kind: 'Group', key: 'devs' }],
    });
    const id = plan.id ?? '';
    const applied = await applyPlan(engine, call, id);
    expect([applied.revision, applied.plan.digest]).toEqual([3, plan.digest]);
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject(stale);
    expect((await showPlan(engine, call, id)).state).toBe('applied');
    expect(await rowsOf(office.database, 'select plan_id, plan_digest from revisions where revision = 3')).toEqual([
      { plan_id: id, plan_digest: plan.digest },
    ]);
  });

  it('expires after a day', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    const later = (hours: number): Engine => ({
      ...engine,
      now: () => new Date(Date.now() + hours * 3_600_000).toISOString(),
    });
    expect((await showPlan(later(23), call, id)).id).toBe(id);
    expect((await showPlan(later(25), call, id)).state).toBe('expired');
    await expect(applyPlan(later(25), call, id)).rejects.toMatchObject(stale);
  });
});

describe('a saved plan', () => {
  it('is applied by only one of 10 concurrent callers', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    const results = await Promise.allSettled(upTo(10).map(() => applyPlan(engine, call, id)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('E103 is applied after an unrelated write', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(
      engine,
      call,
      applyRequest('a', [document('Group', 'devs', { peers: ['p1'] })]),
    );
    await createObject(engine, call, engine.registry.get('Group'), { name: 'unrelated', peers: ['p1'] }, lenient);
    expect((await applyPlan(engine, call, id)).revision).toBe(4);
  });

  it('E104 is stale after a related write, and can be applied when that write is undone', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const stated = [allow('p', ['All'], ['All'])];
    await applyNow(engine, call, applyRequest('a', stated));
    const state = await engine.snapshots.current(office.account);
    const policy = objectOf(state, 'Policy', 'p');
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: state.revision },
      applyRequest('a', [allow('p', ['All'], ['All'], { description: 'by file' })]),
    );
    const body = { ...policy.spec, description: 'by hand' };
    await replaceObject(engine, call, engine.registry.get('Policy'), policy.id, body, lenient);
    const before = await readTables(office.database);
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject({
      ...stale,
      message: expect.stringContaining('was made at revision 3, the account is now at 4'),
      problems: [
        {
          ...{ code: 'plan_stale', kind: 'Policy', key: 'p', file: 'policy.yaml', line: 1 },
          message:
            'Policy p: `description` is "by hand" now and was "" when the plan was made; Ana changed it in revision 4',
        },
      ],
    });
    expect(await readTables(office.database)).toEqual(before);
    await replaceObject(engine, call, engine.registry.get('Policy'), policy.id, policy.spec, lenient);
    expect((await applyPlan(engine, call, id)).revision).toBe(6);
  });

  it('E105 is stale when a new object makes a name ambiguous', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const first = await createObject(engine, call, engine.registry.get('Group'), { name: 'devs' }, lenient);
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: first.object.updatedRevision },
      applyRequest('a', [allow('p', ['name:devs'], ['All'])]),
    );
    await engine.committer.mutate({ ...call, propose: (state) => bringTwin(engine, state, 'devs') });
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject({
      ...stale,
      problems: [
        { code: 'reference_ambiguous', key: 'p' },
        { code: 'changed_since', message: 'in revision 4 Ana created Group devs' },
      ],
    });
  });

  it('E104 is stale when a referenced group was renamed', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const { object } = await createObject(engine, call, kind, { name: 'devs' }, lenient);
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: object.updatedRevision },
      applyRequest('a', [allow('p', ['devs'], ['All'])]),
    );
    await replaceObject(engine, call, kind, object.id, { name: 'renamed' }, lenient);
    await expect(applyPlan(engine, call, id)).rejects.toBeInstanceOf(Conflict);
    expect((await showPlan(engine, call, id)).state).toBe('ready');
  });

  it('E74 with tripped guards needs the approval of its own digest', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(
      engine,
      call,
      applyRequest(
        'a',
        upTo(8).map((at) => document('Group', `g${at}`)),
      ),
    );
    const plan = await createPlan(engine, { ...call, revision: 3 }, applyRequest('a', [document('Group', 'g1')]));
    const other = await createPlan(engine, { ...call, revision: 3 }, applyRequest('a', [document('Group', 'g2')]));
    const id = plan.id ?? '';
    expect(plan).toMatchObject({ state: 'needs_approval', guards: [{ guard: 'deletes' }, { guard: 'kind' }] });
    await expect(applyPlan(engine, call, id)).rejects.toBeInstanceOf(UnsafePlan);
    await expect(applyPlan(engine, call, id, { approve: other.digest })).rejects.toBeInstanceOf(UnsafePlan);
    expect((await applyPlan(engine, call, id, { approve: plan.digest })).revision).toBe(4);
  });

  it('E108 without changes is applied without a revision', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(engine, call, applyRequest('a', [document('Group', 'devs')]));
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: 3 },
      applyRequest('a', [document('Group', 'devs')]),
    );
    expect((await applyPlan(engine, call, id)).revision).toBeNull();
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('E157 of another account is not found', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    await expect(showPlan(engine, { ...call, account: 'other' }, id)).rejects.toBeInstanceOf(NotFound);
  });

  it('is refused with its problems instead of being saved', async () => {
    await using office = await newOffice('postgres');
    await expect(
      createPlan(office.engine, office.call, applyRequest('a', [allow('p', ['nobody'], ['All'])])),
    ).rejects.toMatchObject({ name: 'InvalidInput', problems: [{ code: 'reference_unknown' }] });
  });

  it('E103 with `strictBase` is stale after any write', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    await createObject(engine, call, engine.registry.get('Group'), { name: 'unrelated' }, lenient);
    await expect(applyPlan(engine, call, id, { strictBase: true })).rejects.toMatchObject({
      ...stale,
      problems: [
        { code: 'plan_stale', message: expect.stringContaining('at revision 3, and the plan requires revision 2') },
        { code: 'changed_since', message: 'in revision 3 Ana created Group unrelated' },
      ],
    });
    expect((await applyPlan(engine, call, id)).revision).toBe(4);
  });

  it('E107 of another version of the program is stale', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '', digest } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    await rowsOf(office.database, `update plans set request = jsonb_set(request, '{engine}', '"1.old"')`);
    const refused = { ...stale, message: expect.stringContaining('made by another version of the program') };
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject(refused);
    await expect(approvePlan(engine, call, id, digest)).rejects.toMatchObject(refused);
    await expect(showPlanPatches(engine, call, id)).rejects.toMatchObject(refused);
    expect((await showPlan(engine, call, id)).digest).toBe(digest);
  });

  it('fails on a defect, reports one event, and cannot be applied again', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [document('Group', 'devs')]));
    const broken: Engine = {
      ...engine,
      committer: { ...engine.committer, mutate: () => Promise.reject(new Error('a defect')) },
    };
    await expect(applyPlan(broken, call, id)).rejects.toThrow('a defect');
    expect(await showPlan(engine, call, id)).toMatchObject({ state: 'failed', failure: expect.any(String) });
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject(stale);
    expect(await eventsOf(office.database)).toEqual([{ activity_code: 'config.failed', target_id: id }]);
    expect(await revisionsOf(office.database)).toEqual(upTo(2));
  });

  it('stores no secret in plain text, and can still be applied', async () => {
    await using office = await newOffice('postgres');
    const engine: Engine = {
      ...office.engine,
      planEnvironment: { ...office.engine.planEnvironment, literalSecrets: true },
    };
    const { call } = office;
    const streaming = document('EventStreaming', 'stream', {
      ...{ platform: 'datadog', enabled: true, config: { api_key: 'plain-text-of-the-key' } },
    });
    const { id = '' } = await createPlan(engine, call, applyRequest('a', [streaming]));
    expect(JSON.stringify(await rowsOf(office.database, 'select * from plans'))).not.toContain('plain-text');
    expect(JSON.stringify(await showPlanPatches(engine, call, id))).toContain('"api_key":"(secret)"');
    expect((await applyPlan(engine, call, id)).revision).toBe(3);
  });
});

describe('an approval', () => {
  const groups = (count: number) => upTo(count).map((at) => document('Group', `g${at}`));

  it('E74 is valid for one digest, and names its approver', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(engine, call, applyRequest('a', groups(8)));
    const seen = { ...call, revision: 3 };
    const plan = await createPlan(engine, seen, applyRequest('a', groups(1)));
    const id = plan.id ?? '';
    await expect(approvePlan(engine, call, id, 'f'.repeat(64))).rejects.toMatchObject({ reason: 'refused' });
    const approved = await approvePlan(engine, call, id, plan.digest);
    expect(approved).toMatchObject({ state: 'approved', approvedBy: actor, approvedAt: expect.any(String) });
    expect(await approvePlan(engine, call, id, plan.digest)).toEqual(approved);
    expect(await eventsOf(office.database)).toEqual([
      { activity_code: 'config.applied', target_id: '' },
      { activity_code: 'config.plan.approved', target_id: id },
    ]);
    const applied = await applyPlan(engine, call, id);
    expect(applied.revision).toBe(4);
    expect(await showPlan(engine, call, id)).toMatchObject({ state: 'applied', appliedRevision: 4, approvedBy: actor });
    await expect(approvePlan(engine, call, id, plan.digest)).rejects.toMatchObject({ reason: 'refused' });
  });

  it('is valid for the same plan of the source until it expires, and is used up by one apply', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(engine, call, applyRequest('a', groups(8)));
    const seen = { ...call, revision: 3 };
    const { id = '', digest } = await createPlan(engine, seen, applyRequest('a', groups(1)));
    expect(await findApproval(engine, office.account, 'a', digest)).toBeUndefined();
    await approvePlan(engine, call, id, digest);
    expect(await findApproval(engine, office.account, 'a', digest)).toMatchObject({ id, approvedBy: actor });
    expect(await findApproval(engine, office.account, 'b', digest)).toBeUndefined();
    const tomorrow: Engine = { ...engine, now: () => new Date(Date.now() + 25 * 3_600_000).toISOString() };
    expect(await findApproval(tomorrow, office.account, 'a', digest)).toBeUndefined();
    expect((await applyIfApproved(tomorrow, seen, applyRequest('a', groups(1)))).state).toBe('needs_approval');
    expect((await applyIfApproved(engine, seen, applyRequest('a', groups(2)))).state).toBe('needs_approval');
    expect(await applyIfApproved(engine, seen, applyRequest('a', groups(1)))).toMatchObject({
      state: 'applied',
      revision: 4,
    });
    expect(await showPlan(engine, call, id)).toMatchObject({ state: 'applied', appliedRevision: 4 });
    expect(await findApproval(engine, office.account, 'a', digest)).toBeUndefined();
  });

  it('requests the source to reconcile at once', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const source = { id: 'a', type: 'directory', spec: {} };
    await recordSource(engine, call, source);
    await applyNow(engine, call, applyRequest('a', groups(8)));
    const { id = '', digest } = await createPlan(engine, { ...call, revision: 4 }, applyRequest('a', groups(1)));
    await approvePlan(engine, call, id, digest);
    const [asked] = await rowsOf(office.database, 'select requested_at is not null as asked from sources');
    expect(asked).toEqual({ asked: true });
  });

  it('can be given for a refused apply; its plan is stored and reported once', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(engine, call, applyRequest('a', groups(8)));
    const refused = async (): Promise<NeedsApproval> => {
      const error = await applyNow(engine, call, applyRequest('a', groups(1))).catch((caught) => caught);
      expect(error).toBeInstanceOf(NeedsApproval);
      return error;
    };
    const { plan } = await refused();
    expect((await refused()).plan.id).toBe(plan.id);
    expect(plan).toMatchObject({ state: 'needs_approval', id: expect.any(String) });
    await expect(applyPlan(engine, call, plan.id ?? '')).rejects.toBeInstanceOf(NeedsApproval);
    expect(await eventsOf(office.database)).toEqual([
      { activity_code: 'config.applied', target_id: '' },
      { activity_code: 'config.plan.needs_approval', target_id: plan.id },
    ]);
    await approvePlan(engine, call, plan.id ?? '', plan.digest);
    expect((await applyNow(engine, call, applyRequest('a', groups(1)))).revision).toBe(4);
  });

  it('is pending for the newest twenty plans of a source; older plans expire', async () => {
    await using office = await newOffice('postgres');
    const { engine, account } = office;
    const call = { account, actor: { type: 'source', id: 'a', name: 'a' }, revision: 0 } as const;
    await applyNow(engine, call, applyRequest('a', groups(60)));
    const waiting: string[] = [];
    for (const count of upTo(22)) {
      const error = await applyNow(engine, call, applyRequest('a', groups(count))).catch((caught) => caught);
      waiting.push(error.plan.id);
    }
    const states = await Promise.all(waiting.map(async (id) => (await showPlan(engine, call, id)).state));
    expect(states).toEqual(['expired', 'expired', ...Array(20).fill('needs_approval')]);
    const [{ request } = {}] = await rowsOf(office.database, `select request from plans where id = '${waiting[0]}'`);
    expect(request).toEqual({});
  });

  it('is refused for an expired plan', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '', digest } = await createPlan(engine, call, applyRequest('a', groups(1)));
    const later: Engine = { ...engine, now: () => new Date(Date.now() + 25 * 3_600_000).toISOString() };
    await expect(approvePlan(later, call, id, digest)).rejects.toMatchObject({ reason: 'refused' });
  });
});

async function eventsOf(database: Database) {
  return rowsOf(
    database,
    `select activity_code, target_id from audit_events where activity_code like 'config.%' order by id`,
  );
}
