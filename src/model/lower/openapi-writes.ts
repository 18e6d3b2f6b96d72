import { isObject, type JsonObject } from '../../lib/json.ts';

const writes = ['post', 'put', 'delete'];

/** What every write with credentials can do beside what it is for: find the account held, and be repeated when it is a POST. */
export function withWrites(paths: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item as JsonObject).map(([name, member]) => [name, withWrite(name, member)])),
    ]),
  );
}

function withWrite(method: string, operation: JsonObject[string]): JsonObject[string] {
  if (!writes.includes(method) || !isObject(operation) || operation['security'] !== undefined) return operation;
  const lockable = withFailures(operation as JsonObject, [423]);
  return method === 'post' ? repeatable(lockable) : lockable;
}

function repeatable(operation: JsonObject): JsonObject {
  const responses = operation['responses'] as Readonly<Record<string, JsonObject>>;
  const answered = Object.entries(responses).map(([status, response]) => [
    status,
    status < '300' ? withHeader(response) : response,
  ]);
  const parameters = (operation['parameters'] ?? []) as readonly JsonObject[];
  return withFailures(
    {
      ...operation,
      parameters: [...parameters, { $ref: '#/components/parameters/IdempotencyKey' }],
      responses: Object.fromEntries(answered),
    },
    [409, 422],
  );
}

function withFailures(operation: JsonObject, statuses: readonly number[]): JsonObject {
  const failures = statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  // Members that look like numbers are always in order.
  return { ...operation, responses: { ...Object.fromEntries(failures), ...(operation['responses'] as JsonObject) } };
}

function withHeader(response: JsonObject): JsonObject {
  const headers = (response['headers'] ?? {}) as JsonObject;
  const name = 'Idempotency-Replayed';
  return { ...response, headers: { ...headers, [name]: { $ref: `#/components/headers/${name}` } } };
}
