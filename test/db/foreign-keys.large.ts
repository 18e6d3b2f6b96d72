import { expect, it } from 'vitest';
import { eachEngine } from '../setup/database.ts';
import { seasonedAndFresh } from './foreign-keys.ts';

eachEngine('the foreign-key checks of a used connection on %s', (engine) => {
  it('take at most 3 times as long as on a new one, after many small commits', async () => {
    const size = { commits: 60, objects: engine === 'postgres' ? 4_000 : 2_000 };
    const ratio = async () => {
      const { seasoned, fresh } = await seasonedAndFresh(engine, size);
      return seasoned / fresh;
    };
    // A busy machine may slow one of the two measurements, so a high ratio is measured again. A connection whose checks
    // became slow is slower by far each time.
    await expect.poll(ratio).toBeLessThan(3);
  });
});
