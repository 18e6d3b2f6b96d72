import { deleteAccount } from '../../features/accounts/delete-account.ts';
import { operation } from '../../model/lower/openapi/operation.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';

const path = '/api/accounts/{accountId}';

/** The end of an account; the kind itself lists and replaces it. */
export const accounts: AreaRoutes = {
  add(app, engine) {
    const config = { access: { module: 'accounts', operation: 'delete' } } as const;
    app.delete<{ Params: { id: string } }>('/api/accounts/:id', { config }, async (request, reply) => {
      await deleteAccount(engine, callOf(request), request.params.id);
      return reply.send();
    });
  },
  paths: {
    [path]: {
      delete: operation({
        id: 'deleteAccount',
        tag: 'settings',
        summary: 'Delete the account with everything in it',
        description: 'Only owners may. There is no way back but an archive.',
        errors: [401, 403, 404, 409, 429, 503],
      }),
    },
  },
};
