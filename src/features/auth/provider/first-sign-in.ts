import { editDerivedFacts, planEdits } from '../../../commit/edits.ts';
import type { Engine } from '../../../commit/engine.ts';
import { insertSubjectEntry } from '../../../db/accounts/idp-people.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Person } from './people.ts';

/** Records a sign-in with a password. An invited user becomes active. */
export async function recordSignIn(engine: Engine, person: Person): Promise<void> {
  const { account, id, name, email } = person;
  await insertSubjectEntry(engine.database, account, id);
  const state = await engine.snapshots.atLeast(account, person.revision);
  if (isActive(state, id)) return;
  const committed = await engine.committer.mutate({
    ...{ account, actor: { type: 'user', id, name, email }, revision: state.revision },
    propose: (now) => {
      const user = now.get(id);
      const edits =
        user === undefined || isActive(now, id) ? [] : [editDerivedFacts(engine, user, { status: 'active' })];
      return planEdits(engine, now, edits);
    },
  });
  if (!committed.ok)
    throw new Error(`a user cannot become active: ${committed.problems.map(({ message }) => message).join('; ')}`);
}

function isActive(state: Snapshot, id: string): boolean {
  return state.find('User', id)?.derived.status === 'active';
}
