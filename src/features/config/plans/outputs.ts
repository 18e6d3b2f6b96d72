import type { Committed } from '../../../commit/commit.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { type Output, objectOutputs } from '../../../commit/shown-once.ts';
import { type SavedPlan, takeOutputs } from '../../../db/config/plans.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import { sealPlaces } from '../../../model/schema/sealing.ts';
import type { Plan } from '../../../plan/plan.ts';
import { viewPlan } from '../../../plan/view/view.ts';

/** What a plan has to show once. */
export function outputsOf(plan: Plan): readonly Output[] {
  return objectOutputs(plan).map(({ id: _, ...output }) => output);
}

/** How long values are stored until they are read, in days. */
export const outputsKeptDays = 30;

/** The plan of a change without a waiting caller, stored when it has values to show: sealed, until they are read. */
export function keepOutputs(
  engine: Engine,
  { account, actor }: Call,
  source: string,
  { plan, revision, before, after }: Extract<Committed, { readonly ok: true }>,
): SavedPlan | undefined {
  const outputs = outputsOf(plan);
  if (outputs.length === 0) return undefined;
  const id = engine.newId();
  const createdAt = engine.now();
  const expiresAt = new Date(Date.parse(createdAt) + outputsKeptDays * 24 * 60 * 60 * 1000).toISOString();
  return {
    ...{ id, source, digest: plan.digest, state: 'applied', createdAt, expiresAt },
    // It is applied: nothing plans it again.
    request: {},
    view: { ...viewPlan(plan, before, after), id, state: 'applied', expiresAt },
    baseRevision: plan.base,
    actor: { ...actor },
    ...(revision === undefined ? {} : { appliedRevision: revision }),
    outputs: engine.planEnvironment.vault.seal(JSON.stringify(outputs), sealPlaces.outputs(account, id)),
  };
}

/** The values that a plan has to show: this once. Throws `NotFound`, or `Conflict` when they were read. */
export async function readOutputs(engine: Engine, { account }: Call, id: string): Promise<readonly Output[]> {
  const found = await takeOutputs(engine.database, account, id, engine.now());
  if (found === 'no plan') throw new NotFound(`plan ${id} not found; outputs are kept for ${outputsKeptDays} days`);
  if (found === 'read')
    throw new Conflict(
      'gone',
      `the outputs of plan ${id} were read already, and they are shown once; renew the value where the interface offers it, or make the object anew`,
    );
  // Written by `keepOutputs` alone.
  return found === 'none'
    ? []
    : JSON.parse(engine.planEnvironment.vault.open(found.sealed, sealPlaces.outputs(account, id)));
}
