import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind, Verb } from '../kind.ts';
import type { Registry } from '../registry.ts';
import { pluralWord } from './crd.ts';
import { createExamples, type Examples } from './openapi-examples.ts';
import { header, json, listOf, named, type Operation, operation, pathParameters, query } from './openapi-operation.ts';
import { responseSchema, summarySchema } from './response-schema.ts';
import { specSchema } from './shape.ts';

/** The path items of every kind that has endpoints. */
export function kindPaths(registry: Registry): JsonObject {
  const examples = createExamples(registry);
  const items = registry.kinds.flatMap((kind) => pathItems(examples, kind));
  return Object.fromEntries(items.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The schemas of every kind that has endpoints, and the summaries that they use. */
export function kindSchemas(registry: Registry): JsonObject {
  const names = { response: (kind: string) => named(kind), summary: (kind: string) => named(`${kind}Summary`) };
  const schemas = registry.kinds.flatMap((kind): readonly (readonly [string, Json])[] => [
    ...(kind.summary === undefined ? [] : [[`${kind.name}Summary`, summarySchema(kind)] as const]),
    ...(kind.path === undefined ? [] : [[kind.name, responseSchema(registry, kind, names)] as const]),
    ...(hasBody(kind) ? [[`${kind.name}Request`, tolerant(specSchema(registry, kind, 'request'))] as const] : []),
  ]);
  return Object.fromEntries(schemas);
}

function hasBody(kind: Kind): boolean {
  return kind.path !== undefined && (kind.verbs.includes('create') || kind.verbs.includes('replace'));
}

/** Over HTTP unknown members are ignored and named, so the schema does not forbid them. */
function tolerant(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => keyword !== 'additionalProperties' || value !== false,
  );
  const inner = (keyword: string, value: Json): Json => {
    if (!isObject(value)) return value;
    const members = value as JsonObject;
    if (keyword !== 'properties') return tolerant(members);
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, tolerant(member as JsonObject)]));
  };
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inner(keyword, value)]));
}

function pathItems(examples: Examples, kind: Kind): readonly (readonly [string, JsonObject])[] {
  if (kind.path === undefined) return [];
  const one = `${kind.path}/{${kind.idParameter ?? 'id'}}`;
  const items: readonly (readonly [string, readonly Verb[]])[] = [
    [kind.path, ['list', 'create']],
    [one, ['read', 'replace', 'delete']],
  ];
  return items.flatMap(([path, verbs]) => {
    const offered = verbs.filter((verb) => kind.verbs.includes(verb));
    if (offered.length === 0) return [];
    const operations = offered.map((verb) => [methods[verb], operation(describeVerb(examples, kind, verb))] as const);
    const parameters = pathParameters(path, (name) => parameterOf(kind, name));
    return [[path, { ...parameters, ...Object.fromEntries(operations) }] as const];
  });
}

function parameterOf(kind: Kind, name: string): JsonObject {
  const owner = name === (kind.idParameter ?? 'id') ? kind.name : (kind.parent?.kind ?? kind.name);
  return { description: `The id of the object of kind ${owner}.`, schema: { type: 'string' } };
}

const methods: Readonly<Record<Verb, string>> = {
  list: 'get',
  create: 'post',
  read: 'get',
  replace: 'put',
  delete: 'delete',
};
const always = [401, 403, 429, 503];

function describeVerb(examples: Examples, kind: Kind, verb: Verb): Operation {
  const { name, module: tag } = kind;
  const plural = pluralWord(name);
  const write = {
    body: json(named(`${name}Request`), examples.request(kind)),
    answer: json(named(name), examples.response(kind)),
  };
  const missing = kind.path?.includes('{') === true ? [404] : [];
  switch (verb) {
    case 'list':
      return {
        ...{ id: `list${plural}`, tag, summary: `List objects of kind ${name}`, description: kind.doc },
        parameters: [
          ...(kind.filters ?? []).map((filter) => query(filter, `Only objects whose \`${filter}\` is exactly this.`)),
          header('IfNoneMatch'),
        ],
        answer: json(listOf(name), [examples.response(kind)]),
        headers: ['ETag'],
        errors: sorted(...always, ...missing),
      };
    case 'create':
      return {
        id: `create${name}`,
        tag,
        summary: `Create an object of kind ${name}`,
        parameters: [header('Prefer')],
        ...write,
        headers: ['ETag', 'Heddle-Ignored'],
        errors: sorted(...always, ...missing, 400, 409, 413, 415, 422),
      };
    case 'read':
      return {
        id: `read${name}`,
        tag,
        summary: `Read an object of kind ${name}`,
        parameters: [header('IfNoneMatch')],
        answer: write.answer,
        headers: ['ETag'],
        errors: sorted(...always, 404),
      };
    case 'replace':
      return {
        ...{
          id: `replace${name}`,
          tag,
          summary: `Replace an object of kind ${name}`,
          parameters: [header('IfMatch'), header('Prefer')],
        },
        description: 'An optional field that is left out returns to its default.',
        ...write,
        headers: ['ETag', 'Heddle-Ignored'],
        errors: sorted(...always, 400, 404, 409, 412, 413, 415, 422),
      };
    case 'delete':
      return {
        id: `delete${name}`,
        tag,
        summary: `Delete an object of kind ${name}`,
        parameters: [header('IfMatch')],
        errors: sorted(...always, 400, 404, 409, 412),
      };
    default:
      return unreachable(verb);
  }
}

function sorted(...statuses: readonly number[]): readonly number[] {
  return [...statuses].sort((a, b) => a - b);
}

function unreachable(verb: never): never {
  throw new Error(`no such verb: ${String(verb)}`);
}
