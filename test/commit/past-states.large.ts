import { describe, it } from 'vitest';
import { checkPastStates } from './kept-states.ts';

describe('a past snapshot', () => {
  it('E158 equals the state recorded at its revision, for any changes, before and after compaction', () =>
    checkPastStates(15));
});
