import type { Kind } from '../../model/declare/kind.ts';
import { emptyEnvironment } from '../../model/declare/plan-environment.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { finishPlan } from '../finish.ts';
import type { RequestContext, RequestOutcome } from './requests.ts';

/**
 * Plans that the server generates the values of an object again, as at its creation. The new values are shown once.
 * Throws for kinds without generated values.
 */
export function planRenewal(context: RequestContext, kind: Kind, before: StoredObject): RequestOutcome {
  const { snapshot, now, newId, actor, planEnvironment = emptyEnvironment } = context;
  const generated = kind.generate?.(before, { now, random: planEnvironment.random });
  if (generated === undefined) throw new Error(`the server generates no values for objects of kind ${kind.name}`);
  const after = { ...before, derived: { ...before.derived, ...generated.derived }, updatedAt: now };
  const outcome = finishPlan({
    ...{ snapshot, now, newId, planEnvironment, edits: [{ before, after }] },
    ...(actor === undefined ? {} : { actor }),
    locate: (_, { code, path, message }) => ({ code, kind: kind.name, path, message }),
  });
  if (!outcome.ok) return { ...outcome, id: before.id, ignored: [] };
  const outputs = new Map([...outcome.plan.outputs, [before.id, generated.outputs ?? {}]]);
  return { ...outcome, plan: { ...outcome.plan, outputs }, id: before.id, ignored: [] };
}
