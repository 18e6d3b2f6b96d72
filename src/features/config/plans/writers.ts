import type { Engine } from '../../../commit/engine.ts';
import { findWriters, type UnitOf } from '../../../db/config/writers.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import { type Plan, subjectOf } from '../../../plan/plan.ts';

/** For how many units of a plan the writers are looked up. */
const most = 500;

/** The plan with who set, and when, the values without an owner that the source takes over. */
export async function withWriters(engine: Engine, account: string, plan: Plan, view: PlanView): Promise<PlanView> {
  const claimed = plan.changes.flatMap((change) =>
    (change.claimed ?? []).map((path): UnitOf => ({ object: subjectOf(change).id, path })),
  );
  if (claimed.length === 0) return view;
  const writers = await findWriters(engine.database, account, claimed.slice(0, most));
  const known = new Map(writers.map(({ object, path, actor, at }) => [`${object} ${path}`, { actor, at }]));
  const changes = view.changes.map((change, at) => {
    const { units = [], action } = plan.changes[at] ?? {};
    // Of an update the view shows every unit, in the same order.
    if (action !== 'update') return change;
    const shown = change.units.map((unit, index) => {
      const writer = known.get(`${change.id} ${units[index]?.path}`);
      return writer === undefined
        ? unit
        : { ...unit, setBy: { name: String(writer.actor['name']), at: writer.at.toISOString() } };
    });
    return { ...change, units: shown };
  });
  return { ...view, changes };
}
