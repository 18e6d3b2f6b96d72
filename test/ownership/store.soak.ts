import { it } from 'vitest';
import { playOnStore } from './on-store.ts';

it('E158 20,000 interleavings on two servers end in the state that a replay of their history gives', async () => {
  // Uses a new database for every 1,000 sequences, so that no database grows large.
  for (let round = 0; round < 20; round++) await playOnStore(1000);
}, 3_600_000);
