import { expect, it } from 'vitest';
import { catchUp, loadSnapshot } from '../../src/db/commit/snapshots.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planRollback } from '../../src/plan/rollback/rollback.ts';
import { objectsOf } from '../plan/invariants.ts';
import { document, idsOn, now, planOn } from '../plan/steps.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { newOffice, readTables, write } from './accounts.ts';

function rollBack(present: Snapshot, past: Snapshot) {
  const work = planRollback({ snapshot: present, past, scope: 'sources', now, newId: idsOn(present) });
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

eachEngine('a rollback in the database (%s)', (engine) => {
  it('E111 restores former ids, suspends the source in the same commit, and is settled by its next plan', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const first = await newOffice(database);
    const stating = (state: Snapshot, name: string) => planOn(state, 'team', [document('Group', name, { name })]);
    const past = await write(database, first, stating(first, 'devs'));
    const present = await write(database, past, stating(past, 'ops'));
    const back = await write(database, present, rollBack(present, past));
    const caughtUp = await catchUp(database, present);
    const loaded = await loadSnapshot(database, present.registry, present.account);
    if (loaded === undefined) throw new Error('the account is there');
    for (const state of [caughtUp, loaded]) {
      expect(objectsOf(state)).toEqual(objectsOf(back));
      expect(state.settingsOf('team')).toMatchObject({ suspended: true, rolledBack: back.revision });
    }
    const { revisions = [], audit_events: events = [] } = await readTables(database);
    const rollback = { revision: past.revision, scope: 'sources', suspends: ['team'] };
    expect(JSON.stringify(revisions)).toContain(JSON.stringify(rollback.suspends));
    expect(JSON.stringify(events)).toContain('config.rollback');
    const settled = await write(database, back, stating(back, 'ops'));
    expect((await catchUp(database, back)).settingsOf('team')).toEqual(settled.settingsOf('team'));
    expect(settled.settingsOf('team')).toMatchObject({ suspended: true });
    expect(settled.settingsOf('team').rolledBack).toBeUndefined();
  });
});
