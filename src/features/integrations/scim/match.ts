import { asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { AttributePath, ComparisonOperator, Filter, Literal } from './filter.ts';
import { badRequest } from './refusal.ts';
import { type Attribute, attributeOf, isIgnored, type ResourceType, subAttributeOf } from './schema.ts';

/** Checks that a filter is valid for a type of resources. Throws `invalidFilter`. */
export function checkFilter(type: ResourceType, filter: Filter): void {
  eachPath(filter, (path, op) => {
    const attribute = lookUp(type, path);
    if (attribute?.type === 'boolean' && op !== undefined && ['gt', 'ge', 'lt', 'le', 'co', 'sw', 'ew'].includes(op))
      throw badRequest('invalidFilter', `\`${attribute.name}\` is true or false: compare it with eq or ne`);
  });
}

function eachPath(filter: Filter, visit: (path: AttributePath, op?: ComparisonOperator) => void): void {
  switch (filter.op) {
    case 'and':
    case 'or':
      for (const part of filter.filters) eachPath(part, visit);
      return;
    case 'not':
      eachPath(filter.filter, visit);
      return;
    case 'values': {
      const { path } = filter;
      eachPath(filter.filter, ({ name }, op) => visit({ ...path, sub: name }, op));
      return;
    }
    case 'present':
      visit(filter.path);
      return;
    default:
      visit(filter.path, filter.op);
  }
}

/** Returns the names of the attributes that a filter uses. */
export function attributesIn(type: ResourceType, filter: Filter): ReadonlySet<string> {
  const names = new Set<string>();
  eachPath(filter, ({ name }) => {
    const attribute = attributeOf(type, name);
    if (attribute !== undefined) names.add(attribute.name);
  });
  return names;
}

/**
 * Returns the value that an attribute must equal for the filter to match, `undefined` when the filter does not require
 * one value.
 */
export function requiredValueOf(type: ResourceType, filter: Filter, name: string): string | undefined {
  if (filter.op === 'and')
    return filter.filters.map((part) => requiredValueOf(type, part, name)).find((it) => it !== undefined);
  if (filter.op !== 'eq' || filter.path.sub !== undefined || typeof filter.value !== 'string') return undefined;
  return attributeOf(type, filter.path.name)?.name === name ? filter.value : undefined;
}

/**
 * Returns the attribute of a path, `undefined` for an attribute that the server does not store. Throws `invalidFilter`
 * for an unknown attribute.
 */
function lookUp(type: ResourceType, { schema, name, sub }: AttributePath): Attribute | undefined {
  const isOther = schema !== undefined && schema.toLowerCase() !== type.schema.toLowerCase();
  if (isOther || isIgnored(type, name)) return undefined;
  const attribute = attributeOf(type, name);
  const found = attribute === undefined || sub === undefined ? attribute : subAttributeOf(attribute, sub);
  if (found === undefined)
    throw badRequest(
      'invalidFilter',
      `a ${type.name} has no attribute \`${sub === undefined ? name : `${name}.${sub}`}\``,
    );
  return found;
}

/** Returns whether a resource matches a filter, which `checkFilter` has accepted. */
export function matches(type: ResourceType, filter: Filter, resource: JsonObject): boolean {
  return evaluateFilter(filter, (path) => {
    const attribute = attributeOf(type, path.name);
    if (attribute === undefined || isIgnored(type, path.name)) return { values: [] };
    return { attribute, values: valuesIn(resource[attribute.name]) };
  });
}

/** Returns whether one value of a multi-valued attribute matches a filter on its sub-attributes. */
export function valueMatches(attribute: Attribute, filter: Filter, value: Json): boolean {
  return evaluateFilter(filter, ({ name }) => {
    const sub = subAttributeOf(attribute, name);
    return sub === undefined ? { values: [] } : { attribute: sub, values: valuesIn(asObjectOrEmpty(value)[sub.name]) };
  });
}

interface AttributeValues {
  readonly attribute?: Attribute;
  readonly values: readonly Json[];
}

function evaluateFilter(filter: Filter, find: (path: AttributePath) => AttributeValues): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((part) => evaluateFilter(part, find));
    case 'or':
      return filter.filters.some((part) => evaluateFilter(part, find));
    case 'not':
      return !evaluateFilter(filter.filter, find);
    case 'values': {
      const { attribute, values } = find(filter.path);
      return attribute !== undefined && values.some((value) => valueMatches(attribute, filter.filter, value));
    }
    case 'present':
      return isPresent(filter.path, find(filter.path));
    default:
      return evaluateComparison(filter, comparableValues(filter.path, find(filter.path)));
  }
}

/** Returns whether an attribute is present. A complex value is present when any of its sub-attributes is. */
function isPresent(path: AttributePath, found: AttributeValues): boolean {
  const isWhole = found.attribute?.type === 'complex' && path.sub === undefined;
  const { values } = isWhole ? found : comparableValues(path, found);
  return values.some((value) => value !== null && value !== '' && (!isObject(value) || Object.keys(value).length > 0));
}

/**
 * Returns the values to compare. For complex values, these are the values of the named sub-attribute, by default
 * `value`.
 */
function comparableValues({ sub }: AttributePath, { attribute, values }: AttributeValues): AttributeValues {
  if (attribute?.type !== 'complex') return { ...(attribute && { attribute }), values };
  const inner = subAttributeOf(attribute, sub ?? 'value');
  if (inner === undefined) return { values: [] };
  return { attribute: inner, values: values.flatMap((value) => valuesIn(asObjectOrEmpty(value)[inner.name])) };
}

function evaluateComparison(
  { op, value }: { readonly op: ComparisonOperator; readonly value: Literal },
  { attribute, values }: AttributeValues,
): boolean {
  if (value === null) return op === 'eq' ? values.length === 0 : op === 'ne' && values.length > 0;
  const expected = comparable(value, attribute);
  const test = (one: Json) => comparators[op](comparable(one, attribute), expected);
  return op === 'ne' ? !values.some((one) => comparable(one, attribute) === expected) : values.some(test);
}

type Comparable = string | number | boolean;

function comparable(value: Json, attribute: Attribute | undefined): Comparable {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Some providers write true and false in quotes.
  if (attribute?.type === 'boolean') return /^true$/i.test(text);
  if (attribute?.type === 'dateTime') return Date.parse(text);
  return attribute?.caseExact === true ? text : text.toLowerCase();
}

const comparators: Readonly<Record<ComparisonOperator, (one: Comparable, expected: Comparable) => boolean>> = {
  eq: (one, expected) => one === expected,
  ne: (one, expected) => one !== expected,
  co: (one, expected) => String(one).includes(String(expected)),
  sw: (one, expected) => String(one).startsWith(String(expected)),
  ew: (one, expected) => String(one).endsWith(String(expected)),
  gt: (one, expected) => one > expected,
  ge: (one, expected) => one >= expected,
  lt: (one, expected) => one < expected,
  le: (one, expected) => one <= expected,
};

/** Returns the value by which a resource is sorted. Of several values, this is the primary one, else the first. */
export function sortValueOf(type: ResourceType, path: AttributePath, resource: JsonObject): Comparable | undefined {
  const attribute = attributeOf(type, path.name);
  if (attribute === undefined) return undefined;
  const values = valuesIn(resource[attribute.name]);
  const primary = values.find((value) => isObject(value) && value['primary'] === true) ?? values[0];
  if (primary === undefined) return undefined;
  const { attribute: inner, values: found } = comparableValues(path, { attribute, values: [primary] });
  const [first] = found;
  return first === undefined || first === null ? undefined : comparable(first, inner);
}

/** Returns the values of an attribute as a list: none, one, or all items of a list. */
export function valuesIn(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
