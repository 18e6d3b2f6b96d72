import { sha256 } from '../../../lib/node-pure.ts';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import type { Document } from '../../../model/document.ts';
import { namedValues } from '../../../model/schema/values.ts';

/** A value outside that documents name: where it comes from, and its name there. */
export type UsedValue = readonly [origin: string, name: string];

/** The values that documents name with `valueFrom`, each once. */
export function usedValues(documents: readonly Document[]): readonly UsedValue[] {
  const named = documents.flatMap(({ spec }) => namedValues(spec));
  return [...new Map(named.map(([pushed, origin, name]) => [pushed, [origin, name] as const])).values()];
}

/** Changes whenever one of the values does, or why there is none. It is kept in memory alone: short values could be guessed. */
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
