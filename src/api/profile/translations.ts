import { asObject, asObjectOrEmpty, isObject, type JsonObject } from '../../lib/json.ts';
import { type Differences, noDifferences, rowsOf, type Shape, shapeOf } from './shape.ts';
import { type GuardRow, type Row, rows, type StatusRow } from './table.ts';

/** Differences of one operation in the profile. */
export interface Translation {
  readonly request?: Shape;
  readonly answer?: Shape;
  readonly statuses: readonly StatusRow[];
  readonly guards: readonly GuardRow[];
}

/** All operations and schemas that differ in the profile. */
export interface Translations {
  /** Returns the differences of a Fastify route. */
  find(method: string, route: string): Translation | undefined;
  /** Differences by method and path, as the OpenAPI document spells them. */
  readonly operations: ReadonlyMap<string, Translation>;
  readonly schemas: Differences;
}

/** Cached translations by OpenAPI document, so that the rows are matched with its schemas only once. */
const translationsByDescription = new WeakMap<JsonObject, Translations>();

/** Returns the differences of the operations in the OpenAPI document of the specification. */
export function translationsOf(description: JsonObject): Translations {
  const present = translationsByDescription.get(description) ?? findTranslations(description);
  translationsByDescription.set(description, present);
  return present;
}

function findTranslations(description: JsonObject): Translations {
  const schemas: Differences = new Map();
  const operations = new Map<string, Translation>();
  for (const [path, item] of Object.entries(asObjectOrEmpty(description['paths'])))
    for (const [method, operation] of Object.entries(asObject(item))) {
      if (!isObject(operation)) continue;
      const name = `${method.toUpperCase()} ${path}`;
      const translation = translationOf(description, name, asObject(operation), schemas);
      if (translation !== undefined) operations.set(name, translation);
    }
  const byRoute = new Map([...operations].map(([name, translation]) => [name.replace(/\{\w+\}/g, '{}'), translation]));
  return {
    find: (method, route) => byRoute.get(`${method === 'HEAD' ? 'GET' : method} ${route.replace(/:\w+/g, '{}')}`),
    operations,
    schemas,
  };
}

function translationOf(
  description: JsonObject,
  name: string,
  operation: JsonObject,
  schemas: Differences,
): Translation | undefined {
  const find = (direction: 'request' | 'answer', carrier: JsonObject) =>
    differencesIn(description, rowsOf(rows, name, direction), carrier, schemas);
  const request = find('request', asObjectOrEmpty(operation['requestBody']));
  const answer = find('answer', successOf(operation));
  const statuses = ofOperation('status', name);
  const guards = ofOperation('guard', name);
  if (request === undefined && answer === undefined && statuses.length === 0 && guards.length === 0) return undefined;
  return {
    ...(request === undefined ? {} : { request }),
    ...(answer === undefined ? {} : { answer }),
    ...{ statuses, guards },
  };
}

type OperationRow = Extract<Row, { readonly operations: readonly string[] }>;

function ofOperation<D extends OperationRow['differs']>(differs: D, name: string) {
  return rows.filter(
    (row): row is Extract<OperationRow, { readonly differs: D }> =>
      row.differs === differs && 'operations' in row && row.operations.includes(name),
  );
}

/** Returns the success response of an operation. */
function successOf({ responses }: JsonObject): JsonObject {
  const [, success] = Object.entries(asObjectOrEmpty(responses)).find(([status]) => status.startsWith('2')) ?? [];
  return asObjectOrEmpty(success);
}

function differencesIn(
  description: JsonObject,
  found: ReturnType<typeof rowsOf>,
  carrier: JsonObject,
  schemas: Differences,
): Shape | undefined {
  const schema = asObjectOrEmpty(asObjectOrEmpty(carrier['content'])['application/json'])['schema'];
  if (found.length === 0 || !isObject(schema)) return undefined;
  const here: Differences = new Map();
  const named = asObjectOrEmpty(asObjectOrEmpty(description['components'])['schemas']);
  // An object in this member is a schema.
  const shape = shapeOf(schema as JsonObject, found, named, here);
  for (const [part, difference] of here) if (difference !== noDifferences) schemas.set(part, difference);
  return shape;
}
