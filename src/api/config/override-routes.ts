import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  endOverride,
  findOverridden,
  listOverrides,
  type NamedObject,
  overrideObject,
} from '../../features/config/overrides/override-object.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { InvalidInput } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import { overrideIn } from '../break-glass.ts';
import type { Recover } from '../idempotency.ts';
import { objectBody, textMember } from '../input/bodies.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { queryOf, textOf } from './request.ts';

const list = '/api/config/overrides';

/** The routes by which what sources state is set aside for a while, with names in place of ids. */
export function addOverrideRoutes(app: FastifyInstance, { engine }: ConfigRoutesOptions): void {
  app.get(list, async (request) => listOverrides(engine, callOf(request), queryOf(request)['source']));
  const recoverWith =
    (valuesOf: (body: JsonObject) => JsonObject): Recover =>
    async (request, _reply, { revision }) => {
      if (revision === undefined) return undefined;
      const body = objectBody(request.body);
      return findOverridden(engine, callOf(request), namedIn(body), valuesOf(body), revision);
    };
  app.post(list, { config: { recover: recoverWith(valuesIn) } }, async (request) => {
    const body = objectBody(request.body);
    const options = overrideIn(textOf(body, 'reason'), textOf(body, 'ttl'));
    return overrideObject(engine, callOf(request), namedIn(body), valuesIn(body), options);
  });
  app.post(`${list}/end`, { config: { recover: recoverWith(() => ({})) } }, async (request: FastifyRequest) => {
    const body = objectBody(request.body);
    return endOverride(engine, callOf(request), namedIn(body), pathsIn(body));
  });
}

function namedIn(body: JsonObject): NamedObject {
  return { kind: textMember(body, 'kind'), name: textMember(body, 'name') };
}

function valuesIn(body: JsonObject): JsonObject {
  const { values } = body;
  if (isObject(values) && Object.keys(values).length > 0) return values;
  throw new InvalidInput('`values` must be an object with the new values by field, such as {"metric": 5}');
}

function pathsIn({ paths = [] }: JsonObject): readonly string[] {
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return paths;
  throw new InvalidInput('`paths` must be a list of texts, such as ["metric"]');
}
