import { appendPointer, type Json, type JsonObject } from '../../lib/json.ts';
import type { AnyField, Fields } from './field.ts';
import { createFieldFinder } from './field-search.ts';

/** One reference in a spec to another object. */
export interface Mention {
  readonly kind: string;
  readonly text: string;
  /** JSON pointer into the spec. */
  readonly pointer: string;
  /** Path of the field without list positions, such as `rules.sources`. */
  readonly field: string;
  /**
   * Whether the field names one object instead of a set. If that object is missing, the referring object cannot be what
   * its document states.
   */
  readonly single: boolean;
}

type Rename = (mention: Mention) => string | undefined;

/**
 * Returns the spec with every reference replaced by the result of `rename`; `undefined` removes the reference. Works on
 * stated and full specs, with keys or ids.
 */
export function mapReferences(fields: Fields, spec: JsonObject, rename: Rename, pointer = '', path = ''): JsonObject {
  const referring = referringFields(fields);
  if (referring.size === 0) return spec;
  const result: Record<string, Json> = {};
  for (const name of Object.keys(spec)) {
    const value = spec[name] as Json;
    const field = referring.has(name) ? fields[name] : undefined;
    const mapped = field === undefined ? value : mapMember(field, name, { spec, rename, pointer, path });
    if (mapped !== undefined) result[name] = mapped;
  }
  return result;
}

const referringFields = createFieldFinder(({ type }) => referenceTypes.has(type));

const referenceTypes: ReadonlySet<AnyField['type']> = new Set([
  'ref',
  'refs',
  'members',
  'typedRef',
  'refMap',
  'refByType',
]);

interface Walk {
  readonly spec: JsonObject;
  readonly rename: Rename;
  readonly pointer: string;
  readonly path: string;
}

function mapMember(field: AnyField, name: string, { spec, rename, pointer, path }: Walk): Json | undefined {
  const value = spec[name] as Json;
  const inner = path === '' ? name : `${path}.${name}`;
  return mapValue(fieldOfType(field, spec), value, rename, `${pointer}/${name}`, inner);
}

/**
 * Resolves a reference by type to a plain reference of the kind that its sibling member selects, or to a plain text
 * when that type has no kind.
 */
function fieldOfType(field: AnyField, spec: JsonObject): AnyField {
  if (field.type !== 'refByType') return field;
  const kind = field.kinds[String(spec[field.by])];
  return kind === undefined ? { type: 'string', doc: field.doc } : { type: 'ref', kind, doc: field.doc };
}

function mapValue(field: AnyField, value: Json, rename: Rename, pointer: string, path: string): Json | undefined {
  switch (field.type) {
    case 'string':
    case 'integer':
    case 'boolean':
    case 'enum':
    case 'secret':
    case 'map':
    case 'refByType':
      return value;
    case 'ref':
      return typeof value === 'string' && value !== ''
        ? rename({ kind: field.kind, text: value, pointer, field: path, single: true })
        : value;
    case 'refs':
    case 'members':
      return mapSet(field.kind, value, rename, pointer, path);
    case 'typedRef':
      return mapTyped(field.kinds, value, rename, pointer, path);
    case 'refMap':
      return mapNames(field.kind, value, rename, pointer, path);
    case 'list':
      return Array.isArray(value)
        ? value.map((item, at) => mapValue(field.of, item, rename, `${pointer}/${at}`, path) ?? null)
        : value;
    case 'keyed':
      return Array.isArray(value)
        ? value.map((item, at) =>
            isRecord(item) ? mapReferences(field.fields, item, rename, `${pointer}/${at}`, path) : item,
          )
        : value;
    case 'json':
      return value;
    case 'object':
      return isRecord(value) ? mapReferences(field.fields, value, rename, pointer, path) : value;
    default:
      return unreachable(field);
  }
}

function mapSet(kind: string, value: Json, rename: Rename, pointer: string, field: string): Json {
  if (!Array.isArray(value)) return isRecord(value) ? mapNames(kind, value, rename, pointer, field) : value;
  return value.flatMap((text, at) => {
    const id =
      typeof text === 'string' ? rename({ kind, text, pointer: `${pointer}/${at}`, field, single: false }) : undefined;
    return id === undefined ? [] : [id];
  });
}

function mapNames(kind: string, value: Json, rename: Rename, pointer: string, field: string): Json {
  if (!isRecord(value)) return value;
  const result: Record<string, Json> = {};
  for (const [text, item] of Object.entries(value)) {
    const id = rename({ kind, text, pointer: appendPointer(pointer, text), field, single: false });
    if (id !== undefined) result[id] = item;
  }
  return result;
}

function mapTyped(
  kinds: Readonly<Record<string, string>>,
  value: Json,
  rename: Rename,
  pointer: string,
  field: string,
): Json | undefined {
  if (!isRecord(value)) return value;
  const kind = kinds[String(value['type'])];
  const text = value['id'];
  if (kind === undefined || typeof text !== 'string' || text === '') return value;
  const id = rename({ kind, text, pointer: `${pointer}/id`, field, single: true });
  return id === undefined ? undefined : { ...value, id };
}

/** Returns every reference in a spec, in order of appearance, with repeats. */
export function mentionsOf(fields: Fields, spec: JsonObject): readonly Mention[] {
  const mentions: Mention[] = [];
  mapReferences(fields, spec, (mention) => {
    mentions.push(mention);
    return mention.text;
  });
  return mentions;
}

function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreachable(field: never): never {
  throw new Error(`no such field type: ${JSON.stringify(field)}`);
}
