import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind, Verb } from '../kind.ts';
import type { Registry } from '../registry.ts';
import { pluralWord } from './crd.ts';
import { createExamples, type Examples } from './openapi-examples.ts';
import { header, json, listOf, named, type Operation, operation, pathParameters, query } from './openapi-operation.ts';
import { responseSchema, summarySchema } from './response-schema.ts';
import { fieldsOn, type Surface, specSchema } from './shape.ts';

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
    ...(hasOwnReplacement(kind)
      ? [[`${kind.name}Replacement`, tolerant(specSchema(registry, kind, 'replace'))] as const]
      : []),
  ]);
  return Object.fromEntries(schemas);
}

function hasBody(kind: Kind): boolean {
  return kind.path !== undefined && (kind.verbs.includes('create') || kind.verbs.includes('replace'));
}

/** Whether a replacement says other things than a creation. */
function hasOwnReplacement(kind: Kind): boolean {
  if (kind.path === undefined || !kind.verbs.includes('replace')) return false;
  const names = (surface: Surface) => Object.keys(fieldsOn(kind, surface)).sort().join();
  return kind.merge === true || names('request') !== names('replace');
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
  const items: readonly (readonly [string, readonly Verb[]])[] =
    kind.single === true
      ? [[kind.path, ['create', 'read', 'replace', 'delete']]]
      : [
          [kind.path, ['list', 'create']],
          [one, ['read', 'replace', 'delete']],
        ];
  const all =
    kind.listPath === undefined ? [] : [[kind.listPath, { get: operation(describeAll(examples, kind)) }] as const];
  const paths = items.flatMap(([path, verbs]) => {
    const offered = verbs.filter((verb) => kind.verbs.includes(verb));
    if (offered.length === 0) return [];
    const operations = offered.map((verb) => [methods[verb], operation(describeVerb(examples, kind, verb))] as const);
    const parameters = pathParameters(path, (name) => parameterOf(kind, name));
    return [[path, { ...parameters, ...Object.fromEntries(operations) }] as const];
  });
  const aliases = (kind.alsoAt ?? []).flatMap((other) =>
    paths.map(([path]) => [path.replace(kind.path ?? '', other), sameAs(path)] as const),
  );
  return [...paths, ...all, ...aliases];
}

/** A path item that is another one. */
function sameAs(path: string): JsonObject {
  return { $ref: `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}` };
}

/** The list of a child kind, whatever the parent. */
function describeAll(examples: Examples, kind: Kind): Operation {
  const { id, ...rest } = describeVerb(examples, { ...kind, filters: {} }, 'list');
  return { ...rest, id: id.replace('list', 'listAll') };
}

function parameterOf(kind: Kind, name: string): JsonObject {
  const isOwn = name === (kind.idParameter ?? 'id');
  const owner = isOwn ? kind.name : (kind.parent?.kind ?? kind.name);
  const what = isOwn && kind.addressedBy !== undefined ? kind.nameField : 'id';
  const type = isOwn && kind.addressedBy === undefined ? (kind.ids ?? 'string') : 'string';
  return { description: `The ${what} of the object of kind ${owner}.`, schema: { type } };
}

const methods: Readonly<Record<Verb, string>> = {
  list: 'get',
  create: 'post',
  read: 'get',
  replace: 'put',
  delete: 'delete',
};
const always = [401, 403, 429, 503];

/** What an operation of a verb has besides its name: parameters, bodies, failures. */
type Describe = (kind: Kind, examples: Examples) => Omit<Operation, 'id' | 'tag' | 'summary'>;

const verbs: Readonly<Record<Verb, Describe>> = {
  list: (kind, examples) => ({
    description: kind.doc,
    parameters: [
      ...Object.entries(kind.filters ?? {}).map(([name, filter]) => query(name, filter.doc, filter.schema)),
      header('IfNoneMatch'),
    ],
    answer: json(listOf(kind.name), [examples.response(kind)]),
    headers: ['ETag'],
    unchanged: true,
    errors: sorted(...always, ...(mayBeMissing(kind) ? [404] : []), ...(canBeRefused(kind) ? [422] : [])),
  }),
  create: (kind, examples) => ({
    parameters: [header('Prefer')],
    body: json(named(`${kind.name}Request`), examples.request(kind)),
    answer: json(named(kind.name), examples.created(kind)),
    headers: ['ETag', 'Heddle-Ignored'],
    errors: sorted(...always, ...(mayBeMissing(kind) ? [404] : []), 400, 409, 413, 415, 422),
  }),
  read: (kind, examples) => ({
    parameters: [header('IfNoneMatch')],
    answer: json(named(kind.name), examples.response(kind)),
    headers: ['ETag'],
    unchanged: true,
    errors: sorted(...always, 404),
  }),
  replace: (kind, examples) => ({
    description:
      kind.merge === true
        ? 'What is left out stays as it is.'
        : 'An optional field that is left out returns to its default.',
    parameters: [header('IfMatch'), header('Prefer')],
    body: json(named(`${kind.name}${hasOwnReplacement(kind) ? 'Replacement' : 'Request'}`), examples.replacement(kind)),
    answer: json(named(kind.name), examples.response(kind)),
    headers: ['ETag', 'Heddle-Ignored'],
    errors: sorted(...always, 400, 404, 409, 412, 413, 415, 422),
  }),
  delete: (kind) => ({
    parameters: [header('IfMatch')],
    ...(kind.deleteReply === 'object' ? { answer: json({ type: 'object' }, {}) } : {}),
    errors: sorted(...always, 400, 404, 409, 412, ...(kind.checkDeed === undefined ? [] : [422])),
  }),
};

function describeVerb(examples: Examples, kind: Kind, verb: Verb): Operation {
  const isList = verb === 'list';
  const id = `${verb}${isList ? pluralWord(kind.name) : kind.name}`;
  const what = isList ? 'objects' : 'an object';
  const summary = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${what} of kind ${kind.name}`;
  return { id, tag: kind.module, summary, ...verbs[verb](kind, examples) };
}

/** Whether the collection itself may not be there: without its parent, or in this edition. */
function mayBeMissing(kind: Kind): boolean {
  return kind.parent !== undefined || kind.edition !== undefined;
}

/** Whether a list can be asked for with a value that nothing matches. */
function canBeRefused(kind: Kind): boolean {
  return Object.values(kind.filters ?? {}).some((filter) => filter.fault !== undefined);
}

function sorted(...statuses: readonly number[]): readonly number[] {
  return [...statuses].sort((a, b) => a - b);
}
