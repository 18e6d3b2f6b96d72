import { isObject, type Json } from '../lib/json.ts';
import { sha256 } from '../lib/node-pure.ts';
import type { Document } from '../model/document.ts';

/** A value outside that documents name: where it comes from, and its name there. */
export type UsedValue = readonly [origin: string, name: string];

/** The values that documents name with `valueFrom`, each once. */
export function usedValues(documents: readonly Document[]): readonly UsedValue[] {
  const found = new Map<string, UsedValue>();
  for (const { spec } of documents) collect(spec, found);
  return [...found.values()];
}

function collect(value: Json, found: Map<string, UsedValue>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
    return;
  }
  if (!isObject(value)) return;
  const { valueFrom, ...rest } = value as Readonly<Record<string, Json>>;
  if (isObject(valueFrom)) {
    for (const [origin, name] of Object.entries(valueFrom)) {
      if (typeof name === 'string') found.set(`${origin}\0${name}`, [origin, name]);
    }
  }
  for (const member of Object.values(rest)) collect(member, found);
}

/** Changes whenever one of the values does; tells nothing about them. */
export function digestOfValues(
  values: readonly UsedValue[],
  read: (origin: string, name: string) => string | undefined,
): string {
  return values.length === 0 ? '' : sha256(JSON.stringify(values.map(([origin, name]) => read(origin, name) ?? null)));
}
