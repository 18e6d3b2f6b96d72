import { afterAll, beforeAll, expect, it } from 'vitest';
import { attacks } from './attacks.ts';
import { overBudget } from './budget.ts';
import { type HostileStand, openHostileStand } from './stand.ts';

/** One attack for each kind of input; `npm run soak` sends all of them. */
const some = attacks.filter(({ isTypical }) => isTypical === true);

let stand: HostileStand;
beforeAll(async () => {
  stand = await openHostileStand();
});
afterAll(() => stand[Symbol.asyncDispose]());

it.each(some)('$name: a megabyte does not delay other requests', async (attack) => {
  expect(await overBudget(stand, attack, { floor: 250, tries: 12 })).toBeUndefined();
});
