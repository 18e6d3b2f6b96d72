import { asObject, asObjects, isObject, type JsonObject } from '../../../lib/json.ts';

const writeMethods = ['post', 'put', 'delete'];

/**
 * Adds the `account` parameter to every operation with credentials. It selects the account of a tenant in which the
 * operation acts.
 */
export function withAccountParameter(paths: JsonObject): JsonObject {
  return mapOperations(paths, (_, operation) => {
    if (operation['security'] !== undefined) return operation;
    const parameters = asObjects(operation['parameters'] ?? []);
    return { ...operation, parameters: [...parameters, { $ref: '#/components/parameters/InAccount' }] };
  });
}

/** Adds 422 to every operation, for a repeated query parameter or, with `Prefer: handling=strict`, an unknown one. */
export function withQueryFaults(paths: JsonObject): JsonObject {
  return mapOperations(paths, (_, operation) => withFailures(operation, [422]));
}

/**
 * Adds to every authenticated write that it can find the account locked (423), and to every POST that it can be
 * repeated with an `Idempotency-Key`.
 */
export function withWriteResponses(paths: JsonObject): JsonObject {
  return mapOperations(paths, withWriteResponse);
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

function withWriteResponse(method: string, operation: JsonObject): JsonObject {
  if (!writeMethods.includes(method) || operation['security'] !== undefined) return operation;
  const lockable = withFailures(operation, [423]);
  return method === 'post' ? withIdempotencyKey(lockable) : lockable;
}

function withIdempotencyKey(operation: JsonObject): JsonObject {
  const responses = operation['responses'] as Readonly<Record<string, JsonObject>>;
  const answered = Object.entries(responses).map(([status, response]) => [
    status,
    status < '300' ? withReplayedHeader(response) : response,
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
  // JavaScript always sorts members that look like numbers.
  return { ...operation, responses: { ...Object.fromEntries(failures), ...asObject(operation['responses']) } };
}

function withReplayedHeader(response: JsonObject): JsonObject {
  const headers = asObject(response['headers'] ?? {});
  const name = 'Idempotency-Replayed';
  return { ...response, headers: { ...headers, [name]: { $ref: `#/components/headers/${name}` } } };
}
