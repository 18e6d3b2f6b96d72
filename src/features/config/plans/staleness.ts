import type { Call, Engine } from '../../../commit/engine.ts';
import type { SavedPlan } from '../../../db/config/plans.ts';
import { objectChangesAfter } from '../../../db/object-changes.ts';
import { Conflict } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import { readableFindings } from '../../../objects/readable-problems.ts';
import { explainMoved, explainStale, type Touch } from '../../../plan/view/stale.ts';
import { createLabeler, labelPath, viewPlan } from '../../../plan/view/view.ts';
import type { ApplyResult } from './documents.ts';

/** Maximum number of later changes that are examined. */
const maxChanges = 2000;

/**
 * Returns the refusal of a stored plan that would do something else now. Names the differences and the actors who
 * caused them, as far as the caller may read the objects concerned. The caller need not be the author of the plan, so that
 * objects in its files are no exception.
 */
export async function staleRefusal(
  engine: Engine,
  call: Call,
  saved: SavedPlan,
  result: Extract<ApplyResult, { readonly state: 'stale' | 'invalid' }>,
): Promise<Conflict> {
  const { account } = call;
  const now = result.state === 'stale' ? result.before : await engine.snapshots.current(account);
  const touches = await readTouches(engine, account, saved.baseRevision);
  const problems = readableFindings(now, call, problemsOf(saved, result, touches));
  const moved = `plan ${saved.id} was made at revision ${saved.baseRevision}, the account is now at ${now.revision}, and the plan would now make different changes`;
  const [first] = problems;
  const detail = first === undefined ? '' : ` (${first.message})`;
  return new Conflict('stale', `${moved}${detail}; make a new plan`, { problems });
}

function problemsOf(
  saved: SavedPlan,
  result: Extract<ApplyResult, { readonly state: 'stale' | 'invalid' }>,
  touches: readonly Touch[],
): readonly Problem[] {
  const { view } = saved;
  if (result.state === 'invalid') return explainStale(view, { ok: false, problems: result.problems }, touches);
  const { plan, before, after } = result;
  if (plan.digest === saved.digest) return explainMoved(saved.baseRevision, before.revision, touches);
  return explainStale(view, { ok: true, plan: viewPlan(plan, before, after) }, touches);
}

async function readTouches(engine: Engine, account: string, revision: number): Promise<readonly Touch[]> {
  const rows = await objectChangesAfter(engine.database, account, revision, maxChanges);
  const state = await engine.snapshots.current(account);
  const label = createLabeler(state, state);
  return rows.map(({ revision: number, actor, action, kind, object_id: id, key, name, paths }) => ({
    ...{ revision: number, by: actor.name, action, kind, id, name },
    ...(key === null ? {} : { key }),
    paths: paths.map((path) => labelPath(path, label)),
  }));
}
