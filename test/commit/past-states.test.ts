import { describe, expect, it } from 'vitest';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { objectsOf } from '../plan/invariants.ts';
import { planStep, type Step } from '../plan/sequences.ts';
import { eachEngine } from '../setup/database.ts';
import { asCreated, checkPastStates } from './kept-states.ts';
import { newOffice, type Office, putAll, revisionsOf, upTo } from './office.ts';

/** Creates a group for each name, one revision each. */
async function makeGroups({ engine, call }: Office, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const step: Step = { does: 'create', kind: 'Group', body: () => ({ name }) };
    await engine.committer.mutate({ ...call, propose: (state) => planStep(state, step) ?? putAll(engine, state, []) });
  }
}

const groupNames = (state: Snapshot) => state.ofKind('Group').map(({ name }) => name);

describe('a past snapshot', () => {
  it('E158 equals the state recorded at its revision, for any changes, before and after compaction', () =>
    checkPastStates(1));

  it('of a future revision is not found, and the error names the newest revision', async () => {
    await using office = await newOffice('postgres');
    const refusal = office.engine.pastStates.at(office.account, 99);
    await expect(refusal).rejects.toThrow('revision 99 not found; the newest one is 2');
  });
});

eachEngine('old history (%s)', (name) => {
  it('is compacted to the given number of revisions without changing the account; compacting again is a no-op', async () => {
    await using office = await newOffice(name);
    const { engine, account, database } = office;
    await makeGroups(office, ['a', 'b', 'c', 'd', 'e', 'f']);
    const before = objectsOf(await engine.snapshots.fresh(account));
    expect(await compactHistory(engine, { revisions: 3, days: 0 })).toBeGreaterThan(0);
    expect(await revisionsOf(database)).toEqual([6, 7, 8]);
    expect(await compactHistory(engine, { revisions: 3, days: 0 })).toBe(0);
    expect(objectsOf(await engine.snapshots.fresh(account))).toEqual(before);
    expect(objectsOf(await asCreated(engine).at(account, 8))).toEqual(before);
    expect(groupNames(await asCreated(engine).at(account, 5)).sort()).toEqual(['All', 'a', 'b', 'c']);
    const refusal = asCreated(engine).at(account, 4);
    await expect(refusal).rejects.toThrow('revision 4 is no longer kept; the history begins at revision 5');
  });

  it('is kept while it is younger than 90 days', async () => {
    await using office = await newOffice(name);
    await makeGroups(office, ['a', 'b', 'c']);
    expect(await compactHistory(office.engine, { revisions: 1, days: 90 })).toBe(0);
    expect(await revisionsOf(office.database)).toEqual(upTo(5));
    await office.database.asOwner([
      "update revisions set created_at = created_at - interval '91 days' where revision <= 3",
    ]);
    await compactHistory(office.engine, { revisions: 1, days: 90 });
    expect(await revisionsOf(office.database)).toEqual([4, 5]);
  });

  it('is compacted in steps, with a revision of 700 changes as a whole', async () => {
    await using office = await newOffice(name);
    const { engine, account, call } = office;
    const documents = upTo(700).map((at) => ({ name: `g${at}` }));
    const kind = engine.registry.get('Group');
    await engine.committer.mutate({
      ...call,
      propose: (state) => {
        const [like] = state.ofKind(kind.name);
        if (like === undefined) throw new Error('there is no group');
        const after = documents.map(({ name: called }) => ({
          after: { ...like, id: called, name: called, spec: { ...like.spec, name: called }, derived: {} },
        }));
        return putAll(engine, state, after);
      },
    });
    await makeGroups(office, ['a', 'b']);
    const before = objectsOf(await engine.snapshots.fresh(account));
    expect(await compactHistory(engine, { revisions: 1, days: 0 })).toBeGreaterThan(700);
    expect(await revisionsOf(office.database)).toEqual([5]);
    expect(objectsOf(await asCreated(engine).at(account, 5))).toEqual(before);
  });
});

describe('several servers with a shared history', () => {
  it('may compact it at the same time', async () => {
    await using office = await newOffice('postgres');
    const { engine, account } = office;
    const other = await office.another();
    await makeGroups(office, upTo(40).map(String));
    const before = objectsOf(await engine.snapshots.fresh(account));
    await Promise.all([engine, other, engine].map((server) => compactHistory(server, { revisions: 5, days: 0 })));
    await compactHistory(other, { revisions: 5, days: 0 });
    expect(await revisionsOf(office.database)).toEqual([38, 39, 40, 41, 42]);
    expect(objectsOf(await asCreated(other).at(account, 42))).toEqual(before);
  });

  it('reload the account when missed revisions have been compacted', async () => {
    await using office = await newOffice('postgres');
    const { engine, account } = office;
    const other = await office.another();
    await other.snapshots.fresh(account);
    await makeGroups(office, ['a', 'b', 'c', 'd']);
    await compactHistory(engine, { revisions: 1, days: 0 });
    expect(objectsOf(await other.snapshots.fresh(account))).toEqual(objectsOf(await engine.snapshots.fresh(account)));
  });

  it('keep writing while it is compacted', async () => {
    await using office = await newOffice('postgres');
    const { engine, account } = office;
    await makeGroups(office, upTo(20).map(String));
    const folding = (async () => {
      for (const keep of [15, 10, 5, 2]) await compactHistory(engine, { revisions: keep, days: 0 });
    })();
    await makeGroups(
      office,
      upTo(20).map((at) => `later ${at}`),
    );
    await folding;
    const state = await engine.snapshots.fresh(account);
    expect([state.revision, state.countOf('Group')]).toEqual([42, 41]);
    for (const revision of await revisionsOf(office.database))
      expect((await asCreated(engine).at(account, revision)).countOf('Group')).toBe(revision - 1);
  });
});
