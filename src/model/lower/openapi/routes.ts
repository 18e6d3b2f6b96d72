import { asObject, asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { InUseReason, Kind, Verb } from '../../declare/kind.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Edition } from '../../edition.ts';
import { entriesOf } from '../../schema/field-search.ts';
import { pluralWord } from '../crd/names.ts';
import { responseSchema, summarySchema } from '../response-schema.ts';
import { fieldsOn, type Surface, specSchema } from '../shape.ts';
import { createExamples, type Examples } from './examples.ts';
import {
  jsonContent,
  listSchemaOf,
  lowerOperation,
  type Operation,
  pathParameters,
  queryParameter,
  schemaReference,
  sharedParameter,
} from './operation.ts';
import { describedVariants } from './variants.ts';

/** Returns the path items of all kinds that have endpoints in an edition. Yields after each kind. */
export function* kindPaths(registry: Registry, edition: Edition): Generator<undefined, JsonObject> {
  const examples = createExamples(registry);
  const items: (readonly [string, JsonObject])[] = [];
  for (const kind of kindsOf(registry, edition)) {
    items.push(...pathItems(examples, kind));
    yield undefined;
  }
  return Object.fromEntries(items.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the schemas of all kinds that have endpoints in an edition, and the summaries that they use. */
export function kindSchemas(registry: Registry, edition: Edition): JsonObject {
  const names = {
    response: (kind: string) => schemaReference(kind),
    summary: (kind: string) => schemaReference(`${kind}Summary`),
  };
  const schemas = kindsOf(registry, edition).flatMap((kind): readonly (readonly [string, Json])[] => [
    ...(kind.summary === undefined ? [] : [[`${kind.name}Summary`, summarySchema(kind)] as const]),
    ...(kind.path === undefined ? [] : describedVariants(kind, kind.name, responseSchema(registry, kind, names))),
    ...(hasBody(kind)
      ? describedVariants(kind, `${kind.name}Request`, loosenSchema(specSchema(registry, kind, 'request')))
      : []),
    ...(hasOwnReplacement(kind)
      ? [[`${kind.name}Replacement`, loosenSchema(replacementSchema(registry, kind))] as const]
      : []),
  ]);
  return { ...Object.fromEntries(schemas), Reference: referenceSchema };
}

function kindsOf(registry: Registry, edition: Edition): readonly Kind[] {
  return registry.kinds.filter((kind) => kind.edition === undefined || kind.edition === edition);
}

function hasBody(kind: Kind): boolean {
  return kind.path !== undefined && (kind.verbs.includes('create') || kind.verbs.includes('replace'));
}

/** Checks whether the body of a replace differs from that of a create, so that it needs its own schema. */
function hasOwnReplacement(kind: Kind): boolean {
  if (kind.path === undefined || !kind.verbs.includes('replace')) return false;
  const names = (surface: Surface) => Object.keys(fieldsOn(kind, surface)).sort().join();
  return kind.merge === true || names('request') !== names('replace') || mergesVariants(kind);
}

/**
 * Returns the schema of a replace. The member that selects the variant has the same schema as in a create, because
 * clients send back the value that they read.
 */
function replacementSchema(registry: Registry, kind: Kind): JsonObject {
  const schema = specSchema(registry, kind, 'replace');
  if (kind.variants === undefined) return schema;
  const { by } = kind.variants;
  const created = asObjectOrEmpty(specSchema(registry, kind, 'request')['properties']);
  return { ...schema, properties: { ...asObjectOrEmpty(schema['properties']), [by]: created[by] ?? {} } };
}

/**
 * Checks whether a replace merges the keys of the map that depends on the variant. It then requires none of the keys,
 * so variants would say nothing.
 */
function mergesVariants({ variants, spec }: Kind): boolean {
  const field = variants === undefined ? undefined : spec[variants.member];
  return field?.type === 'map' && field.merge === true;
}

/** Schema of an object in a response, or of any value with its `id`. */
const referenceSchema: JsonObject = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
  description: 'Object as an answer shows it, accepted instead of its id.',
};

/**
 * Loosens a request schema. Unknown members are allowed, because the server ignores and reports them over HTTP. Objects
 * are allowed instead of ids, because clients may send back what they read.
 */
function loosenSchema(schema: JsonObject): JsonObject {
  if (schema['type'] === 'array' && schema['x-ref'] !== undefined)
    return { ...schema, items: { anyOf: [schema['items'] ?? {}, schemaReference('Reference')] } };
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => keyword !== 'additionalProperties' || value !== false,
  );
  const inner = (keyword: string, value: Json): Json => {
    if (!isObject(value)) return value;
    const members = value;
    if (keyword !== 'properties') return loosenSchema(members);
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, loosenSchema(asObject(member))]));
  };
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inner(keyword, value)]));
}

function pathItems(examples: Examples, kind: Kind): readonly (readonly [string, JsonObject])[] {
  if (kind.path === undefined) return [];
  const all =
    kind.listPath === undefined ? [] : [[kind.listPath, { get: lowerOperation(describeAll(examples, kind)) }] as const];
  const aliases = (kind.aliasPaths ?? []).flatMap((path, at) => itemsAt(examples, kind, path, at + 1));
  return [...itemsAt(examples, kind, kind.path, 0), ...all, ...aliases];
}

/**
 * Returns the path items of a collection. `alias` is 0 for `kind.path`, and counts the other collections of the same
 * objects from 1.
 */
function itemsAt(
  examples: Examples,
  kind: Kind,
  collection: string,
  alias: number,
): readonly (readonly [string, JsonObject])[] {
  const items: readonly (readonly [string, readonly Verb[]])[] =
    kind.single === true
      ? [[collection, ['create', 'read', 'replace', 'delete']]]
      : [
          [collection, ['list', 'create']],
          [`${collection}/{${kind.idParameter ?? 'id'}}`, ['read', 'replace', 'delete']],
        ];
  return items.flatMap(([path, verbs]) => {
    const offered = verbs.filter((verb) => kind.verbs.includes(verb));
    if (offered.length === 0) return [];
    const operations = offered.map((verb) => {
      const described = describeVerb(examples, kind, verb);
      return [methods[verb], lowerOperation(alias === 0 ? described : aliasOperation(kind, described, alias))] as const;
    });
    const parameters = pathParameters(path, (name) => parameterOf(kind, name));
    return [[path, { ...parameters, ...Object.fromEntries(operations) }] as const];
  });
}

/** Copies an operation for another path. It needs a separate id for generated clients. */
function aliasOperation(kind: Kind, { id, ...rest }: Operation, alias: number): Operation {
  return {
    ...rest,
    id: `${id}Alias${alias === 1 ? '' : alias}`,
    description: `Same operation as under \`${kind.path}\`.`,
  };
}

/** Describes the list of a child kind across all parents. */
function describeAll(examples: Examples, kind: Kind): Operation {
  const { parent, ...alone } = kind;
  const { id, ...rest } = describeVerb(examples, { ...alone, filters: {} }, 'list');
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
const commonStatuses = [401, 403, 429, 503];

/** Describes the parameters, bodies and errors of a verb. */
type DescribeVerb = (kind: Kind, examples: Examples) => Omit<Operation, 'id' | 'tag' | 'summary'>;

const describeByVerb: Readonly<Record<Verb, DescribeVerb>> = {
  list: (kind, examples) => ({
    description: kind.doc,
    parameters: [
      ...Object.entries(kind.filters ?? {}).map(([name, filter]) => queryParameter(name, filter.doc, filter.schema)),
      ...[sharedParameter('Limit'), sharedParameter('After'), sharedParameter('IfNoneMatch')],
    ],
    answer: jsonContent(listSchemaOf(kind.name), [examples.response(kind)]),
    headers: ['ETag', 'Link'],
    unchanged: true,
    errors: sortStatuses(
      ...commonStatuses,
      ...(kind.parent === undefined ? [] : [404]),
      ...(canBeRefused(kind) ? [422] : []),
    ),
  }),
  create: (kind, examples) => ({
    parameters: [sharedParameter('Prefer'), sharedParameter('BreakGlass'), sharedParameter('BreakGlassTTL')],
    body: jsonContent(schemaReference(`${kind.name}Request`), examples.request(kind)),
    answer: jsonContent(schemaReference(kind.name), examples.created(kind)),
    headers: ['ETag', 'Heddle-Ignored', ...(kind.approvals === undefined ? [] : ['Heddle-Notice'])],
    errors: sortStatuses(
      ...commonStatuses,
      ...(kind.parent === undefined ? [] : [404]),
      ...[400, 409, 413, 415, 422],
      ...(hasConditions(kind) ? [412] : []),
    ),
  }),
  read: (kind, examples) => ({
    parameters: [sharedParameter('IfNoneMatch')],
    answer: jsonContent(schemaReference(kind.name), examples.response(kind)),
    headers: ['ETag'],
    unchanged: true,
    errors: sortStatuses(...commonStatuses, ...(kind.alwaysExists === true ? [] : [404])),
  }),
  replace: (kind, examples) => ({
    description:
      kind.merge === true ? 'Omitted fields stay unchanged.' : 'Omitted optional fields return to their defaults.',
    parameters: [
      sharedParameter('IfMatch'),
      sharedParameter('Prefer'),
      sharedParameter('BreakGlass'),
      sharedParameter('BreakGlassTTL'),
    ],
    body: jsonContent(
      schemaReference(`${kind.name}${hasOwnReplacement(kind) ? 'Replacement' : 'Request'}`),
      examples.replacement(kind),
    ),
    answer: jsonContent(schemaReference(kind.name), examples.response(kind)),
    headers: ['ETag', 'Heddle-Ignored', ...(kind.approvals === undefined ? [] : ['Heddle-Notice'])],
    errors: sortStatuses(...commonStatuses, 400, ...(kind.alwaysExists === true ? [] : [404]), 409, 412, 413, 415, 422),
  }),
  delete: (kind) => ({
    parameters: [sharedParameter('IfMatch')],
    ...(kind.deleteReply === 'object' ? { answer: jsonContent(emptyObjectSchema, {}) } : {}),
    ...(kind.deleteReply === 'no_content' ? { status: 204 } : {}),
    errors: sortStatuses(...commonStatuses, ...[404, 409, 412, 422], ...(canBeLinked(kind) ? [400] : [])),
  }),
};

function describeVerb(examples: Examples, kind: Kind, verb: Verb): Operation {
  const isList = verb === 'list';
  const id = `${verb}${isList ? pluralWord(kind.name) : kind.name}`;
  const what = isList ? 'objects' : 'an object';
  const summary = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${what} of kind ${kind.name}`;
  return { id, tag: kind.module, summary, ...describeByVerb[verb](kind, examples) };
}

const emptyObjectSchema: JsonObject = { type: 'object', additionalProperties: false };

/** Checks whether creating an object can fail because of a condition or the edition. */
function hasConditions(kind: Kind): boolean {
  return kind.checkMutation !== undefined || entriesOf(kind.spec).some(([, { hostedOnly }]) => hostedOnly === true);
}

/**
 * Checks whether a delete can be refused because the object is linked to others, or because of its nature (`refuse`).
 */
function canBeLinked({ inUse, refuse }: Kind): boolean {
  const reasons: readonly (InUseReason | undefined)[] = typeof inUse === 'object' ? Object.values(inUse) : [inUse];
  return reasons.includes('linked') || refuse !== undefined;
}

/** Checks whether a filter of the list can refuse a value. */
function canBeRefused(kind: Kind): boolean {
  return Object.values(kind.filters ?? {}).some((filter) => filter.fault !== undefined);
}

function sortStatuses(...statuses: readonly number[]): readonly number[] {
  return [...statuses].sort((a, b) => a - b);
}
