import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';

/** Operation that deletes an account. The kind `Account` declares how it is listed and replaced. */
export const accounts = {
  delete: defineOperation({
    id: 'deleteAccount',
    method: 'DELETE',
    path: '/api/accounts/{accountId}',
    access: { module: 'accounts', operation: 'delete' },
    tag: 'settings',
    summary: 'Delete the account with everything in it',
    doc: 'Only owners may do this. The account can be restored only from an archive.',
    params: { accountId: string({ doc: 'The id of the account.' }) },
    errors: ['conflict'],
    example: {},
  }),
};
