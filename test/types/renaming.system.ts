import { expect, test } from 'vitest';
import { declaredFields, errorsAfterRenaming, unnoticed } from './renaming.ts';

test('renaming one field of each kind fails the type check wherever the old name is used', async () => {
  const kinds = await declaredFields();
  expect(kinds.length).toBeGreaterThan(25);
  // Renames one field of each kind at the same time; the soak test renames all fields.
  const fields = kinds.flatMap((list) => list[Math.floor(list.length / 2)] ?? []);
  expect(unnoticed(fields, await errorsAfterRenaming(fields))).toEqual([]);
});
