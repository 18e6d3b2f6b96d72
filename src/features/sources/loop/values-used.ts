import { sha256 } from '../../../lib/node-pure.ts';
import type { Document } from '../../../model/document.ts';
import { namedValues } from '../../../model/schema/values.ts';

/** A value outside that documents name: where it comes from, and its name there. */
export type UsedValue = readonly [origin: string, name: string];

/** The values that documents name with `valueFrom`, each once. */
export function usedValues(documents: readonly Document[]): readonly UsedValue[] {
  const named = documents.flatMap(({ spec }) => namedValues(spec));
  return [...new Map(named.map(([pushed, origin, name]) => [pushed, [origin, name] as const])).values()];
}

/** Changes whenever one of the values does; the values cannot be derived from it. */
export function digestOfValues(
  values: readonly UsedValue[],
  read: (origin: string, name: string) => string | undefined,
): string {
  return values.length === 0 ? '' : sha256(JSON.stringify(values.map(([origin, name]) => read(origin, name) ?? null)));
}
