import { describe, expect, it } from 'vitest';
import { rollBackHistories } from './rolling-back.ts';

describe('a rollback in any history', () => {
  it('E158 restores what sources had stated, or is refused as a whole', () => {
    expect(rollBackHistories(200)).toBeGreaterThan(300);
  });
});
