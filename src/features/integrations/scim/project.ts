import { isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { type AttributePath, parsePath } from './filter.ts';
import { badRequest, ScimRefusal } from './refusal.ts';
import { attributeOf, type ResourceType, subAttributeOf } from './schema.ts';

/** Selection of the attributes that an answer contains. */
export interface Projection {
  /** Only these attributes, and the attributes that are always returned. */
  readonly attributes?: readonly AttributePath[];
  /** All attributes except these. */
  readonly excluded?: readonly AttributePath[];
}

const maxAttributes = 100;

/** Reads lists of attributes, separated by commas as in a query. Throws when both lists are given. */
export function readProjection(attributes: Json | undefined, excluded: Json | undefined): Projection {
  const [only, but] = [pathsOf(attributes), pathsOf(excluded)];
  if (only !== undefined && but !== undefined)
    throw badRequest('invalidValue', 'give either `attributes` or `excludedAttributes`, not both');
  return { ...(only === undefined ? {} : { attributes: only }), ...(but === undefined ? {} : { excluded: but }) };
}

function pathsOf(value: Json | undefined): readonly AttributePath[] | undefined {
  const names = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const texts = names.flatMap((name: Json) => (typeof name === 'string' && name.trim() !== '' ? [name.trim()] : []));
  if (texts.length > maxAttributes)
    throw new ScimRefusal(400, `more than ${maxAttributes} attributes are named`, { scimType: 'tooMany' });
  return texts.length === 0 ? undefined : texts.map(parsePath);
}

/** Returns whether an answer contains an attribute. Other attributes need not be rendered. */
export function hasAttribute(type: ResourceType, name: string, { attributes, excluded }: Projection): boolean {
  const isNamed = (path: AttributePath) => attributeOf(type, path.name)?.name === name;
  if (attributes !== undefined) return attributes.some(isNamed);
  return !(excluded ?? []).some((path) => path.sub === undefined && isNamed(path));
}

/** Returns the resource with the selected attributes only. */
export function project(type: ResourceType, resource: JsonObject, { attributes, excluded }: Projection): JsonObject {
  if (attributes === undefined && excluded === undefined) return resource;
  return Object.fromEntries(
    Object.entries(resource).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
      const attribute = attributeOf(type, name);
      if (attribute === undefined || attribute.returned === 'always') return [[name, value]];
      const paths = (attributes ?? excluded ?? []).filter((path) => attributeOf(type, path.name) === attribute);
      const isWhole = paths.some(({ sub }) => sub === undefined);
      if (attributes !== undefined ? paths.length === 0 : isWhole) return [];
      if (paths.length === 0 || isWhole) return [[name, value]];
      const subs = new Set(paths.flatMap(({ sub = '' }) => subAttributeOf(attribute, sub)?.name ?? []));
      return [[name, keep(value, (sub) => subs.has(sub) === (attributes !== undefined))]];
    }),
  );
}

function keep(value: Json, isKept: (name: string) => boolean): Json {
  if (Array.isArray(value)) return value.map((item: Json) => keep(item, isKept));
  if (!isObject(value)) return value;
  // The members of a JSON object are JSON.
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => isKept(name)));
}
