import { expect, it } from 'vitest';
import { eachEngine } from '../setup/database.ts';
import { commitMany, commitSequences } from './commits.ts';

eachEngine('a commit on %s', (engine) => {
  it('E158 equals the replayed history, for arbitrary sequences', async () => {
    expect(await commitSequences(engine, 12)).toBeGreaterThan(10);
  });

  const many = engine === 'postgres' ? 10_000 : 2_000;
  it(`is one statement for 100 and for ${many} objects`, async () => {
    await commitMany(engine, many);
  });
});
