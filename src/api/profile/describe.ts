import { asList, asObject, asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { schemaReference } from '../../model/lower/openapi/operation.ts';
import { toProfilePath } from './paths.ts';
import { type Differences, rowsOf, type Shape } from './shape.ts';
import { type LimitRow, rows, type StatusRow } from './table.ts';
import { toProfile } from './translate.ts';
import { type Translation, translationsOf } from './translations.ts';

/** Rewrites the OpenAPI document for the profile: its paths, names, values and statuses. */
export function describeProfile(description: JsonObject): JsonObject {
  const own = withOwnReplacements(description);
  const { operations, schemas } = translationsOf(own);
  const paths = Object.entries(asObjectOrEmpty(own['paths'])).map(([path, item]) => [
    toProfilePath(path),
    mapMembers(asObject(item), (method, operation) => {
      if (method === 'parameters') return hasTextIds(path) ? asList(operation).map(asText) : operation;
      const translation = operations.get(`${method.toUpperCase()} ${path}`);
      const rewritten = rewrite(operation, schemas);
      return translation === undefined ? rewritten : describeOperation(translation, asObject(rewritten));
    }),
  ]);
  const components = rewrite(own['components'] ?? {}, schemas);
  return { ...description, paths: Object.fromEntries(paths), components };
}

/** Whether the ids in a path are numbers in the specification and texts in the profile. */
function hasTextIds(path: string): boolean {
  return rowsOf(rows, `PUT ${path}`, 'answer').some((row) => row.differs === 'text' && row.member === 'id');
}

function asText(parameter: Json): JsonObject {
  const { schema, ...rest } = asObject(parameter);
  return { ...rest, schema: { ...asObject(schema), type: 'string' } };
}

/** Replace operations that may leave out members which a creation requires. Their bodies have a separate schema. */
const shorterReplaces: ReadonlySet<string> = new Set(
  rows
    .filter((row) => row.differs === 'default')
    .flatMap(({ operations }) => operations)
    .filter((name) => name.startsWith('PUT ')),
);

function withOwnReplacements(description: JsonObject): JsonObject {
  const components = asObjectOrEmpty(description['components']);
  const schemas: Record<string, Json> = { ...asObjectOrEmpty(components['schemas']) };
  const paths = mapMembers(asObjectOrEmpty(description['paths']), (path, item) =>
    mapMembers(asObject(item), (method, operation) =>
      shorterReplaces.has(`${method.toUpperCase()} ${path}`)
        ? withBodySchema(asObject(operation), (name) => {
            const own = name.replace(/Request$/, 'Replacement');
            schemas[own] ??= { ...asObject(schemas[name]) };
            return own;
          })
        : operation,
    ),
  );
  return { ...description, paths, components: { ...components, schemas } };
}

/** Returns an operation whose body refers to another named schema. */
function withBodySchema(operation: JsonObject, rename: (name: string) => string): JsonObject {
  const body = asObjectOrEmpty(operation['requestBody']);
  const content = mapMembers(asObjectOrEmpty(body['content']), (_type, media) => {
    const reference = String(asObjectOrEmpty(asObject(media)['schema'])['$ref']);
    return { ...asObject(media), schema: schemaReference(rename(reference.split('/').at(-1) ?? '')) };
  });
  return { ...operation, requestBody: { ...body, content } };
}

/** Returns a value in which all schemas that differ are rewritten for the profile. */
function rewrite(value: Json, schemas: Differences): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rewrite(item, schemas));
  if (!isObject(value)) return value;
  const object = value as JsonObject;
  const inside = mapMembers(object, (_name, member) => rewrite(member, schemas));
  const shape = schemas.get(object);
  return shape === undefined || !('properties' in object) ? inside : rewriteObject(shape, inside);
}

function rewriteObject(shape: Shape, schema: JsonObject): JsonObject {
  const theirs = (name: string) => shape.renamed.find(({ ours }) => ours === name)?.theirs ?? name;
  const properties = Object.entries(asObjectOrEmpty(schema['properties'])).map(([name, property]) => {
    const leaf = shape.members.get(name);
    const mayGo = shape.defaults.some(({ member }) => member === name);
    const limit = shape.limits.find(({ member }) => member === name);
    const renamed = leaf === undefined ? asObject(property) : rewriteLeaf(leaf, asObject(property));
    const free = limit === undefined ? renamed : withLimits(renamed, limit);
    return [theirs(name), mayGo ? orNull(free) : free];
  });
  const { required } = schema;
  const isNeeded = (name: Json) => !shape.defaults.some(({ member }) => member === name);
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    ...(required === undefined
      ? {}
      : {
          required: asList(required)
            .filter(isNeeded)
            .map((name) => theirs(String(name))),
        }),
  };
}

/** Allows `null`, which means the same as leaving the member out. */
function orNull(schema: JsonObject): JsonObject {
  const { type = 'string', enum: words } = schema;
  return { ...schema, type: [type, 'null'], ...(words === undefined ? {} : { enum: [...asList(words), null] }) };
}

/** Rewrites the schema of a value that has another type or other enum values in the profile. */
function rewriteLeaf(leaf: Shape, schema: JsonObject): JsonObject {
  const { minimum: _minimum, ...rest } = schema;
  if (leaf.isText) return { ...rest, type: 'string' };
  const { enum: words } = schema;
  return words === undefined ? schema : { ...schema, enum: asList(words).map((word) => toProfile(leaf, word)) };
}

function withLimits(schema: JsonObject, { min, max }: LimitRow): JsonObject {
  return { ...schema, minimum: min, maximum: max };
}

function describeOperation({ request, answer, statuses }: Translation, operation: JsonObject): JsonObject {
  const { requestBody, responses } = operation;
  const described = mapMembers(asObjectOrEmpty(responses), (status, response) =>
    status.startsWith('2') ? withExamples(answer, asObject(response)) : response,
  );
  return {
    ...operation,
    ...(requestBody === undefined ? {} : { requestBody: withExamples(request, asObject(requestBody)) }),
    responses: statuses.reduce(withStatus, described),
  };
}

/** Returns a body with translated examples. */
function withExamples(shape: Shape | undefined, body: JsonObject): JsonObject {
  const { content } = body;
  if (shape === undefined || content === undefined) return body;
  const translated = mapMembers(asObject(content), (_type, media) => {
    const { example } = asObject(media);
    return example === undefined ? media : { ...asObject(media), example: toProfile(shape, example) };
  });
  return { ...body, content: translated };
}

/** Adds the status, or the body, that the operation also answers with in the profile. */
function withStatus(responses: JsonObject, { to, body, none }: StatusRow): JsonObject {
  if (body === undefined) {
    const schema = { $ref: '#/components/schemas/Error' };
    return {
      ...responses,
      [to]: {
        description: none === undefined ? 'The condition is not met.' : `There is no such ${none.what}.`,
        content: { 'application/json': { schema } },
      },
    };
  }
  const known = asObjectOrEmpty(responses[to]);
  const content = mapMembers(asObjectOrEmpty(known['content']), (_type, media) => {
    const empty = { type: 'object', additionalProperties: false, description: 'No such object exists.' };
    return { ...asObject(media), schema: { anyOf: [asObject(media)['schema'] ?? {}, empty] } };
  });
  return { ...responses, [to]: { ...known, content } };
}

function mapMembers(object: JsonObject, become: (name: string, member: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, become(name, member)]));
}
