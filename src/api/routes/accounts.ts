import { deleteAccount } from '../../features/accounts/delete-account.ts';
import { accounts as operations } from '../../operations/accounts.ts';
import { implement } from '../operations/implement.ts';

/** The end of an account; the kind itself lists and replaces it. */
export const accounts = implement(operations, (engine) => ({
  delete: ({ call, params }) => deleteAccount(engine, call, params.accountId),
}));
