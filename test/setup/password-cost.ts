import type { PasswordCost } from '../../src/model/password-cost.ts';

/** What passwords of tests cost: a server's would take a fortieth of all the time of the tests. */
export const cheapPasswordCost: PasswordCost = { memory: 8, passes: 1, parallelism: 1 };
