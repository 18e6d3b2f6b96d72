import type { JsonObject } from '../lib/json.ts';
import { type Plan, subjectOf } from '../plan/plan.ts';

/** A value that the server generated for an object, and that is shown only once. */
export interface Output {
  readonly kind: string;
  readonly key: string;
  readonly field: string;
  readonly value: string;
}

/** A generated value with the id of its object. */
export type ObjectOutput = Output & { readonly id: string };

/**
 * Values that the answer to a request shows only once. Stored with the write of the request until the answer itself is
 * stored.
 */
export interface ShownOnce {
  /** Generated values, for a request that made a revision. */
  readonly outputs?: readonly ObjectOutput[];
  /** The whole body, for a request that made no revision. */
  readonly body?: JsonObject;
  /** Notice that the answer contains in addition to its body. */
  readonly notice?: string;
}

/** Returns the values that a plan shows only once. */
export function objectOutputs(plan: Plan): readonly ObjectOutput[] {
  return plan.changes.flatMap((change) => {
    const { id, kind, key, name } = subjectOf(change);
    const values = Object.entries(plan.outputs.get(id) ?? {});
    return values.map(([field, value]) => ({ id, kind, key: key ?? name, field, value }));
  });
}
