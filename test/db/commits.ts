import fc from 'fast-check';
import { expect } from 'vitest';
import { catchUp, loadSnapshot } from '../../src/db/commit/snapshots.ts';
import type { Database } from '../../src/db/database.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { objectsOf } from '../plan/invariants.ts';
import { planStep, steps } from '../plan/sequences.ts';
import { planOn } from '../plan/steps.ts';
import { type Engine, testDatabase } from '../setup/database.ts';
import { manyDocuments, newOffice, noted, write } from './accounts.ts';

async function loaded(database: Database, like: Snapshot): Promise<Snapshot> {
  const snapshot = await loadSnapshot(database, like.registry, like.account);
  if (snapshot === undefined) throw new Error('there is no such account');
  return snapshot;
}

/**
 * Checks that the database contains the planned state, when it is read as a whole and when earlier snapshots catch up.
 */
export async function expectStored(database: Database, state: Snapshot, earlier: readonly Snapshot[]): Promise<void> {
  const read = await loaded(database, state);
  expect([read.revision, objectsOf(read)]).toEqual([state.revision, objectsOf(state)]);
  for (const snapshot of earlier) {
    const caughtUp = await catchUp(database, snapshot);
    expect([caughtUp.revision, objectsOf(caughtUp)]).toEqual([state.revision, objectsOf(state)]);
  }
}

/**
 * Commits `count` sequences of plans one after the other. After each, the database must contain the planned state.
 * Returns the last revision.
 */
export async function commitSequences(engine: Engine, count: number): Promise<number> {
  await using made = await testDatabase(engine);
  const first = await newOffice(made.database);
  let state = first;
  for (const sequence of fc.sample(steps, { numRuns: count, seed: 20_261_121 })) {
    const before = state;
    for (const step of sequence) {
      const outcome = planStep(state, step);
      if (outcome?.ok === true && outcome.next !== state && outcome.next.revision > state.revision)
        state = await write(made.database, state, outcome);
    }
    await expectStored(made.database, state, [before]);
  }
  await expectStored(made.database, state, [first]);
  return state.revision;
}

/** Commits 100 objects and then as many as `count`, and expects one statement for each commit. */
export async function commitMany(engine: Engine, count: number): Promise<void> {
  await using made = await testDatabase(engine);
  const { database, statements } = noted(made.database);
  const base = await newOffice(made.database);
  const small = await write(database, base, planOn(base, 'a', manyDocuments(100)));
  expect(statements).toHaveLength(1);
  const next = await write(database, small, planOn(small, 'a', manyDocuments(count)));
  expect(statements).toHaveLength(2);
  expect((await loaded(made.database, next)).size).toBe(next.size);
}
