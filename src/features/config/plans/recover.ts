import type { Call, Engine } from '../../../commit/engine.ts';
import { readRevision } from '../../../db/commit/revisions.ts';
import { readPlan } from '../../../db/config/plans.ts';
import { asObjects, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Kind } from '../../../model/declare/kind.ts';
import { planActions } from '../../../model/declare/plan-words.ts';
import { objectFromImage } from '../../../model/state/members.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { ObjectWithState } from '../../../objects/objects.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import type { Change } from '../../../plan/plan.ts';
import { showRevision } from '../history/history.ts';
import type { AppliedPlan } from './apply-plan.ts';
import { showPlan } from './saved-plans.ts';

/**
 * Returns the object of a kind that a revision created, as it was created. Used when the answer of the request was
 * lost.
 */
export async function findCreated(
  engine: Engine,
  call: Call,
  kind: Kind,
  revision: number,
): Promise<ObjectWithState | undefined> {
  const found = await readRevision(engine.database, call.account, revision);
  const row = found?.changes.find((change) => change.action === 'create' && change.kind === kind.name);
  const image = row?.image?.object;
  if (image === undefined) return undefined;
  return {
    object: objectFromImage(engine.registry, image),
    state: await engine.snapshots.atLeast(call.account, revision),
  };
}

/** The effect of a revision, with the states before and after it. Used when an answer was lost. */
export interface RevisionEffect {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly changes: readonly ObjectChange[];
  /** Objects that the revision only handed over to a source or released from one. */
  readonly claims: readonly ObjectChange[];
}

type ObjectChange = Pick<Change, 'before' | 'after'>;

/** Returns the effect of a revision, or `undefined` when the history does not reach back to it any more. */
export async function findRevisionEffect(
  { database, pastStates }: Engine,
  { account }: Call,
  revision: number,
): Promise<RevisionEffect | undefined> {
  const found = await readRevision(database, account, revision);
  if (found === undefined) return undefined;
  const before = await pastStates.at(account, revision - 1);
  const after = await pastStates.at(account, revision);
  const pairsOf = (isChange: boolean): readonly ObjectChange[] =>
    found.changes
      .filter(({ action }) => actions.includes(action) === isChange)
      .map(({ object_id: id }) => pairOf(before.get(id), after.get(id)));
  return { before, after, changes: pairsOf(true), claims: pairsOf(false) };
}

function pairOf(before: StoredObject | undefined, after: StoredObject | undefined): ObjectChange {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/**
 * Returns what a revision applied, when the answer of the request was lost: the stored plan if there is one, otherwise
 * a plan rebuilt from the history.
 */
export async function findApplied(engine: Engine, call: Call, revision: number): Promise<AppliedPlan> {
  const shown = await showRevision(engine, call, revision);
  const id = shown['plan'];
  const saved = typeof id === 'string' ? await readPlan(engine.database, call.account, id) : undefined;
  const plan = saved === undefined ? rebuildPlan(shown, revision) : await showPlan(engine, call, saved.id);
  return { plan, revision };
}

const actions: readonly Json[] = planActions;

/** Rebuilds a plan from the history, which keeps neither guards nor warnings. */
function rebuildPlan(shown: JsonObject, revision: number): PlanView {
  const rows = asObjects(shown['changes']).map(({ declared: _declared, metadata: _metadata, ...row }) => row);
  const isChange = ({ action }: JsonObject) => actions.includes(action ?? null);
  const view: JsonObject = {
    formatVersion: '1.0',
    ...(shown['source'] === undefined ? {} : { source: shown['source'] }),
    digest: shown['digest'] ?? '',
    baseRevision: revision - 1,
    counts: shown['counts'] ?? {},
    changes: rows.filter(isChange).map((row) => ({ ...row, risks: [] })),
    claims: rows.filter((row) => !isChange(row)).map(({ units: _, ...row }) => row),
    guards: [],
    warnings: [],
  };
  // The cast is safe: the view was built member by member from the history.
  return view as unknown as PlanView;
}
