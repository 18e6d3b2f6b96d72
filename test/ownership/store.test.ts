import { it } from 'vitest';
import { playOnStore } from './on-store.ts';

it('E158 a few interleavings on two servers end in the state that a replay of their history gives', () =>
  playOnStore(6));
