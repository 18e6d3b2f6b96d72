import type { FastifyInstance } from 'fastify';
import { type HistoryFilter, listHistory, showRevision } from '../../features/config/history/history.ts';
import { planRollback } from '../../features/config/plans/rollback.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import { parseScope, type RollbackScope } from '../../plan/rollback/scope.ts';
import { callOf } from '../authenticate.ts';
import { objectBody } from '../input/bodies.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { knownKind, parameter, type Query, queryOf, textOf, timeOf, wholeNumber } from './request.ts';

/** The routes by which the account's history is read. */
export function addRevisionRoutes(app: FastifyInstance, { engine, planLimit }: ConfigRoutesOptions): void {
  app.get('/api/config/revisions', async (request) => {
    const query = queryOf(request);
    knownKind(engine.registry, query['kind']);
    return listHistory(engine, callOf(request), filterOf(query));
  });
  app.get('/api/config/revisions/:revision', async (request) => {
    const text = parameter(request, 'revision');
    if (!/^[1-9]\d{0,14}$/.test(text)) throw new NotFound(`revision ${text} not found`);
    return showRevision(engine, callOf(request), Number(text));
  });
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

const texts = ['source', 'actor', 'kind', 'object', 'request'] as const;

function filterOf(query: Query): HistoryFilter {
  const { before, limit, since, until } = query;
  const given = texts.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]] as const]));
  const filter: HistoryFilter = {
    ...Object.fromEntries(given),
    ...(before === undefined ? {} : { before: wholeNumber('before', before) }),
    ...(since === undefined ? {} : { since: timeOf('since', since) }),
    ...(until === undefined ? {} : { until: timeOf('until', until) }),
    limit: limit === undefined ? 100 : wholeNumber('limit', limit),
  };
  if (filter.since !== undefined && filter.until !== undefined && filter.since >= filter.until)
    throw new InvalidInput('`since` must be before `until`');
  return filter;
}
