import { expect, test } from 'vitest';
import { declaredFields, errorsAfterRenaming, unnoticed } from './renaming.ts';

test('renaming any field of any kind fails the type check', { timeout: 900_000 }, async () => {
  const kinds = await declaredFields();
  const longest = Math.max(...kinds.map((list) => list.length));
  for (let at = 0; at < longest; at++) {
    const fields = kinds.flatMap((list) => list[at] ?? []);
    expect(unnoticed(fields, await errorsAfterRenaming(fields))).toEqual([]);
  }
});
