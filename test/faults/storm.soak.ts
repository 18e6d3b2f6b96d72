import { expect, it } from 'vitest';
import { weatherStorm } from './storm.ts';

/** Duration in minutes, from HEDDLE_SOAK_MINUTES. Default: ten. */
const minutes = Number(process.env['HEDDLE_SOAK_MINUTES'] ?? 10);

it(`three servers lose nothing in ${minutes} minutes of cut connections, kills, pauses and stops of Postgres`, {
  timeout: (minutes + 10) * 60_000,
}, async () => {
  const { acknowledged } = await weatherStorm(minutes * 60_000);
  expect(acknowledged).toBeGreaterThan(10 * minutes);
});
