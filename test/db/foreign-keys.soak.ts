import { expect, it } from 'vitest';
import { eachEngine } from '../setup/database.ts';
import { seasonedAndFresh } from './foreign-keys.ts';

eachEngine('the foreign-key checks of a connection on %s', (engine) => {
  it('take 10,000 objects with 32,000 references after 300 small commits as fast as on a fresh one', {
    timeout: 300_000,
  }, async () => {
    const { seasoned, fresh } = await seasonedAndFresh(engine, { commits: 300, objects: 10_000 });
    expect(seasoned / fresh).toBeLessThan(3);
  });
});
