import { describe, expect, it } from 'vitest';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import type { Document } from '../../src/model/document.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { maxProblems, type Problem } from '../../src/model/problem.ts';
import { createObject, deleteObject, replaceObject } from '../../src/objects/objects.ts';
import { readTables } from '../db/accounts.ts';
import { checkState, objectsOf } from '../plan/invariants.ts';
import { allow, document, objectOf } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { applyRequest, newOffice, policyBody, revisionsOf, upTo } from './office.ts';

const groups = (count: number): readonly Document[] =>
  upTo(count).map((at) => document('Group', `g${at}`, {}, { file: 'groups.yaml', line: at }));
const lenient = { strict: false };

eachEngine('an apply of documents on %s', (name) => {
  it('E108 creates one revision, and none when nothing changes', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const first = await applyDocuments(
      engine,
      call,
      applyRequest('a', [...groups(3), allow('p', ['g1'], ['g2'])], { commitRef: 'abc123' }),
    );
    expect(first).toMatchObject({
      state: 'applied',
      revision: 3,
      plan: { counts: { create: 4, update: 0, delete: 0, claims: 0 } },
    });
    const before = await readTables(office.database);
    const again = await applyDocuments(engine, call, applyRequest('a', [...groups(3), allow('p', ['g1'], ['g2'])]));
    expect([again.state, 'revision' in again]).toEqual(['applied', false]);
    expect(await readTables(office.database)).toEqual(before);
  });

  it('E83 stores new file positions without a revision', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    await applyDocuments(engine, call, applyRequest('a', groups(2)));
    const moved = groups(2).map((item) => ({ ...item, position: { ...item.position, file: 'moved.yaml' } }));
    await applyDocuments(engine, call, applyRequest('a', moved));
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
    const stored = await loadSnapshot(office.database, engine.registry, office.account);
    const current = await engine.snapshots.current(office.account);
    expect(stored === undefined ? [] : objectOf(stored, 'Group', 'g1').declared).toMatchObject([
      { file: 'moved.yaml', line: 1 },
    ]);
    expect(objectsOf(current)).toEqual(stored === undefined ? undefined : objectsOf(stored));
  });
});

describe('an apply of documents', () => {
  it('does not block writers while the positions of its problems are located', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const locate = async (problems: readonly Problem[]) => {
      ask();
      await gate;
      return problems.map((problem) => ({ ...problem, column: 7 }));
    };
    const applying = applyDocuments(engine, call, applyRequest('a', [allow('p', ['nobody'], ['All'])], { locate }));
    await asked;
    await createObject(engine, call, engine.registry.get('Group'), { name: 'devs' }, lenient);
    open();
    expect(await applying).toMatchObject({ state: 'invalid', problems: [{ code: 'reference_unknown', column: 7 }] });
  });

  it('returns applied when the positions of its warnings cannot be located', async () => {
    await using office = await newOffice('postgres');
    const locate = () => Promise.reject(new Unavailable('the thread ended'));
    const foreign = [{ file: 'kustomization.yaml', holds: 'a Kustomization', kinds: [], problems: [] }];
    const applied = await applyDocuments(office.engine, office.call, applyRequest('a', groups(1), { foreign, locate }));
    expect(applied).toMatchObject({ state: 'applied', revision: 3, plan: { warnings: [{ code: 'file_ignored' }] } });
    expect(office.logged.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('locating the warnings of source a failed after the commit'),
    );
  });

  it('locates only the warnings that are shown', async () => {
    await using office = await newOffice('postgres');
    const located: number[] = [];
    const locate = (problems: readonly Problem[]) => {
      located.push(problems.length);
      return problems;
    };
    const foreign = upTo(maxProblems + 100).map((at) => ({
      file: `${at}.yaml`,
      holds: 'a list',
      kinds: [],
      problems: [],
    }));
    const { outcome } = await planApply(office.engine, office.call, applyRequest('a', groups(1), { foreign, locate }));
    expect(located).toEqual([maxProblems + 1]);
    expect(outcome.ok && outcome.plan.warnings.at(-1)?.code).toBe('problems_truncated');
  });

  it('writes nothing on problems, a tripped guard or an unexpected digest', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyDocuments(engine, call, applyRequest('a', groups(8)));
    const before = await readTables(office.database);
    const states = [
      await applyDocuments(engine, call, applyRequest('a', [allow('p', ['nobody'], ['All'])])),
      await applyDocuments(
        engine,
        call,
        applyRequest('a', groups(9), { problems: [{ code: 'yaml_invalid', message: 'broken' }] }),
      ),
      await applyDocuments(engine, call, applyRequest('a', groups(1))),
      await applyDocuments(engine, call, applyRequest('a', [])),
      await applyDocuments(engine, call, applyRequest('a', groups(9), { expectDigest: 'other' })),
    ];
    expect(states.map(({ state }) => state)).toEqual([
      'invalid',
      'invalid',
      'needs_approval',
      'needs_approval',
      'stale',
    ]);
    expect(await readTables(office.database)).toEqual(before);
  });

  it('reports no reference problems when documents could not be parsed', async () => {
    await using office = await newOffice('postgres');
    const read: Problem = { code: 'yaml_invalid', message: 'broken', file: 'b.yaml', line: 2 };
    const result = await applyDocuments(
      office.engine,
      office.call,
      applyRequest('a', [allow('p', ['unread'], ['All'])], { problems: [read] }),
    );
    expect(result).toEqual({ state: 'invalid', problems: [read] });
  });

  it('E74 succeeds with the approved digest and with no other', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyDocuments(engine, call, applyRequest('a', groups(8)));
    const [one, other] = [groups(1), groups(2)];
    const { outcome } = await planApply(engine, call, applyRequest('a', one));
    const approve = outcome.ok ? outcome.plan.digest : '';
    expect((await applyDocuments(engine, call, applyRequest('a', other, { approve }))).state).toBe('needs_approval');
    expect((await applyDocuments(engine, call, applyRequest('a', one, { approve }))).state).toBe('applied');
  });

  it('writes nothing when it is only planned', async () => {
    await using office = await newOffice('postgres');
    const before = await readTables(office.database);
    const { outcome } = await planApply(office.engine, office.call, applyRequest('a', groups(3)));
    expect(outcome.ok && outcome.plan.counts.create).toBe(3);
    expect(await readTables(office.database)).toEqual(before);
  });

  it('E29 of the exported account from another source changes nothing', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await applyDocuments(
      engine,
      call,
      applyRequest('a', [
        document('Group', 'devs', { name: 'Developers', peers: ['p1'] }),
        allow('p', ['devs'], ['All']),
      ]),
    );
    const { object } = await createObject(
      engine,
      call,
      engine.registry.get('Group'),
      { name: 'By hand', peers: ['p2'] },
      lenient,
    );
    await createObject(engine, call, engine.registry.get('Policy'), policyBody('By hand', object.id), lenient);
    const state = await engine.snapshots.current(office.account);
    const exported = exportDocuments(state).map(({ kind, metadata, spec }) => ({
      ...document(kind, metadata.name, spec),
      metadata,
    }));
    const { outcome } = await planApply(engine, { ...call, revision: state.revision }, applyRequest('copy', exported));
    expect(outcome.ok ? outcome.plan.changes : outcome.problems).toEqual([]);
    expect(exported.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
      'Account/account',
      'Group/by-hand',
      'Group/devs',
      'Peer/p1',
      'Peer/p2',
      'Peer/p3',
      'Policy/by-hand',
      'Policy/default',
      'Policy/p',
    ]);
  });

  it('succeeds for 12 sources at once', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const results = await Promise.all(
      upTo(12).map((at) =>
        applyDocuments(
          engine,
          call,
          applyRequest(`s${at}`, [document('Group', `mine-${at}`), allow(`p${at}`, [`mine-${at}`], ['All'])]),
        ),
      ),
    );
    expect(results.map(({ state }) => state)).toEqual(Array(12).fill('applied'));
    const state = await engine.snapshots.fresh(office.account);
    expect([...state.sources()].sort()).toEqual(
      upTo(12)
        .map((at) => `s${at}`)
        .sort(),
    );
  });
});

describe('applies with many objects or concurrent writers', () => {
  it('E72 leave no dangling reference when a group is deleted while a peer joins it, in either order', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account } = office;
    const kind = engine.registry.get('Group');
    for (const order of ['prune first', 'join first']) {
      const state = await applyDocuments(engine, call, applyRequest('a', groups(2)));
      if (state.state !== 'applied') throw new Error(state.state);
      const { id } = objectOf(state.after, 'Group', 'g2');
      const prune = () => applyDocuments(engine, call, applyRequest('a', groups(1)));
      const join = () =>
        replaceObject(engine, call, kind, id, { name: 'g2', peers: ['p1'] }, lenient).catch((error: Error) => error);
      const [first, second] = order === 'prune first' ? [prune, join] : [join, prune];
      await Promise.all([first(), second()]);
      const after = await engine.snapshots.current(account);
      expect([order, after.get(id)]).toEqual([order, undefined]);
      checkState(after);
    }
  });
});

describe('the keys of exported documents', () => {
  it('are valid whatever names the objects have', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const names = [
      'Ümläut & Söhne',
      '研发',
      '--x--',
      'a'.repeat(199).concat(' b'),
      'Devs',
      'devs',
      `${'x'.repeat(255)}`,
    ];
    for (const expected of names) await createObject(engine, call, kind, { name: expected }, lenient);
    const state = await engine.snapshots.current(office.account);
    const exported = exportDocuments(state, { kind: 'Group' });
    const keys = exported.map(({ metadata }) => metadata.name);
    expect(keys.filter((key) => !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(key) || key.length > 253)).toEqual([]);
    expect(new Set(keys).size).toBe(names.length);
    const { outcome } = await planApply(
      engine,
      { ...call, revision: state.revision },
      applyRequest(
        'copy',
        exported.map(({ metadata, spec }) => ({ ...document('Group', metadata.name, spec), metadata })),
      ),
    );
    expect(outcome.ok ? outcome.plan.changes : outcome.problems).toEqual([]);
  });

  it('contain the id where a name repeats', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Policy');
    const all = (await engine.snapshots.current(office.account)).lookUp('Group', 'name', 'All')[0]?.id ?? '';
    const one = await createObject(engine, call, kind, policyBody('web', all), lenient);
    const two = await createObject(engine, call, kind, policyBody('web', all), lenient);
    const keys = async () =>
      exportDocuments(await engine.snapshots.current(office.account), { kind: 'Policy' }).map(
        ({ metadata }) => metadata.name,
      );
    expect(await keys()).toEqual(['default', `web-${one.object.id}`, `web-${two.object.id}`]);
    await deleteObject(engine, call, kind, two.object.id, lenient);
    expect(await keys()).toEqual(['default', 'web']);
  });
});
