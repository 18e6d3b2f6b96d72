import { asObject, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Describe } from '../description.ts';
import type { KnownParameters } from './address.ts';

/** Indexes by OpenAPI description. */
const indexes = new WeakMap<JsonObject, Index>();

type Index = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Returns the query parameters of every operation. They are read from the OpenAPI description when the first request
 * with a query arrives.
 */
export function createParameterIndex(describe: Describe): KnownParameters {
  return async (method, route) => {
    const description = await describe();
    const index = indexes.get(description) ?? indexOf(description);
    indexes.set(description, index);
    return index.get(`${method === 'HEAD' ? 'GET' : method} ${route.replace(/:\w+/g, '{}')}`);
  };
}

function indexOf(description: JsonObject): Index {
  const shared = objectAt(description, ['components', 'parameters']);
  const entries = Object.entries(objectAt(description, ['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item)).flatMap(([method, operation]) => {
      if (!isObject(operation)) return [];
      const { parameters = [] } = operation as { readonly parameters?: readonly JsonObject[] };
      const names = parameters.map((one) => resolve(one, shared)).filter((one) => one['in'] === 'query');
      const key = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`;
      return [[key, new Set(names.map(({ name }) => String(name)))] as const];
    }),
  );
  return new Map(entries);
}

function resolve(parameter: JsonObject, shared: JsonObject): JsonObject {
  const reference = parameter['$ref'];
  return typeof reference === 'string' ? asObject(shared[reference.split('/').at(-1) ?? '']) : parameter;
}

function objectAt(value: JsonObject, path: readonly string[]): JsonObject {
  // This program writes the description, with an object in each of these members.
  return asObject(path.reduce<Json>((inner, name) => asObject(inner)[name] ?? {}, value));
}
