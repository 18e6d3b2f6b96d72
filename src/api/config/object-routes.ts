import type { FastifyInstance } from 'fastify';
import { objectStatuses } from '../../model/declare/object-status.ts';
import { InvalidInput } from '../../model/errors.ts';
import { listObjects } from '../../objects/object-list.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { knownKind, queryOf } from './request.ts';

/** The route by which objects are listed with how they stand. */
export function addObjectRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/objects', async (request) => {
    const { kind, source, status: word, object } = queryOf(request);
    knownKind(engine.registry, kind);
    const status = objectStatuses.find((one) => one === word);
    if (word !== undefined && status === undefined)
      throw new InvalidInput(`\`status\` must be one of ${objectStatuses.join(', ')}`);
    return listObjects(engine, callOf(request), {
      ...(kind === undefined ? {} : { kind }),
      ...(source === undefined ? {} : { source }),
      ...(status === undefined ? {} : { status }),
      ...(object === undefined ? {} : { object }),
    });
  });
}
