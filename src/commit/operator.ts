import { findOperatorAccount } from '../db/accounts/operator.ts';
import type { Engine } from './engine.ts';

/**
 * The operator runs the server: its flags, environment, files, keys and metrics, and whole accounts. The owner of an
 * account is a different role, even in the operator's account, which is only the account of the server's own sources
 * and values.
 */

/** The operator as an actor. */
export const operatorActor = { type: 'system', id: 'operator', name: 'operator' } as const;

/**
 * Returns the id of the operator's account, or `undefined` when none is recorded or the recorded account was deleted.
 * The age of an account is never a criterion.
 */
export async function operatorAccountOf({ database }: Pick<Engine, 'database'>): Promise<string | undefined> {
  return (await findOperatorAccount(database))?.account;
}

/** Returns whether an account is the operator's account. */
export async function isOperatorAccount(engine: Pick<Engine, 'database'>, account: string): Promise<boolean> {
  return (await operatorAccountOf(engine)) === account;
}
