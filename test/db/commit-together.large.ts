import { expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { bootstrapAccount, storedObject } from '../../src/commit/bootstrap.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { statement } from '../../src/db/builder.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { finishPlan } from '../../src/plan/finish.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';

const actor = { type: 'system', id: 'test', name: 'test' } as const;
const entry = (account: string, value: string) => ({ account, kind: 'domain', value, subject: account });

/** Returns a plan that adds a group, or an empty plan without a name. */
function addGroup(engine: Engine, snapshot: Snapshot, name?: string): PlanOutcome {
  const kind = engine.registry.get('Group');
  const { spec } = canonicalSpec(kind, { name: name ?? '' });
  const group = storedObject(engine, { id: engine.newId(), kind: 'Group', spec, derived: {} }, engine.now());
  return finishPlan({
    snapshot,
    edits: name === undefined ? [] : [{ after: group }],
    locate: (_, { code, message }) => ({ code, message }),
    newId: engine.newId,
  });
}

function found(engine: Engine, id = engine.newId(), entries = [entry(id, `${id}.example.com`)]) {
  const founded = emptySnapshot(engine.registry, id);
  return { id, founded, entries };
}

/** Creates an account, and a second account in one commit with a change of the first. */
async function twoAccounts(engine: Engine): Promise<readonly [string, string]> {
  const { account } = present(
    await bootstrapAccount(engine, actor, (id) => engine.firstObjects(id, { id: 'owner', name: 'o' })),
  );
  const { id, founded, entries } = found(engine);
  const made = await engine.committer.mutateTogether({
    ...{ actor, accounts: [account], newAccount: founded, entries },
    propose: (stateOf) => ({
      [account]: addGroup(engine, stateOf(account), 'first'),
      [id]: addGroup(engine, stateOf(id), 'first'),
    }),
  });
  expect(made.ok).toBe(true);
  return [account, id];
}

async function namesIn(engine: Engine, account: string): Promise<readonly string[]> {
  engine.snapshots.clear();
  return (await engine.snapshots.fresh(account)).ofKind('Group').map(({ name }) => name);
}

eachEngine('a commit of several accounts on %s', (kind) => {
  it('is atomic beside concurrent writers of one of them, and loses nothing', async () => {
    await using made = await testDatabase(kind);
    const engine = createEngine({ database: made.database });
    const [a, b] = await twoAccounts(engine);
    const shared = Array.from({ length: 8 }, (_, at) =>
      engine.committer.mutateTogether({
        actor,
        // The accounts are named in either order. Their rows are always locked in the same order.
        accounts: at % 2 === 0 ? [a, b] : [b, a],
        propose: (stateOf) => ({
          [a]: addGroup(engine, stateOf(a), `shared ${at}`),
          [b]: addGroup(engine, stateOf(b), `shared ${at}`),
        }),
      }),
    );
    const single = Array.from({ length: 8 }, (_, at) =>
      engine.committer.mutate({
        ...{ account: at % 2 === 0 ? a : b, actor, revision: 0 },
        propose: (state) => addGroup(engine, state, `single ${at}`),
      }),
    );
    const results = await Promise.all([...shared, ...single]);
    expect(results.every(({ ok }) => ok)).toBe(true);
    const numbers = Array.from({ length: 8 }, (_, at) => at);
    const expected = (first: readonly string[], parity: number) =>
      [
        ...first,
        ...numbers.map((at) => `shared ${at}`),
        ...numbers.filter((at) => at % 2 === parity).map((at) => `single ${at}`),
      ].sort();
    expect([...(await namesIn(engine, a))].sort()).toEqual(expected(['All', 'first'], 0));
    expect([...(await namesIn(engine, b))].sort()).toEqual(expected(['first'], 1));
    expect(await findEntry(made.database, 'domain', `${b}.example.com`)).toBe(b);
    await engine.committer.settle();
  });

  it('changes and creates no account when a directory value is taken', async () => {
    await using made = await testDatabase(kind);
    const engine = createEngine({ database: made.database });
    const [a, b] = await twoAccounts(engine);
    const { id, founded } = found(engine);
    const refused = await engine.committer.mutateTogether({
      ...{ actor, accounts: [a], newAccount: founded, entries: [entry(id, `${b}.example.com`)] },
      propose: (stateOf) => ({
        [a]: addGroup(engine, stateOf(a), 'second'),
        [id]: addGroup(engine, stateOf(id), 'second'),
      }),
    });
    expect(refused).toMatchObject({ ok: false, why: 'taken' });
    expect(await namesIn(engine, a)).not.toContain('second');
    await expect(engine.snapshots.fresh(id)).rejects.toThrow('not found');
    expect(await findEntry(made.database, 'domain', `${b}.example.com`)).toBe(b);
  });

  it('is refused when one of the plans is refused, and writes nothing when nothing changes', async () => {
    await using made = await testDatabase(kind);
    const engine = createEngine({ database: made.database });
    const [a, b] = await twoAccounts(engine);
    const propose = (name?: string) =>
      engine.committer.mutateTogether({
        ...{ actor, accounts: [a, b] },
        propose: (stateOf) => ({
          [a]: addGroup(engine, stateOf(a), name === undefined ? undefined : 'other'),
          [b]: addGroup(engine, stateOf(b), name),
        }),
      });
    expect(await propose('first')).toMatchObject({ ok: false, problems: [{ code: 'value_taken' }] });
    expect((await propose()).ok).toBe(true);
    expect(await namesIn(engine, a)).not.toContain('other');
    const [head] = await made.database.lookUp(
      statement<{ readonly sum: number }>('select sum(revision)::int as sum from accounts', []),
    );
    expect(head?.sum).toBe(3);
  });
});
