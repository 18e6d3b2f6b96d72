import type { Committed } from '../../../commit/commit.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { type ObjectOutput, type Output, objectOutputs } from '../../../commit/shown-once.ts';
import { listSealedOutputs, replaceOutputs, type SealedOutputs, takeOutputs } from '../../../db/config/plan-outputs.ts';
import type { SavedPlan } from '../../../db/config/plans.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import { sealContexts } from '../../../model/schema/sealing.ts';
import type { Plan } from '../../../plan/plan.ts';
import { viewPlan } from '../../../plan/view/view.ts';

/** Returns the values of a plan that are shown once. */
export function outputsOf(plan: Plan): readonly Output[] {
  return objectOutputs(plan).map(shownOutput);
}

function shownOutput({ kind, key, field, value }: Output): Output {
  return { kind, key, field, value };
}

/** Number of days for which values are stored until they are read. */
export const outputRetentionDays = 30;

/**
 * Returns the plan of a change without a waiting caller, to be stored with its values sealed until they are read.
 * Returns `undefined` when the plan has no values to show.
 */
export function keepOutputs(
  engine: Engine,
  { account, actor }: Call,
  source: string,
  { plan, revision, before, after }: Extract<Committed, { readonly ok: true }>,
): SavedPlan | undefined {
  const outputs = objectOutputs(plan);
  if (outputs.length === 0) return undefined;
  const id = engine.newId();
  const createdAt = engine.now();
  const expiresAt = new Date(Date.parse(createdAt) + outputRetentionDays * 24 * 60 * 60 * 1000).toISOString();
  return {
    ...{ id, source, digest: plan.digest, state: 'applied', createdAt, expiresAt },
    // The plan is applied already, so nothing plans it again.
    request: {},
    view: { ...viewPlan(plan, before, after), id, state: 'applied', expiresAt },
    baseRevision: plan.base,
    actor: { ...actor },
    ...(revision === undefined ? {} : { appliedRevision: revision }),
    outputs: engine.planEnvironment.vault.seal(JSON.stringify(outputs), sealContexts.outputs(account, id)),
  };
}

/**
 * Returns the values that a plan shows, which works only once. Throws `NotFound`, or `Conflict` (`gone`) when they were
 * read already.
 */
export async function readOutputs(engine: Engine, { account }: Call, id: string): Promise<readonly Output[]> {
  const found = await takeOutputs(engine.database, account, id, engine.now());
  if (found === 'no plan') throw new NotFound(`plan ${id} not found; outputs are kept for ${outputRetentionDays} days`);
  if (found === 'read')
    throw new Conflict(
      'gone',
      `the outputs of plan ${id} were read already, and they are shown only once; renew the value where the API offers it, or delete the object and create it again`,
    );
  return found === 'none' ? [] : open(engine, account, { plan: id, sealed: found.sealed }).map(shownOutput);
}

/** An output as it is stored. Earlier releases did not store the id of its object. */
type StoredOutput = Output & Partial<Pick<ObjectOutput, 'id'>>;

function open(engine: Engine, account: string, { plan, sealed }: SealedOutputs): readonly StoredOutput[] {
  // Only `keepOutputs` and `removeOutputs` write this text.
  return JSON.parse(engine.planEnvironment.vault.open(sealed, sealContexts.outputs(account, plan)));
}

/** Values that were generated for an object and were not read yet. */
export interface UnreadOutputs {
  /** Values by field: the newest ones when they were generated several times. */
  readonly values: Readonly<Record<string, string>>;
  /** Ids of the plans that keep these values and older ones. */
  readonly plans: readonly string[];
}

/** Returns the values that were generated for the objects of a source and were not read yet, by object id. */
export async function findUnreadOutputs(
  engine: Engine,
  account: string,
  source: string,
): Promise<ReadonlyMap<string, UnreadOutputs>> {
  const found = new Map<string, UnreadOutputs>();
  for (const sealed of await listSealedOutputs(engine.database, account, source, engine.now()))
    for (const [id, outputs] of Map.groupBy(open(engine, account, sealed), (output) => output.id)) {
      if (id === undefined) continue;
      const values = Object.fromEntries(outputs.map(({ field, value }) => [field, value]));
      found.set(id, { values, plans: [...(found.get(id)?.plans ?? []), sealed.plan] });
    }
  return found;
}

/**
 * Removes an object's values from the stored plans, because they reached their destination and must not be read again.
 */
export async function removeOutputs(
  engine: Engine,
  of: { readonly account: string; readonly source: string; readonly object: string },
  { plans }: UnreadOutputs,
): Promise<void> {
  // Another server may settle values of the same plan at the same time. Each refused write means that another server
  // succeeded.
  while (!(await tryRemoveOutputs(engine, of, plans)));
}

/** Returns `false` when the outputs changed in between. */
async function tryRemoveOutputs(
  engine: Engine,
  { account, source, object }: { readonly account: string; readonly source: string; readonly object: string },
  plans: readonly string[],
): Promise<boolean> {
  for (const plan of await listSealedOutputs(engine.database, account, source, engine.now())) {
    const outputs = plans.includes(plan.plan) ? open(engine, account, plan) : [];
    const others = outputs.filter(({ id }) => id !== object);
    if (others.length === outputs.length) continue;
    const context = sealContexts.outputs(account, plan.plan);
    const sealed = others.length === 0 ? undefined : engine.planEnvironment.vault.seal(JSON.stringify(others), context);
    if (!(await replaceOutputs(engine.database, account, plan, sealed))) return false;
  }
  return true;
}

/** Whether a plan has values to show that were not read yet. */
export async function hasUnreadOutputs(engine: Engine, account: string, source: string, id: string): Promise<boolean> {
  const plans = await listSealedOutputs(engine.database, account, source, engine.now());
  return plans.some(({ plan }) => plan === id);
}
