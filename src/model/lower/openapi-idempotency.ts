import { isObject, type JsonObject } from '../../lib/json.ts';

/** What every POST with credentials can do beside what it is for: be repeated. */
export function withIdempotency(paths: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const { post } = item as JsonObject;
      const isRepeatable = isObject(post) && post['security'] === undefined;
      return [path, isRepeatable ? { ...(item as JsonObject), post: repeatable(post as JsonObject) } : item];
    }),
  );
}

function repeatable(operation: JsonObject): JsonObject {
  const responses = operation['responses'] as Readonly<Record<string, JsonObject>>;
  const answered = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, status < '300' ? withHeader(response) : response]),
  );
  const refusals = Object.fromEntries(
    [409, 422].map((status) => [status, { $ref: `#/components/responses/${status}` }]),
  );
  const parameters = (operation['parameters'] ?? []) as readonly JsonObject[];
  return {
    ...operation,
    parameters: [...parameters, { $ref: '#/components/parameters/IdempotencyKey' }],
    // Statuses are in order because members that look like numbers always are.
    responses: { ...refusals, ...answered },
  };
}

function withHeader(response: JsonObject): JsonObject {
  const headers = (response['headers'] ?? {}) as JsonObject;
  const name = 'Idempotency-Replayed';
  return { ...response, headers: { ...headers, [name]: { $ref: `#/components/headers/${name}` } } };
}
