import { asObject, isObject, type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import type { InUse, Kind, Verb } from '../../declare/kind.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Edition } from '../../edition.ts';
import { entriesOf } from '../../schema/field.ts';
import { pluralWord } from '../crd/names.ts';
import { responseSchema, summarySchema } from '../response-schema.ts';
import { fieldsOn, type Surface, specSchema } from '../shape.ts';
import { createExamples, type Examples } from './examples.ts';
import { header, json, listOf, named, type Operation, operation, pathParameters, query } from './operation.ts';
import { describedVariants } from './variants.ts';

/** The path items of every kind that has endpoints in an edition. Yields after each kind. */
export function* kindPaths(registry: Registry, edition: Edition): Generator<undefined, JsonObject> {
  const examples = createExamples(registry);
  const items: (readonly [string, JsonObject])[] = [];
  for (const kind of kindsOf(registry, edition)) {
    items.push(...pathItems(examples, kind));
    yield undefined;
  }
  return Object.fromEntries(items.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The schemas of every kind that has endpoints in an edition, and the summaries that they use. */
export function kindSchemas(registry: Registry, edition: Edition): JsonObject {
  const names = { response: (kind: string) => named(kind), summary: (kind: string) => named(`${kind}Summary`) };
  const schemas = kindsOf(registry, edition).flatMap((kind): readonly (readonly [string, Json])[] => [
    ...(kind.summary === undefined ? [] : [[`${kind.name}Summary`, summarySchema(kind)] as const]),
    ...(kind.path === undefined
      ? []
      : describedVariants(kind, kind.name, responseSchema(registry, kind, names), 'answer')),
    ...(hasBody(kind)
      ? describedVariants(kind, `${kind.name}Request`, tolerant(specSchema(registry, kind, 'request')), 'request')
      : []),
    ...(hasOwnReplacement(kind)
      ? [[`${kind.name}Replacement`, tolerant(replacementSchema(registry, kind))] as const]
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

/** Whether a replacement says other things than a creation. */
function hasOwnReplacement(kind: Kind): boolean {
  if (kind.path === undefined || !kind.verbs.includes('replace')) return false;
  const names = (surface: Surface) => Object.keys(fieldsOn(kind, surface)).sort().join();
  return kind.merge === true || names('request') !== names('replace') || mergesVariants(kind);
}

/** The word by which variants differ is the one that was read, whatever becomes of it. */
function replacementSchema(registry: Registry, kind: Kind): JsonObject {
  const schema = specSchema(registry, kind, 'replace');
  if (kind.variants === undefined) return schema;
  const { by } = kind.variants;
  const created = membersOf(specSchema(registry, kind, 'request')['properties']);
  return { ...schema, properties: { ...membersOf(schema['properties']), [by]: created[by] ?? {} } };
}

/** A replace that changes some keys of a map needs none of them, and says nothing by the word that it depends on. */
function mergesVariants({ variants, spec }: Kind): boolean {
  const field = variants === undefined ? undefined : spec[variants.member];
  return field?.type === 'map' && field.merge === true;
}

/** What answers show of an object, or anything else that has its id. */
const referenceSchema: JsonObject = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
  description: 'An object as an answer shows it, which stands for its id.',
};

/**
 * Over HTTP unknown members are ignored and named, so the schema does not forbid them; and what was read may be sent back,
 * where answers show objects in place of their ids.
 */
function tolerant(schema: JsonObject): JsonObject {
  if (schema['type'] === 'array' && schema['x-ref'] !== undefined)
    return { ...schema, items: { anyOf: [schema['items'] ?? {}, named('Reference')] } };
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => keyword !== 'additionalProperties' || value !== false,
  );
  const inner = (keyword: string, value: Json): Json => {
    if (!isObject(value)) return value;
    const members = value;
    if (keyword !== 'properties') return tolerant(members);
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, tolerant(asObject(member))]));
  };
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inner(keyword, value)]));
}

function pathItems(examples: Examples, kind: Kind): readonly (readonly [string, JsonObject])[] {
  if (kind.path === undefined) return [];
  const all =
    kind.listPath === undefined ? [] : [[kind.listPath, { get: operation(describeAll(examples, kind)) }] as const];
  const aliases = (kind.alsoAt ?? []).flatMap((path, at) => itemsAt(examples, kind, path, at + 1));
  return [...itemsAt(examples, kind, kind.path, 0), ...all, ...aliases];
}

/** The path items of a collection; `alias` numbers the other collections that lead to the same objects. */
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
      return [methods[verb], operation(alias === 0 ? described : sameAs(kind, described, alias))] as const;
    });
    const parameters = pathParameters(path, (name) => parameterOf(kind, name));
    return [[path, { ...parameters, ...Object.fromEntries(operations) }] as const];
  });
}

/** An operation that is another one at another path: generated clients need a name of its own. */
function sameAs(kind: Kind, { id, ...rest }: Operation, alias: number): Operation {
  return { ...rest, id: `${id}Alias${alias === 1 ? '' : alias}`, description: `The same as below \`${kind.path}\`.` };
}

/** The list of a child kind, whatever the parent. */
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
const always = [401, 403, 429, 503];

/** What an operation of a verb has besides its name: parameters, bodies, failures. */
type Describe = (kind: Kind, examples: Examples) => Omit<Operation, 'id' | 'tag' | 'summary'>;

const verbs: Readonly<Record<Verb, Describe>> = {
  list: (kind, examples) => ({
    description: kind.doc,
    parameters: [
      ...Object.entries(kind.filters ?? {}).map(([name, filter]) => query(name, filter.doc, filter.schema)),
      ...[header('Limit'), header('After'), header('IfNoneMatch')],
    ],
    answer: json(listOf(kind.name), [examples.response(kind)]),
    headers: ['ETag', 'Link'],
    unchanged: true,
    errors: sorted(...always, ...(kind.parent === undefined ? [] : [404]), ...(canBeRefused(kind) ? [422] : [])),
  }),
  create: (kind, examples) => ({
    parameters: [header('Prefer'), header('BreakGlass'), header('BreakGlassTTL')],
    body: json(named(`${kind.name}Request`), examples.request(kind)),
    answer: json(named(kind.name), examples.created(kind)),
    headers: ['ETag', 'Heddle-Ignored', ...(kind.approvals === undefined ? [] : ['Heddle-Notice'])],
    errors: sorted(
      ...always,
      ...(kind.parent === undefined ? [] : [404]),
      ...[400, 409, 413, 415, 422],
      ...(hasConditions(kind) ? [412] : []),
    ),
  }),
  read: (kind, examples) => ({
    parameters: [header('IfNoneMatch')],
    answer: json(named(kind.name), examples.response(kind)),
    headers: ['ETag'],
    unchanged: true,
    errors: sorted(...always, ...(kind.implied === true ? [] : [404])),
  }),
  replace: (kind, examples) => ({
    description:
      kind.merge === true
        ? 'What is left out stays as it is.'
        : 'An optional field that is left out returns to its default.',
    parameters: [header('IfMatch'), header('Prefer'), header('BreakGlass'), header('BreakGlassTTL')],
    body: json(named(`${kind.name}${hasOwnReplacement(kind) ? 'Replacement' : 'Request'}`), examples.replacement(kind)),
    answer: json(named(kind.name), examples.response(kind)),
    headers: ['ETag', 'Heddle-Ignored', ...(kind.approvals === undefined ? [] : ['Heddle-Notice'])],
    errors: sorted(...always, 400, ...(kind.implied === true ? [] : [404]), 409, 412, 413, 415, 422),
  }),
  delete: (kind) => ({
    parameters: [header('IfMatch')],
    ...(kind.deleteReply === 'object' ? { answer: json(empty, {}) } : {}),
    ...(kind.deleteReply === 'no_content' ? { status: 204 } : {}),
    errors: sorted(...always, ...[404, 409, 412, 422], ...(canBeLinked(kind) ? [400] : [])),
  }),
};

function describeVerb(examples: Examples, kind: Kind, verb: Verb): Operation {
  const isList = verb === 'list';
  const id = `${verb}${isList ? pluralWord(kind.name) : kind.name}`;
  const what = isList ? 'objects' : 'an object';
  const summary = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${what} of kind ${kind.name}`;
  return { id, tag: kind.module, summary, ...verbs[verb](kind, examples) };
}

/** An empty JSON object. */
const empty: JsonObject = { type: 'object', additionalProperties: false };

/** Whether an object can only be made under certain conditions, or in another edition. */
function hasConditions(kind: Kind): boolean {
  return kind.checkMutation !== undefined || entriesOf(kind.spec).some(([, { cloudOnly }]) => cloudOnly === true);
}

/** Whether a delete is refused because the object is linked to others, or for what it is. */
function canBeLinked({ inUse, refuse }: Kind): boolean {
  const reasons: readonly (InUse | undefined)[] = typeof inUse === 'object' ? Object.values(inUse) : [inUse];
  return reasons.includes('linked') || refuse !== undefined;
}

/** Whether a list can be asked for with a value that nothing matches. */
function canBeRefused(kind: Kind): boolean {
  return Object.values(kind.filters ?? {}).some((filter) => filter.fault !== undefined);
}

function sorted(...statuses: readonly number[]): readonly number[] {
  return [...statuses].sort((a, b) => a - b);
}
