import { afterAll, beforeAll, expect, it } from 'vitest';
import { attacks } from './attacks.ts';
import { overBudget } from './budget.ts';
import { type HostileStand, openHostileStand } from './stand.ts';

let stand: HostileStand;
beforeAll(async () => {
  stand = await openHostileStand();
});
afterAll(() => stand[Symbol.asyncDispose]());

it.each(attacks)('$name does not delay other requests', async (attack) => {
  expect(await overBudget(stand, attack, { floor: 50, tries: 3 })).toBeUndefined();
});
