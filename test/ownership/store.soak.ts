import { it } from 'vitest';
import { playOnStore } from './on-store.ts';

it('E158 20,000 interleavings on two servers end in the state that a replay of their history gives', async () => {
  // A database for every thousand, so that none of them grows large.
  for (let round = 0; round < 20; round++) await playOnStore(1000);
}, 3_600_000);
