import { expect, it } from 'vitest';
import { weatherStorm } from './storm.ts';

it('three servers lose nothing while connections are cut, servers killed and stopped, and Postgres goes away', {
  timeout: 300_000,
}, async () => {
  const { acknowledged } = await weatherStorm(15_000);
  expect(acknowledged).toBeGreaterThan(0);
});
