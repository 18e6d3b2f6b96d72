import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { bootstrapAccount } from '../../src/commit/bootstrap.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import type { Conflict } from '../../src/model/errors.ts';
import { createObject, replaceObject } from '../../src/objects/objects.ts';
import { objectsOf } from '../plan/invariants.ts';
import { allow, objectOf } from '../plan/steps.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { actor, applyRequest, firstObjects, newOffice, revisionsOf, rowsOf, upTo } from './office.ts';

const lenient = { strict: false };

describe('two servers on one database', () => {
  it('E93 write at the same time: everything is stored, and both read the same', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account } = office;
    const other = await office.another();
    const kind = engine.registry.get('Group');
    const names = upTo(60).map((at) => `g${at}`);
    const written = await Promise.all(
      names.map((name, at) =>
        createObject(at % 2 === 0 ? engine : other, call, kind, { name, peers: ['p1'] }, lenient),
      ),
    );
    const last = Math.max(...written.map(({ object }) => object.updatedRevision));
    const [mine, theirs] = [
      await engine.snapshots.atLeast(account, last),
      await other.snapshots.atLeast(account, last),
    ];
    expect(objectsOf(mine)).toEqual(objectsOf(theirs));
    expect(
      mine
        .ofKind('Group')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['All', ...names].sort());
    expect(await revisionsOf(office.database)).toEqual(upTo(62));
  });

  it('assign one name only once', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const other = await office.another();
    const kind = engine.registry.get('Group');
    const results = await Promise.allSettled(
      upTo(20).map((at) => createObject(at % 2 === 0 ? engine : other, call, kind, { name: 'devs' }, lenient)),
    );
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as Conflict).reason] : [],
    );
    expect(reasons).toEqual(Array(19).fill('taken'));
  });

  it('E94 apply a source and replace the same object at the same time, in either order', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const other = await office.another();
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    for (const round of upTo(10)) {
      const key = `p${round}`;
      const stated = [...upTo(round - 1).map((at) => allow(`p${at}`, ['All'], ['All'])), allow(key, ['All'], ['All'])];
      const made = await applyDocuments(engine, call, applyRequest('a', stated));
      if (made.state !== 'applied') throw new Error(made.state);
      const policy = objectOf(made.after, 'Policy', key);
      const seen = { ...call, revision: made.revision ?? 0 };
      const rule = (policy.spec['rules'] as readonly object[])[0];
      const body = (enabled: boolean) => ({
        name: key,
        enabled,
        rules: [{ ...rule, sources: [all], destinations: [all] }],
      });
      const disabled = stated.map((item) =>
        item.metadata.name === key ? { ...item, spec: { ...item.spec, enabled: false } } : item,
      );
      const [applied, replaced] = await Promise.allSettled([
        applyDocuments(engine, seen, applyRequest('a', disabled)),
        replaceObject(other, seen, engine.registry.get('Policy'), policy.id, body(true), lenient),
      ]);
      expect(applied).toMatchObject({ status: 'fulfilled', value: { state: 'applied' } });
      if (replaced.status === 'rejected') expect(replaced.reason).toMatchObject({ reason: 'managed_field' });
      const after = await engine.snapshots.fresh(office.account);
      expect(after.get(policy.id)?.spec['enabled']).toBe(false);
    }
  });
});

eachEngine('two engines on one %s', (name) => {
  it('plan lost races again and write every object', async () => {
    await using office = await newOffice(name);
    const engines = [office.engine, createEngine({ database: office.database })] as const;
    const kind = office.engine.registry.get('Group');
    const expected = upTo(40).map((at) => `g${at}`);
    await Promise.all(
      expected.map((group, at) =>
        createObject(engines[at % 2] ?? office.engine, office.call, kind, { name: group }, lenient),
      ),
    );
    const state = await office.engine.snapshots.fresh(office.account);
    expect(state.ofKind('Group')).toHaveLength(41);
    expect(await revisionsOf(office.database)).toEqual(upTo(42));
  });
});

eachEngine('servers that start on an empty %s', (name) => {
  it('create one account between them', async () => {
    await using made = await testDatabase(name);
    const engines = upTo(5).map(() => createEngine({ database: made.database }));
    const started = await Promise.all(
      engines.map(async (engine) => present(await bootstrapAccount(engine, actor, (id) => firstObjects(engine, id)))),
    );
    expect(new Set(started.map(({ account }) => account)).size).toBe(1);
    expect(started.filter(({ created }) => created)).toHaveLength(1);
    expect(await revisionsOf(made.database)).toEqual([1]);
    expect(await rowsOf(made.database, 'select kind from objects order by kind')).toEqual(
      ['Account', 'Group', 'Policy', 'User'].map((kind) => ({ kind })),
    );
  });

  it('use an existing account', async () => {
    await using made = await testDatabase(name);
    const [first, second] = [createEngine({ database: made.database }), createEngine({ database: made.database })];
    const { account } = present(await bootstrapAccount(first, actor, (id) => firstObjects(first, id)));
    expect(await bootstrapAccount(second, actor, (id) => firstObjects(second, id))).toEqual({
      account,
      created: false,
    });
  });
});
