import { deleteAccount } from '../../features/accounts/delete-account.ts';
import { accounts as operations } from '../../operations/accounts.ts';
import { implement } from '../operations/implement.ts';

/** Deletion of an account. The routes of the kind list and replace accounts. */
export const accounts = implement(operations, (engine) => ({
  delete: ({ call, params }) => deleteAccount(engine, call, params.accountId),
}));
