import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { Conflict } from '../../src/model/errors.ts';
import { createObject, replaceObject } from '../../src/objects/objects.ts';
import { noted } from '../db/accounts.ts';
import { objectsOf } from '../plan/invariants.ts';
import { eachEngine } from '../setup/database.ts';
import { newOffice, policyBody, putAll, revisionsOf, rowsOf, upTo } from './office.ts';

const strict = { strict: false };
const fifty = upTo(50);

eachEngine('mutations on %s', (name) => {
  it('of 50 concurrent callers are all written, as contiguous revisions in one statement', async () => {
    await using office = await newOffice(name);
    const { database, statements } = noted(office.database);
    const engine = createEngine({ database });
    const kind = engine.registry.get('Group');
    const written = await Promise.all(
      fifty.map((at) => createObject(engine, office.call, kind, { name: `g${at}`, peers: ['p1'] }, strict)),
    );
    expect(written.map(({ object }) => object.name)).toEqual(fifty.map((at) => `g${at}`));
    expect(await revisionsOf(office.database)).toEqual(upTo(52));
    expect(statements.filter((sql) => sql.includes('update accounts set revision'))).toHaveLength(1);
    const state = await engine.snapshots.current(office.account);
    const stored = await loadSnapshot(office.database, engine.registry, office.account);
    expect(stored === undefined ? undefined : objectsOf(stored)).toEqual(objectsOf(state));
  });

  it('refused by SQL do not fail the rest of their batch, and a defect is logged', async () => {
    await using office = await newOffice(name);
    const { engine, call, logged } = office;
    await office.database.asOwner(["alter table objects add constraint no_bad_names check (name <> 'bad')"]);
    const kind = engine.registry.get('Group');
    const names = ['first', 'good', 'bad', 'better', 'best'];
    const results = await Promise.allSettled(
      names.map((expected) => createObject(engine, call, kind, { name: expected }, strict)),
    );
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(await revisionsOf(office.database)).toEqual(upTo(6));
    expect(
      await rowsOf(office.database, "select name from objects where kind = 'Group' and name <> 'All' order by name"),
    ).toEqual(['best', 'better', 'first', 'good'].map((found) => ({ name: found })));
    expect(logged.filter(({ message }) => message.startsWith('defect'))).toHaveLength(1);
  });
});

describe('mutations', () => {
  it('of 50 callers for one name: one succeeds and the others are refused as `taken`', async () => {
    await using office = await newOffice('postgres');
    const kind = office.engine.registry.get('Group');
    const results = await Promise.allSettled(
      fifty.map(() => createObject(office.engine, office.call, kind, { name: 'devs' }, strict)),
    );
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(49);
    expect(refused.every((error) => error instanceof Conflict && error.reason === 'taken')).toBe(true);
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('that each append to the current state lose no update', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Policy');
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    const { object } = await createObject(engine, call, kind, policyBody('p', all), strict);
    await Promise.all(
      fifty.map((at) =>
        engine.committer.mutate({
          ...call,
          propose: (state) => {
            const before = state.get(object.id) ?? object;
            const rules = before.spec['rules'] as readonly JsonObject[];
            const [first] = rules;
            return putAll(engine, state, [
              {
                before,
                after: {
                  ...before,
                  spec: { ...before.spec, rules: [...rules, { ...first, name: `s${String(at).padStart(2, '0')}` }] },
                },
              },
            ]);
          },
        }),
      ),
    );
    const state = await engine.snapshots.fresh(office.account);
    expect(state.get(object.id)?.spec['rules']).toHaveLength(51);
  });

  it('with the same version in `If-Match`: one succeeds and 49 fail the precondition', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const { object } = await createObject(engine, call, kind, { name: 'devs' }, strict);
    const ifMatch = [String(object.updatedRevision)];
    const results = await Promise.allSettled(
      fifty.map((at) =>
        replaceObject(engine, call, kind, object.id, { name: `devs ${at}` }, { strict: false, ifMatch }),
      ),
    );
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as Conflict).reason] : [],
    );
    expect(reasons).toEqual(Array(49).fill('precondition'));
  });

  it('that throw while planned do not fail the rest of their batch', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const fail = engine.committer.mutate({
      ...call,
      propose: () => {
        throw new Error('a defect of this one');
      },
    });
    const results = await Promise.allSettled([
      createObject(engine, call, kind, { name: 'a' }, strict),
      fail,
      createObject(engine, call, kind, { name: 'b' }, strict),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('E101 are written once when a listener throws, and the error is logged', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, logged } = office;
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    engine.listeners.add(({ plan }) => {
      if (plan.changes.some(({ after }) => after?.name === 'p2')) throw new Error('a listener without manners');
    });
    const kind = engine.registry.get('Policy');
    const written = await Promise.all(
      ['p1', 'p2', 'p3'].map((expected) => createObject(engine, call, kind, policyBody(expected, all), strict)),
    );
    expect(written).toHaveLength(3);
    expect(
      await rowsOf(office.database, "select name from objects where kind = 'Policy' and name like 'p%' order by name"),
    ).toEqual([{ name: 'p1' }, { name: 'p2' }, { name: 'p3' }]);
    expect(logged.filter(({ message }) => message.includes('a listener without manners'))).toHaveLength(1);
  });

  it('are logged with the id of an object that has neither key nor name', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, logged } = office;
    const channel = { type: 'webhook', target: null, event_types: ['user.join'], enabled: true };
    const made = await createObject(engine, call, engine.registry.get('NotificationChannel'), channel, strict);
    await createObject(engine, call, engine.registry.get('Group'), { name: 'devs' }, strict);
    const created = logged.map(({ message }) => message).filter((message) => message.startsWith('created '));
    expect(created.slice(-2)).toEqual([`created NotificationChannel ${made.object.id}`, 'created Group devs']);
  });

  it('are announced with both snapshots before they are written, even when a preparer throws', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, logged } = office;
    const before = await engine.snapshots.current(office.account);
    const heard: unknown[] = [];
    engine.preparers.add((base, next) => heard.push(base, next));
    engine.preparers.add(() => {
      throw new Error('a preparation without manners');
    });
    engine.listeners.add(({ revision }) => heard.push(revision));
    await createObject(engine, call, engine.registry.get('Group'), { name: 'devs' }, strict);
    const after = await engine.snapshots.current(office.account);
    expect(heard).toEqual([before, after, after.revision]);
    expect([heard[0] === before, heard[1] === after]).toEqual([true, true]);
    expect(logged.filter(({ message }) => message.includes('a preparation without manners'))).toHaveLength(1);
  });

  it('without changes create no revision; each revision is reported once, in order', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const reported: number[] = [];
    engine.listeners.add(({ revision }) => reported.push(revision));
    const kind = engine.registry.get('Group');
    const { object } = await createObject(engine, call, kind, { name: 'devs' }, strict);
    const again = await replaceObject(engine, call, kind, object.id, { name: 'devs' }, strict);
    expect(again.object.updatedRevision).toBe(object.updatedRevision);
    await Promise.all(fifty.map((at) => createObject(engine, call, kind, { name: `g${at}` }, strict)));
    expect(reported).toEqual(upTo(53).slice(2));
  });
});
