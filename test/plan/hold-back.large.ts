import { describe, it } from 'vitest';
import { holdBackInAccounts } from './holding-back.ts';

describe('a source that holds back invalid documents', () => {
  it('reaches the state with each held-back document as last applied (property)', () => {
    holdBackInAccounts(100);
  });
});
