import type { JsonObject } from '../../lib/json.ts';

/** Entries with their unit keys: the value of the key field, repeats with the next free ordinal (`web`, `web#2`). */
export function keyedEntries(key: string, entries: readonly JsonObject[]): readonly (readonly [string, JsonObject])[] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const name = String(entry[key]);
    let count = (seen.get(name) ?? 0) + 1;
    while (count > 1 && seen.has(`${name}#${count}`)) count += 1;
    const unit = count === 1 ? name : `${name}#${count}`;
    seen.set(name, count);
    if (unit !== name) seen.set(unit, 1);
    return [unit, entry];
  });
}
