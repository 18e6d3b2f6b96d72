import { describe, expect, it } from 'vitest';
import { storedObject } from '../../src/engine/bootstrap.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createObject, replaceObject } from '../../src/engine/objects.ts';
import { applyNow, applyPlan, createPlan, showPlan } from '../../src/engine/saved-plans.ts';
import { canonicalSpec } from '../../src/model/canonical.ts';
import { Conflict, NotFound, UnsafePlan } from '../../src/model/errors.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { allow, document, objectOf } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { desire, newOffice, putAll, revisionsOf, rowsOf, upTo } from './office.ts';

const lenient = { strict: false };
const stale = { name: 'Conflict', reason: 'stale' };

/** An identity provider brings a group with the name of one that is there. */
function bringTwin(engine: Engine, state: Snapshot, name: string) {
  const spec = canonicalSpec(engine.registry.get('Group'), { name }).spec;
  const twin = { id: engine.newId(), kind: 'Group', spec: { ...spec, peers: {} }, derived: { issued: 'jwt' } };
  return putAll(engine, state, [{ after: storedObject(engine, twin, engine.now()) }]);
}

eachEngine('a saved plan on %s', (name) => {
  it('is applied as it was shown, once', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const plan = await createPlan(engine, call, desire('a', [document('Group', 'devs')]));
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

  it('is gone after a day', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, desire('a', [document('Group', 'devs')]));
    const later = (hours: number): Engine => ({
      ...engine,
      now: () => new Date(Date.now() + hours * 3_600_000).toISOString(),
    });
    expect((await showPlan(later(23), call, id)).id).toBe(id);
    await expect(showPlan(later(25), call, id)).rejects.toBeInstanceOf(NotFound);
    await expect(applyPlan(later(25), call, id)).rejects.toBeInstanceOf(NotFound);
  });
});

describe('a saved plan', () => {
  it('is applied by one of many who try at once', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, desire('a', [document('Group', 'devs')]));
    const results = await Promise.allSettled(upTo(10).map(() => applyPlan(engine, call, id)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('E103 is applied after an unrelated write', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, desire('a', [document('Group', 'devs', { peers: ['p1'] })]));
    await createObject(engine, call, engine.registry.get('Group'), { name: 'unrelated', peers: ['p1'] }, lenient);
    expect((await applyPlan(engine, call, id)).revision).toBe(4);
  });

  it('E104 is stale after a related write, and stays usable for who looks again', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const stated = [allow('p', ['All'], ['All'])];
    await applyNow(engine, call, desire('a', stated));
    const state = await engine.snapshots.current(office.account);
    const policy = objectOf(state, 'Policy', 'p');
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: state.revision },
      desire('a', [allow('p', ['All'], ['All'], { description: 'by file' })]),
    );
    const body = { ...policy.spec, description: 'by hand' };
    await replaceObject(engine, call, engine.registry.get('Policy'), policy.id, body, lenient);
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject(stale);
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
      desire('a', [allow('p', ['name:devs'], ['All'])]),
    );
    await engine.committer.mutate({ ...call, propose: (state) => bringTwin(engine, state, 'devs') });
    await expect(applyPlan(engine, call, id)).rejects.toMatchObject(stale);
  });

  it('E104 is stale when what it refers to is gone', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const { object } = await createObject(engine, call, kind, { name: 'devs' }, lenient);
    const { id = '' } = await createPlan(
      engine,
      { ...call, revision: object.updatedRevision },
      desire('a', [allow('p', ['devs'], ['All'])]),
    );
    await replaceObject(engine, call, kind, object.id, { name: 'renamed' }, lenient);
    await expect(applyPlan(engine, call, id)).rejects.toBeInstanceOf(Conflict);
    expect((await showPlan(engine, call, id)).state).toBe('ready');
  });

  it('E74 with tripped guards wants its own digest approved', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(
      engine,
      call,
      desire(
        'a',
        upTo(8).map((at) => document('Group', `g${at}`)),
      ),
    );
    const plan = await createPlan(engine, { ...call, revision: 3 }, desire('a', [document('Group', 'g1')]));
    const other = await createPlan(engine, { ...call, revision: 3 }, desire('a', [document('Group', 'g2')]));
    const id = plan.id ?? '';
    expect(plan).toMatchObject({ state: 'needs_approval', guards: [{ guard: 'deletes' }, { guard: 'kind' }] });
    await expect(applyPlan(engine, call, id)).rejects.toBeInstanceOf(UnsafePlan);
    await expect(applyPlan(engine, call, id, other.digest)).rejects.toBeInstanceOf(UnsafePlan);
    expect((await applyPlan(engine, call, id, plan.digest)).revision).toBe(4);
  });

  it('E108 without changes is applied without a revision', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyNow(engine, call, desire('a', [document('Group', 'devs')]));
    const { id = '' } = await createPlan(engine, { ...call, revision: 3 }, desire('a', [document('Group', 'devs')]));
    expect((await applyPlan(engine, call, id)).revision).toBeNull();
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('of another account is not found', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { id = '' } = await createPlan(engine, call, desire('a', [document('Group', 'devs')]));
    await expect(showPlan(engine, { ...call, account: 'other' }, id)).rejects.toBeInstanceOf(NotFound);
  });

  it('shows problems instead of being saved', async () => {
    await using office = await newOffice('postgres');
    await expect(
      createPlan(office.engine, office.call, desire('a', [allow('p', ['nobody'], ['All'])])),
    ).rejects.toMatchObject({ name: 'InvalidInput', problems: [{ code: 'reference_unknown' }] });
  });
});
