import type { PasswordCost } from '../../src/model/password-cost.ts';

/** Cost of password hashes in tests. The cost that servers use would take a fortieth of the total test time. */
export const cheapPasswordCost: PasswordCost = { memory: 8, passes: 1, parallelism: 1 };
