import type { Json, JsonObject } from '../../../lib/json.ts';

/** An operation of the API, reduced to what differs between operations. */
export interface Operation {
  /** Unique id, from which generated clients derive function names. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Query and header parameters. Path parameters are declared by the path item. */
  readonly parameters?: readonly JsonObject[];
  /** Request body, by media type. */
  readonly body?: JsonObject;
  /** Whether the body may be omitted. */
  readonly optionalBody?: boolean;
  /** Success response, by media type. Absent: the response has no body. */
  readonly answer?: JsonObject;
  /** HTTP status of success. Default: 200. */
  readonly status?: number;
  readonly headers?: readonly string[];
  /** Whether the operation can answer 304 to `If-None-Match`. */
  readonly unchanged?: boolean;
  readonly errors: readonly number[];
  /** Whether the operation needs no credentials. */
  readonly open?: boolean;
  /** Set when the operation concerns the whole server: it has no account and accepts only the operator's token. */
  readonly operator?: true;
}

/** Converts an operation to OpenAPI. */
export function lowerOperation(spec: Operation): JsonObject {
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

/** Returns the content of a JSON body. */
export function jsonContent(schema: JsonObject, example: Json): JsonObject {
  return { 'application/json': { schema, example } };
}

/** Returns the content of a text body. */
export function textContent(type: string, example: string): JsonObject {
  return { [type]: { schema: { type: 'string' }, example } };
}

/** Returns a reference to a named schema. */
export function schemaReference(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Returns the schema of a list whose items have a named schema. */
export function listSchemaOf(schema: string): JsonObject {
  return { type: 'array', items: schemaReference(schema) };
}

/** Returns an optional query parameter. */
export function queryParameter(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { name, in: 'query', required: false, description, schema };
}

/** Returns a reference to a shared header or query parameter. */
export function sharedParameter(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** Returns the parameters of a path template. */
export function pathParameters(path: string, describe: (name: string) => JsonObject): JsonObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, ...describe(name) })) };
}
