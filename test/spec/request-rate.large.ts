import { expect, it } from 'vitest';
import { testApi } from '../api/setup.ts';

it('the hosted edition accepts 1200 requests of a caller at once, then 120 a minute', async () => {
  await using own = await testApi('postgres', { edition: 'hosted', rateLimit: { perMinute: 120, burst: 1200 } });
  const begin = performance.now();
  const ask = () => own.call('GET', '/api/integrations/notifications/types');
  for (let asked = 0; asked < 1200; asked += 1) expect((await ask()).status).toBe(200);
  // Some of the allowance was refilled during these requests.
  const refilled = Math.ceil(((performance.now() - begin) / 60_000) * 120) + 1;
  const more = await Promise.all(Array.from({ length: refilled + 1 }, ask));
  const refused = more.find(({ status }) => status === 429);
  expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
});
