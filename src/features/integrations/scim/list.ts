import { runInSlices } from '../../../commit/slices.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { mapInSteps } from '../../../lib/steps.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { type AttributePath, type Filter, parseFilter, parsePath } from './filter.ts';
import { attributesIn, checkFilter, matches, sortValueOf } from './match.ts';
import { hasAttribute, type Projection, project, readProjection } from './project.ts';
import { badRequest } from './refusal.ts';
import { attributeOf, messageUrns, type ResourceType } from './schema.ts';
import { everything, type ResourceMapping, type View, versionOf, withMeta } from './view.ts';

/** A query for resources, see RFC 7644, section 3.4.2. */
export interface ListQuery {
  readonly filter?: Filter;
  readonly sortBy?: AttributePath;
  readonly isDescending: boolean;
  /** Index of the first resource, starting at 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly projection: Projection;
}

/** Number of resources on a page: the default, and the maximum. */
export const pageSize = { usual: 100, most: 500 } as const;

/** Maximum number of members that all groups of a page have together. Groups beyond it are on the next page. */
const maxMembersPerPage = 20_000;

/** Reads the parameters of a query, from a URL or a body. */
export function readListQuery(type: ResourceType, given: JsonObject): ListQuery {
  const text = (name: string) => (typeof given[name] === 'string' ? String(given[name]).trim() : '');
  const filter = text('filter') === '' ? undefined : parseFilter(text('filter'));
  if (filter !== undefined) checkFilter(type, filter);
  const sortBy = text('sortBy') === '' ? undefined : parsePath(text('sortBy'));
  if (sortBy !== undefined && attributeOf(type, sortBy.name) === undefined)
    throw badRequest('invalidPath', `a ${type.name} has no attribute \`${sortBy.name}\` to sort by`);
  const order = text('sortOrder').toLowerCase();
  if (!['', 'ascending', 'descending'].includes(order))
    throw badRequest('invalidValue', '`sortOrder` must be ascending or descending');
  return {
    ...(filter === undefined ? {} : { filter }),
    ...(sortBy === undefined ? {} : { sortBy }),
    isDescending: order === 'descending',
    startIndex: Math.max(1, numberIn(given, 'startIndex', 1)),
    count: Math.min(pageSize.most, Math.max(0, numberIn(given, 'count', pageSize.usual))),
    projection: readProjection(given['attributes'], given['excludedAttributes']),
  };
}

function numberIn(given: JsonObject, name: string, usual: number): number {
  const value: Json | undefined = given[name];
  if (value === undefined || value === null || value === '') return usual;
  if (/^-?\d{1,9}$/.test(String(value))) return Number(value);
  throw badRequest('invalidValue', `\`${name}\` must be a whole number`);
}

/** Returns one page of the resources that match a query. */
export async function listResources<O extends StoredObject>(
  resources: ResourceMapping<O>,
  view: View,
  query: ListQuery,
): Promise<JsonObject> {
  const found = await runInSlices(findInSteps(resources, view, query));
  const page = found.slice(query.startIndex - 1, query.startIndex - 1 + query.count);
  const shown = await runInSlices(renderInSteps(resources, view, page, query.projection));
  return {
    schemas: [messageUrns.list],
    totalResults: found.length,
    startIndex: query.startIndex,
    itemsPerPage: shown.length,
    ...(shown.length === 0 ? {} : { Resources: shown }),
  };
}

function* findInSteps<O extends StoredObject>(
  resources: ResourceMapping<O>,
  view: View,
  { filter, sortBy, isDescending }: ListQuery,
): Generator<undefined, readonly O[]> {
  const { type } = resources;
  let found = (filter && resources.candidates(view, filter)) ?? resources.all(view);
  if (filter !== undefined) {
    const names = attributesIn(type, filter);
    const isIn = (object: O) => {
      const resource = resources.render(view, object, (name) => names.has(name));
      return matches(type, filter, names.has('meta') ? withMeta(view, type, object, resource) : resource);
    };
    found = (yield* mapInSteps(found, (object) => (isIn(object) ? [object] : []))).flat();
  }
  if (sortBy === undefined) return found;
  const needs = (name: string) => name === attributeOf(type, sortBy.name)?.name;
  const keyed = yield* mapInSteps(found, (object) => {
    const resource = withMeta(view, type, object, resources.render(view, object, needs));
    return { object, key: sortValueOf(type, sortBy, resource) };
  });
  const sign = isDescending ? -1 : 1;
  return [...keyed].sort((a, b) => sign * compare(a.key, b.key)).map(({ object }) => object);
}

type Key = ReturnType<typeof sortValueOf>;

/** Compares two sort keys. Resources without a value are last. */
function compare(a: Key, b: Key): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
}

function* renderInSteps<O extends StoredObject>(
  resources: ResourceMapping<O>,
  view: View,
  page: readonly O[],
  projection: Projection,
): Generator<undefined, readonly JsonObject[]> {
  const shown: JsonObject[] = [];
  let members = 0;
  for (const object of page) {
    yield undefined;
    const resource = showResource(resources, view, object, projection);
    const { members: listed } = resource;
    members += Array.isArray(listed) ? listed.length : 0;
    // The next page begins with this group. A single group that is above the limit is shown nevertheless.
    if (members > maxMembersPerPage && shown.length > 0) break;
    shown.push(resource);
  }
  return shown;
}

/** Returns a resource as an answer shows it. */
export function showResource<O extends StoredObject>(
  resources: ResourceMapping<O>,
  view: View,
  object: O,
  projection: Projection,
): JsonObject {
  const { type } = resources;
  const isWhole = projection.attributes === undefined && projection.excluded === undefined;
  const needs = isWhole ? everything : (name: string) => hasAttribute(type, name, projection);
  const resource = resources.render(view, object, needs);
  // The version covers the whole resource. For a partial answer, it is not worth rendering the attributes that are left
  // out.
  const version = isWhole ? versionOf(resource) : undefined;
  return project(type, withMeta(view, type, object, resource, version), projection);
}
