import type { JsonObject } from '../lib/json.ts';
import { type Plan, subjectOf } from '../plan/plan.ts';

/** A value that the server generated for an object, and that is shown once. */
export interface Output {
  readonly kind: string;
  readonly key: string;
  readonly field: string;
  readonly value: string;
}

/** The same with the id of its object. */
export type ObjectOutput = Output & { readonly id: string };

/** What the answer to a request shows once, kept with what the request wrote until the answer itself is kept. */
export interface ShownOnce {
  /** Of a request that made a revision. */
  readonly outputs?: readonly ObjectOutput[];
  /** The whole body, of a request that made none. */
  readonly body?: JsonObject;
  /** What the answer says beside its body. */
  readonly notice?: string;
}

/** What a plan has to show once. */
export function objectOutputs(plan: Plan): readonly ObjectOutput[] {
  return plan.changes.flatMap((change) => {
    const { id, kind, key, name } = subjectOf(change);
    const values = Object.entries(plan.outputs.get(id) ?? {});
    return values.map(([field, value]) => ({ id, kind, key: key ?? name, field, value }));
  });
}
