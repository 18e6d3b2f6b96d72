import { sha256 } from '../../../lib/node-pure.ts';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import type { Document } from '../../../model/document.ts';
import { namedValues } from '../../../model/schema/values.ts';

/** A value from outside that documents name: its origin, and its name there. */
export type UsedValue = readonly [origin: string, name: string];

/** Returns the values that documents name with `valueFrom`, each once. */
export function usedValues(documents: readonly Document[]): readonly UsedValue[] {
  const named = documents.flatMap(({ spec }) => namedValues(spec));
  return [...new Map(named.map(([pushed, origin, name]) => [pushed, [origin, name] as const])).values()];
}

/**
 * Returns a digest that changes whenever one of the values changes, or the reason why it is missing. Must be kept in
 * memory only, because short values could be guessed from it.
 */
export function digestOfValues(
  values: readonly UsedValue[],
  { valueFrom, unsetHint }: Pick<PlanEnvironment, 'valueFrom' | 'unsetHint'>,
): string {
  const read = ([origin, name]: UsedValue) => {
    const value = valueFrom(origin, name);
    return value === undefined ? { unset: unsetHint?.(origin, name) ?? null } : { value };
  };
  return values.length === 0 ? '' : sha256(JSON.stringify(values.map(read)));
}
