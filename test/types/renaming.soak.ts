import { expect, test } from 'vitest';
import { declaredFields, errorsAfterRenaming, unnoticed } from './renaming.ts';

test('every field of every kind, when it is renamed, fails the type check', { timeout: 900_000 }, async () => {
  const kinds = await declaredFields();
  const longest = Math.max(...kinds.map((list) => list.length));
  for (let at = 0; at < longest; at++) {
    const fields = kinds.flatMap((list) => list[at] ?? []);
    expect(unnoticed(fields, await errorsAfterRenaming(fields))).toEqual([]);
  }
});
