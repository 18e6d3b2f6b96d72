import type { FastifyInstance } from 'fastify';
import { planRollback } from '../../features/config/plans/rollback.ts';
import { InvalidInput } from '../../model/errors.ts';
import { parseScope, type RollbackScope } from '../../plan/rollback/scope.ts';
import { callOf } from '../authenticate.ts';
import { objectBody } from '../input/bodies.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { parameter, textOf, wholeNumber } from './request.ts';

/** The route by which the way back to a revision is planned. */
export function addRollbackRoute(app: FastifyInstance, { engine, planLimit }: ConfigRoutesOptions): void {
  const planning = {
    onRequest: planLimit,
    config: { access: { module: 'config', operation: 'read' }, plans: true },
  } as const;
  app.post('/api/config/revisions/:revision/rollback', planning, async (request, reply) => {
    const revision = wholeNumber('revision', parameter(request, 'revision'));
    const body = request.body === undefined ? {} : objectBody(request.body);
    const scope = scopeOf(textOf(body, 'scope') ?? 'sources');
    return reply.code(201).send(await planRollback(engine, callOf(request), { revision, scope }));
  });
}

function scopeOf(text: string): RollbackScope {
  const scope = parseScope(text);
  if (scope !== undefined) return scope;
  throw new InvalidInput(
    '`scope` must be `sources` (what sources own), `source:NAME` (what one of them owns) or `all`',
  );
}
