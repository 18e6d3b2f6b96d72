import { expect, it } from 'vitest';
import { runInBulk } from './bulk-run.ts';

it('thousands of documents are planned, applied and exported without blocking other requests', async () => {
  expect(await runInBulk(3000, { share: 0.1, floor: 75 })).toEqual([]);
});
