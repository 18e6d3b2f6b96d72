import type { FastifyInstance } from 'fastify';
import { askAccess } from '../../features/config/access/explain-access.ts';
import { InvalidInput } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { queryOf, switchOf } from './request.ts';

/** The route for questions about who may reach whom, and why. */
export function addAccessRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/access', async (request) => {
    const query = queryOf(request);
    const { from, to, port } = query;
    if (from === undefined || to === undefined)
      throw new InvalidInput('`from` and `to` are missing; name a peer, a group, a network resource or a route each');
    return askAccess(engine, callOf(request), { from, to, port, all: switchOf(query, 'all', false) });
  });
}
