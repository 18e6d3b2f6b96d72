import type { FastifyInstance } from 'fastify';
import { listHistory, showRevision } from '../../engine/history.ts';
import { NotFound } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { parameter, queryOf, wholeNumber } from './request.ts';

/** The routes by which the account's history is read. */
export function addRevisionRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get('/api/config/revisions', async (request) => {
    const { before, limit } = queryOf(request);
    return listHistory(engine, callOf(request), {
      ...(before === undefined ? {} : { before: wholeNumber('before', before) }),
      limit: limit === undefined ? 100 : wholeNumber('limit', limit),
    });
  });
  app.get('/api/config/revisions/:revision', async (request) => {
    const text = parameter(request, 'revision');
    const found = /^\d{1,15}$/.test(text) ? await showRevision(engine, callOf(request), Number(text)) : undefined;
    if (found === undefined) throw new NotFound(`revision ${text} not found`);
    return found;
  });
}
