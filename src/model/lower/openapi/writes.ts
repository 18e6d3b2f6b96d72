import { asObject, asObjects, isObject, type JsonObject } from '../../../lib/json.ts';

const writes = ['post', 'put', 'delete'];

/** Everybody with credentials may say in which account of a tenant something is meant to happen. */
export function withScope(paths: JsonObject): JsonObject {
  return mapOperations(paths, (_, operation) => {
    if (operation['security'] !== undefined) return operation;
    const parameters = asObjects(operation['parameters'] ?? []);
    return { ...operation, parameters: [...parameters, { $ref: '#/components/parameters/InAccount' }] };
  });
}

/** A query can be wrong everywhere: a parameter that is given twice, or, on request, one that the operation does not have. */
export function withQueryFaults(paths: JsonObject): JsonObject {
  return mapOperations(paths, (_, operation) => withFailures(operation, [422]));
}

/** What every write with credentials can do beside what it is for: find the account held, and be repeated when it is a POST. */
export function withWrites(paths: JsonObject): JsonObject {
  return mapOperations(paths, withWrite);
}

function mapOperations(paths: JsonObject, change: (method: string, operation: JsonObject) => JsonObject): JsonObject {
  const items = Object.entries(paths).map(([path, item]) => {
    const members = Object.entries(asObject(item)).map(([name, member]) => [
      name,
      isObject(member) ? change(name, member) : member,
    ]);
    return [path, Object.fromEntries(members)] as const;
  });
  return Object.fromEntries(items);
}

function withWrite(method: string, operation: JsonObject): JsonObject {
  if (!writes.includes(method) || operation['security'] !== undefined) return operation;
  const lockable = withFailures(operation, [423]);
  return method === 'post' ? repeatable(lockable) : lockable;
}

function repeatable(operation: JsonObject): JsonObject {
  const responses = operation['responses'] as Readonly<Record<string, JsonObject>>;
  const answered = Object.entries(responses).map(([status, response]) => [
    status,
    status < '300' ? withHeader(response) : response,
  ]);
  const parameters = asObjects(operation['parameters'] ?? []);
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
  return { ...operation, responses: { ...Object.fromEntries(failures), ...asObject(operation['responses']) } };
}

function withHeader(response: JsonObject): JsonObject {
  const headers = asObject(response['headers'] ?? {});
  const name = 'Idempotency-Replayed';
  return { ...response, headers: { ...headers, [name]: { $ref: `#/components/headers/${name}` } } };
}
