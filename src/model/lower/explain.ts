import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { AnyField, Fields } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { documentFields, integerBounds } from './shape.ts';

/** What documents can state about a kind or one of its fields. */
export interface Explanation {
  readonly kind: string;
  /** Path of the field in the spec, such as `rules.ports`; empty for the kind itself. */
  readonly path: string;
  readonly doc: string;
  /** Type in words, such as `list of texts` or `references to Group`. Absent for the kind itself. */
  readonly type?: string;
  /** Sentences about the field's limits, default and merging, and about who may write it. */
  readonly facts: readonly string[];
  readonly members: readonly {
    readonly name: string;
    readonly type: string;
    readonly doc: string;
    /** Whether a document must state it. */
    readonly required: boolean;
  }[];
  /**
   * Example value from the example of the kind. Absent for the kind itself, and when the example does not contain the
   * field.
   */
  readonly example?: Json;
}

/** Explains `Kind` or `Kind.field.member`. Returns a sentence about what is wrong when the name is unknown. */
export function explain(registry: Registry, name: string): Explanation | string {
  const [first = '', ...path] = name.split('.');
  const kind = registry.kinds.find((candidate) => candidate.name.toLowerCase() === first.toLowerCase());
  if (kind === undefined) return `there is no kind \`${first}\`${suggestName(first, registry.names)}`;
  if (path.length === 0) return explainKind(registry, kind);
  return explainField(registry, kind, path);
}

function explainKind(registry: Registry, kind: Kind): Explanation {
  const { document } = kind;
  const facts = [
    ...(document.allowed ? [] : [`No documents of this kind: ${document.why}.`]),
    ...(document.allowed && document.creates === false
      ? ['Documents can state only objects that exist already; they do not create any.']
      : []),
    ...(kind.singleton === undefined
      ? []
      : [`There is only one object of this kind; its metadata.name is \`${kind.singleton}\`.`]),
    ...(kind.edition === 'hosted' ? ['Hosted edition only.'] : []),
    ...(kind.path === undefined ? [] : [`Served at ${kind.path}.`]),
  ];
  return { kind: kind.name, path: '', doc: kind.doc, facts, members: explainMembers(documentFields(registry, kind)) };
}

function explainField(registry: Registry, kind: Kind, path: readonly string[]): Explanation | string {
  let fields: Fields | undefined = documentFields(registry, kind);
  let field: AnyField | undefined;
  const walked: string[] = [];
  for (const step of path[0] === 'spec' ? path.slice(1) : path) {
    const name = step.replace(/\[.*\]$/, '');
    const parentPath = [kind.name, ...walked].join('.');
    if (fields === undefined) return `\`${parentPath}\` has no members`;
    if (fields[name] === undefined)
      return `\`${parentPath}\` has no field \`${name}\`${suggestName(name, Object.keys(fields))}`;
    field = fields[name];
    fields = fieldsWithin(field);
    walked.push(name);
  }
  if (field === undefined) return explainKind(registry, kind);
  const type = typeOf(field);
  const example = exampleAt(exampleOf(registry, kind), walked);
  return {
    kind: kind.name,
    path: walked.join('.'),
    doc: field.doc,
    type,
    facts: factsOf(field),
    members: explainMembers(fields ?? {}),
    ...(example === undefined ? {} : { example }),
  };
}

/** Returns the example of a kind, including the examples of children that its documents contain. */
function exampleOf(registry: Registry, kind: Kind): JsonObject {
  const children = registry.inlineChildrenOf(kind.name).map(({ child, member }) => [member, [child.example]] as const);
  return { ...Object.fromEntries(children), ...kind.example };
}

/** Returns the value at a path of an example. In a list, takes the first item that has a value there. */
function exampleAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const holders = Array.isArray(value) ? value : [value];
  for (const holder of holders) {
    const found = isObject(holder) ? exampleAt((holder as JsonObject)[step], rest) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function fieldsWithin(field: AnyField): Fields | undefined {
  if (field.type === 'object' || field.type === 'keyed') return field.fields;
  if (field.type === 'list' || field.type === 'map' || field.type === 'refMap') return fieldsWithin(field.of);
  return undefined;
}

function explainMembers(fields: Fields): Explanation['members'] {
  return entriesOf(fields).map(([name, field]) => ({
    ...{ name, type: typeOf(field), doc: field.doc },
    required: isRequired(field),
  }));
}

function isRequired({ required, documentDefault }: AnyField): boolean {
  return required === true && documentDefault === undefined;
}

function typeOf(field: AnyField): string {
  switch (field.type) {
    case 'string':
      return field.format === undefined ? 'text' : `text (${field.format.name.replaceAll('_', ' ')})`;
    case 'integer':
      return field.unit === undefined ? 'whole number' : `whole number of ${field.unit}`;
    case 'boolean':
      return 'true or false';
    case 'enum':
      return `one of ${field.values.join(', ')}`;
    case 'ref':
      return `reference to ${field.kind}`;
    case 'refByType':
      return `reference to ${[...new Set(Object.values(field.kinds))].join(' or ')}, by \`${field.by}\``;
    case 'refs':
    case 'members':
      return `references to ${field.kind}`;
    case 'typedRef':
      return 'reference with its type: {id, type}';
    case 'secret':
      return 'secret';
    case 'map':
      return `map with keys of your choice, each value: ${typeOf(field.of)}`;
    case 'refMap':
      return `references to ${field.kind} with values: ${typeOf(field.of)}`;
    case 'list':
      return `list, each: ${typeOf(field.of)}`;
    case 'keyed':
      return `list of objects, identified by \`${field.key}\``;
    case 'json':
      return 'JSON';
    case 'object':
      return 'object';
    default:
      return unreachable(field);
  }
}

function factsOf(field: AnyField): readonly string[] {
  return [
    ...limitsOf(field),
    ...unitOf(field),
    ...(isRequired(field) ? ['Required.'] : []),
    ...(field.documentDefault === undefined
      ? []
      : [`A document may omit it; the value is then ${JSON.stringify(field.documentDefault)}.`]),
    ...(field.default === undefined || field.documentDefault !== undefined || field.required === true
      ? []
      : [`Default: ${JSON.stringify(field.default)}.`]),
    ...(field.access === 'createOnly' ? ['Can be set only at creation.'] : []),
    ...(field.access === 'updateOnly' ? ['API requests can set it in a replace, but not at creation.'] : []),
    ...(field.type === 'secret'
      ? [
          field.read === 'shown'
            ? 'A document may name the origin of the value instead: `valueFrom: {envRef: …}` or `{fileRef: …}`; a resource in a cluster may also use `{secretKeyRef: …}`.'
            : 'A document names the origin of the value: `valueFrom: {envRef: …}` or `{fileRef: …}`; a resource in a cluster may also use `{secretKeyRef: …}`.',
        ]
      : []),
    ...(field.failsafe === undefined
      ? []
      : [`Setting it to ${JSON.stringify(field.failsafe)} is never refused, and no document undoes that.`]),
    ...(field.hostedOnly === true ? ['`true` is available only in the hosted edition.'] : []),
    ...mergeOf(field),
  ];
}

/** Explains that the value is a number without a unit, because other tools accept durations such as `30d`. */
function unitOf(field: AnyField): readonly string[] {
  if (field.type !== 'integer' || field.unit === undefined) return [];
  const day = field.unit === 'seconds' ? 86_400 : 24;
  return [`A number of ${field.unit} without a unit: write ${30 * day} for 30 days; \`30d\` is not a number.`];
}

function limitsOf(field: AnyField): readonly string[] {
  switch (field.type) {
    case 'string':
      return describeRange('characters', field.minLength, field.maxLength);
    case 'secret':
      return describeRange('characters', field.minLength, field.maxLength);
    case 'integer': {
      const { minimum, maximum } = integerBounds(field, 'document');
      return describeRange('', minimum, maximum);
    }
    case 'list':
    case 'keyed':
    case 'refs':
      return describeRange('entries', field.minItems, field.maxItems);
    case 'map':
    case 'refMap':
      return describeRange('members', undefined, field.maxItems);
    default:
      return [];
  }
}

function describeRange(unit: string, least: number | undefined, most: number | undefined): readonly string[] {
  const of = unit === '' ? '' : ` ${unit}`;
  if (least !== undefined && most !== undefined) return [`From ${least} to ${most}${of}.`];
  if (least === 1 && unit !== '') return [`Not empty.`];
  if (least !== undefined) return [`At least ${least}${of}.`];
  return most === undefined ? [] : [`At most ${most}${of}.`];
}

/** Explains how several sources share the value. */
function mergeOf(field: AnyField): readonly string[] {
  switch (field.type) {
    case 'refs':
    case 'members':
      return ['A set: each element belongs to the source that states it.'];
    case 'map':
    case 'refMap':
      return ['Each member belongs to the source that states it.'];
    case 'keyed':
      return [
        `Each entry belongs to the source that states it. \`${field.key}\` identifies entries; their order does not matter.`,
      ];
    case 'list':
      return [
        field.set ? 'A set: each element belongs to the source that states it.' : 'One source states the whole value.',
      ];
    case 'object':
      return [
        field.atomic === true
          ? 'One source states the whole value.'
          : 'Each member belongs to the source that states it.',
      ];
    default:
      return [];
  }
}

function suggestName(word: string, names: Iterable<string>): string {
  const known = [...names];
  const guess = nearest(word, known);
  return guess === undefined ? `; there are ${known.join(', ')}` : `; did you mean \`${guess}\`?`;
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}
