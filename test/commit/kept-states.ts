import fc from 'fast-check';
import { expect } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { createPastStates } from '../../src/commit/past-states.ts';
import { compactHistory } from '../../src/features/config/history/retention.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { objectsOf } from '../plan/invariants.ts';
import { planStep, type Step, steps } from '../plan/sequences.ts';
import { newOffice, type Office, putAll } from './office.ts';

/** Commits the steps one after another. Returns the state at each revision, including the initial revision. */
async function live(office: Office, sequence: readonly Step[]): Promise<Map<number, Snapshot>> {
  const { engine, call, account } = office;
  const present = await engine.snapshots.fresh(account);
  const states = new Map([[present.revision, present]]);
  for (const step of sequence) {
    const committed = await engine.committer.mutate({
      ...call,
      propose: (state) => planStep(state, step) ?? putAll(engine, state, []),
    });
    if (committed.ok) states.set(committed.after.revision, committed.after);
  }
  return states;
}

/** Returns the past states as a server that has just started reads them. */
export const asCreated = ({ database, registry, snapshots }: Engine) => createPastStates(database, registry, snapshots);

/** Compares past states with the states that were recorded, for this number of random sequences of changes. */
export async function checkPastStates(runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 6 }),
      fc.infiniteStream(fc.nat()),
      async (sequence, keep, picks) => {
        await using office = await newOffice('postgres');
        const { engine, account } = office;
        const states = await live(office, sequence);
        const head = Math.max(...states.keys());
        const check = async (past = engine.pastStates) => {
          for (const [revision, state] of [...states].sort(() => ((picks.next().value ?? 0) % 2) - 0.5))
            expect(objectsOf(await past.at(account, revision))).toEqual(objectsOf(state));
        };
        await check();
        await check(asCreated(engine));
        await compactHistory(engine, { revisions: keep, days: 0 });
        for (const revision of states.keys()) {
          if (revision >= head - keep) continue;
          await expect(engine.pastStates.at(account, revision)).rejects.toMatchObject({ reason: 'gone' });
          states.delete(revision);
        }
        await check();
        await check(asCreated(engine));
      },
    ),
    { numRuns: runs },
  );
}
