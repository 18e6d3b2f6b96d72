import { expect, it } from 'vitest';
import { eachEngine } from '../setup/database.ts';
import { seasonedAndFresh } from './foreign-keys.ts';

eachEngine('the foreign-key checks of a used connection on %s', (engine) => {
  it('take at most 3 times as long as on a new one, for 10,000 objects with 32,000 references after 300 commits', {
    timeout: 300_000,
  }, async () => {
    const { seasoned, fresh } = await seasonedAndFresh(engine, { commits: 300, objects: 10_000 });
    expect(seasoned / fresh).toBeLessThan(3);
  });
});
