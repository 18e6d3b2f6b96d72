import { expect, it } from 'vitest';
import { runInBulk } from './bulk-run.ts';

it('50,000 documents are planned, applied and exported without blocking other requests', async () => {
  expect(await runInBulk(50_000, { share: 0.04, floor: 500 })).toEqual([]);
}, 3_600_000);
