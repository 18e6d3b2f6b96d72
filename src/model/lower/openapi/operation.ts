import type { Json, JsonObject } from '../../../lib/json.ts';

/** One operation of the interface, in the few words that differ between operations. */
export interface Operation {
  /** Unique; generated clients name their functions by it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Path parameters are declared by the path item, these beside them. */
  readonly parameters?: readonly JsonObject[];
  /** The request body by media type. */
  readonly body?: JsonObject;
  /** The body may be left out. */
  readonly optionalBody?: boolean;
  /** The success answer by media type; absent: an empty body. */
  readonly answer?: JsonObject;
  /** Status of success, 200 unless said otherwise. */
  readonly status?: number;
  readonly headers?: readonly string[];
  /** `If-None-Match` may be answered with nothing. */
  readonly unchanged?: boolean;
  readonly errors: readonly number[];
  /** No credentials needed. */
  readonly open?: boolean;
  /** It is about the whole server: only the operator's token will do, and there is no account. */
  readonly operator?: true;
}

/** Writes an operation as OpenAPI says it. */
export function operation(spec: Operation): JsonObject {
  const headers = Object.fromEntries(
    (spec.headers ?? []).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const success: JsonObject = {
    description: spec.answer === undefined ? 'Done; the body is empty.' : 'Done.',
    ...(spec.headers === undefined ? {} : { headers }),
    ...(spec.answer === undefined ? {} : { content: spec.answer }),
  };
  return {
    operationId: spec.id,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(spec.open === true ? { security: [] } : spec.operator === true ? { security: [{ Operator: [] }] } : {}),
    ...(spec.parameters === undefined ? {} : { parameters: spec.parameters }),
    ...(spec.body === undefined ? {} : { requestBody: { required: spec.optionalBody !== true, content: spec.body } }),
    responses: {
      [spec.status ?? 200]: success,
      ...(spec.unchanged === true ? { 304: { description: 'Nothing changed; the body is empty.' } } : {}),
      ...Object.fromEntries(spec.errors.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  };
}

/** A body in JSON. */
export function json(schema: JsonObject, example: Json): JsonObject {
  return { 'application/json': { schema, example } };
}

/** A body that is text. */
export function textual(type: string, example: string): JsonObject {
  return { [type]: { schema: { type: 'string' }, example } };
}

/** A reference to a named schema. */
export function named(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** A list of what a named schema describes. */
export function listOf(schema: string): JsonObject {
  return { type: 'array', items: named(schema) };
}

/** An optional parameter of the query. */
export function query(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { name, in: 'query', required: false, description, schema };
}

/** A reference to a shared parameter, of the headers or of the query. */
export function header(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** The parameters that a path template names. */
export function pathParameters(path: string, describe: (name: string) => JsonObject): JsonObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, ...describe(name) })) };
}
