import { expect, it } from 'vitest';
import { weatherStorm } from './storm.ts';

it('three servers lose nothing while connections are cut, servers are killed and paused, and Postgres stops', {
  timeout: 300_000,
}, async () => {
  const { acknowledged } = await weatherStorm(15_000);
  expect(acknowledged).toBeGreaterThan(0);
});
