import { it } from 'vitest';
import { playOnStore } from './on-store.ts';

it(
  'E158 300 interleavings on two servers end in the state that a replay of their history gives',
  () => playOnStore(300),
  300_000,
);
