import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Described } from './described.ts';

/** Ids of the objects that the scene has created so far. */
export interface Known {
  readonly document: JsonObject;
  /** Ids by the path of their collection. */
  readonly inPaths: Map<string, string>;
  /** Ids by kind. */
  readonly byKind: Map<string, string>;
}

/** Returns an empty `Known`. */
export function createKnown(document: JsonObject): Known {
  return { document, inPaths: new Map(), byKind: new Map() };
}

/**
 * Returns values for the parameters of a path: known ids, otherwise examples from the document. Returns `undefined`
 * when a parameter has neither.
 */
export function pathParametersOf(known: Known, { path }: Described): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = {};
  for (const { index, 1: name = '' } of path.matchAll(/\{(\w+)\}/g)) {
    const id = known.inPaths.get(path.slice(0, index - 1)) ?? exampleOf(known.document, path, name);
    if (id === undefined) return undefined;
    parameters[name] = id;
  }
  return parameters;
}

/**
 * Returns an example with real ids where the schema has `x-ref`. Returns `undefined` when one of these ids is not known
 * yet.
 */
export function withIds(known: Known, schema: JsonObject, value: Json, extra: JsonObject = {}): Json | undefined {
  const found = resolved(known.document, schema);
  const kinds = found['x-ref'];
  if (typeof value === 'string') return typeof kinds === 'string' ? idOf(known, kinds, extra) : value;
  if (Array.isArray(value)) {
    const items = typeof kinds === 'string' ? { 'x-ref': kinds } : (asObject(found['items']) ?? {});
    return whole(value.map((item) => withIds(known, items, item)));
  }
  if (!isObject(value)) return value;
  const object = value as JsonObject;
  const schemaOf = (name: string) =>
    asObject(asObject(found['properties'])?.[name]) ?? asObject(found['additionalProperties']) ?? {};
  const members = Object.entries(object).map(
    ([name, item]) =>
      [
        typeof kinds === 'string' ? idOf(known, kinds, {}) : name,
        withIds(known, schemaOf(name), item, object),
      ] as const,
  );
  return whole(members.flat()) === undefined ? undefined : (Object.fromEntries(members) as JsonObject);
}

/**
 * Returns a known id of a kind. When a reference allows two kinds, the member `type` or `target_type` next to it
 * selects one.
 */
function idOf({ byKind }: Known, kinds: string, extra: JsonObject): string | undefined {
  const [first = '', second = first] = kinds.split(' or ');
  const type = extra['type'] ?? extra['target_type'];
  return byKind.get(type === 'peer' ? first : second);
}

export function resolved(document: JsonObject, schema: JsonObject): JsonObject {
  const target = schema['$ref'];
  if (typeof target !== 'string') return schema;
  const names = target.slice(2).split('/');
  return names.reduce<JsonObject>((inner, name) => asObject(inner[name]) ?? {}, document);
}

function exampleOf(document: JsonObject, path: string, name: string): string | undefined {
  const item = asObject(asObject(document['paths'])?.[path]);
  const parameters = (item?.['parameters'] ?? []) as readonly JsonObject[];
  const example = parameters.find((parameter) => parameter['name'] === name)?.['example'];
  return typeof example === 'string' ? example : undefined;
}

function whole(values: readonly (Json | undefined)[]): Json | undefined {
  return values.includes(undefined) ? undefined : (values as readonly Json[]);
}

/** Returns the value if it is an object, otherwise `undefined`. */
export function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}
