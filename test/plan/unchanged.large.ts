import { describe, it } from 'vitest';
import { planTwice } from './planned-twice.ts';

describe('documents that are planned twice', () => {
  it('give an empty plan after an apply, for any documents and changes by other sources', () => {
    planTwice(200);
  });
});
