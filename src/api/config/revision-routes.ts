import type { FastifyInstance } from 'fastify';
import { type HistoryFilter, listHistory, showRevision } from '../../engine/history.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { knownKind, parameter, type Query, queryOf, timeOf, wholeNumber } from './request.ts';

/** The routes by which the account's history is read. */
export function addRevisionRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
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
}

const texts = ['source', 'actor', 'kind', 'object'] as const;

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
