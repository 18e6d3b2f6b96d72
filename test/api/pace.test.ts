import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurnLimiter } from '../../src/api/pace.ts';
import { sharedApi } from './setup.ts';

const api = sharedApi();

it('turns let 2 callers through per turn of the event loop, in order', async () => {
  const turn = createTurnLimiter(2);
  const through: number[] = [];
  const comers = Array.from({ length: 5 }, async (_, at) => {
    await turn();
    through.push(at);
  });
  const seen: string[] = [];
  for (let turns = 0; turns < 3; turns++) {
    await Promise.resolve();
    seen.push(through.join(''));
    await nextTurn();
  }
  expect(seen).toEqual(['01', '0123', '01234']);
  await Promise.all(comers);
  // A single caller does not wait.
  expect(turn()).toBeUndefined();
});

it('another request is answered between 100 simultaneous requests of machines', async () => {
  const answered: string[] = [];
  const ask = async (method: 'GET' | 'POST', url: string): Promise<void> => {
    const { statusCode } = await api().app.inject({ method, url });
    answered.push(`${url} ${statusCode}`);
  };
  await Promise.all([...Array.from({ length: 100 }, () => ask('POST', '/agent/challenge')), ask('GET', '/healthz')]);
  expect(answered.indexOf('/healthz 200')).toBeGreaterThanOrEqual(0);
  expect(answered.indexOf('/healthz 200')).toBeLessThan(60);
  expect(answered.filter((answer) => answer === '/agent/challenge 200')).toHaveLength(100);
});
