import {
  asObjectOrEmpty,
  asTextOrEmpty,
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
} from '../../../lib/json.ts';
import { nearestAll } from '../../../lib/nearest.ts';
import { type ComparisonBudget, createComparisonBudget, type Filter, type PatchPath, parsePath } from './filter.ts';
import { valueMatches, valuesIn } from './match.ts';
import { checkValueCount, readValue, withOnePrimary } from './read-resource.ts';
import { badRequest } from './refusal.ts';
import { type Attribute, attributeOf, isIgnored, messageUrns, type ResourceType, subAttributeOf } from './schema.ts';

/** One step of a PATCH: an operation on a known attribute, or on some of its values. */
export interface Step {
  readonly op: 'add' | 'replace' | 'remove';
  readonly attribute: Attribute;
  readonly sub?: Attribute;
  readonly filter?: Filter;
  /** Value in the types of the schema. Absent: the operation has no value, which only a removal allows. */
  readonly value?: Json;
}

/** Maximum number of operations of one request. Without `path`, each member of the value counts as one operation. */
const maxOperations = 1000;

/** Parses the steps of a PATCH, in order. Throws for any fault before a step is applied. */
export function readPatch(type: ResourceType, body: JsonObject): readonly Step[] {
  const members = Object.entries(body);
  const find = (name: string) => members.find(([one]) => one.toLowerCase() === name)?.[1];
  const schemas = valuesIn(find('schemas'));
  if (
    schemas.length > 0 &&
    !schemas.some((name) => asTextOrEmpty(name).toLowerCase() === messageUrns.patch.toLowerCase())
  )
    throw badRequest('invalidSyntax', `\`schemas\` must name ${messageUrns.patch}`);
  const operations = find('operations');
  if (!Array.isArray(operations) || operations.length === 0)
    throw badRequest('invalidSyntax', '`Operations` must be a list of at least one operation');
  const count = operations.reduce((sum: number, operation: Json) => sum + countSteps(type, operation), 0);
  if (count > maxOperations)
    throw badRequest('tooMany', `a request can have at most ${maxOperations} operations, and this one has ${count}`);
  return operations.flatMap((operation: Json, at) => readOperation(type, operation, at));
}

/**
 * Returns the maximum number of steps of an operation. Without `path`, each member of its value, and of a schema in the
 * value, is one step.
 */
function countSteps(type: ResourceType, operation: Json): number {
  const value = Object.entries(asObjectOrEmpty(operation)).find(([name]) => name.toLowerCase() === 'value')?.[1];
  return Object.entries(asObjectOrEmpty(value)).reduce(
    (sum, [name, item]) => sum + (isSchemaOf(type, name) ? Object.keys(asObjectOrEmpty(item)).length : 1),
    1,
  );
}

function isSchemaOf(type: ResourceType, name: string): boolean {
  return name.toLowerCase() === type.schema.toLowerCase();
}

function readOperation(type: ResourceType, operation: Json, at: number): readonly Step[] {
  if (!isObject(operation)) throw badRequest('invalidSyntax', `operation ${at + 1} is not an object`);
  const given = new Map(Object.entries(operation as JsonObject).map(([name, value]) => [name.toLowerCase(), value]));
  // Some providers write `Add` and `Replace`.
  const op = asTextOrEmpty(given.get('op')).toLowerCase();
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw badRequest('invalidSyntax', `operation ${at + 1}: \`op\` must be add, replace or remove`);
  const [path, value] = [given.get('path'), given.get('value')];
  if (typeof path === 'string' && path.trim() !== '') return stepsAt(type, op, path, value);
  if (path !== undefined && path !== null && path !== '')
    throw badRequest('invalidPath', `operation ${at + 1}: \`path\` must be a text`);
  if (op === 'remove') throw badRequest('noTarget', `operation ${at + 1}: a removal needs a \`path\``);
  if (!isObject(value))
    throw badRequest(
      'invalidValue',
      `operation ${at + 1}: without \`path\`, \`value\` must be an object of attributes`,
    );
  // Some providers use paths as the names of members. Read-only attributes are skipped, because some providers send
  // whole resources back.
  return Object.entries(value as JsonObject).flatMap(([name, item]) =>
    attributeOf(type, name)?.mutability === 'readOnly' ? [] : stepsAt(type, op, name, item),
  );
}

/**
 * Matches a text without brackets that begins like the URN of a schema: the name of a schema, or of an attribute
 * qualified by its schema.
 */
const schemaUrnPattern = /^urn:[\w.:-]+$/i;

function stepsAt(type: ResourceType, op: Step['op'], text: string, value: Json | undefined): readonly Step[] {
  // The name of a schema alone stands for the attributes in its value. Attributes of extensions are ignored.
  if (schemaUrnPattern.test(text)) {
    const isOurs = isSchemaOf(type, text);
    // Members that are schemas again are skipped, because they could nest without end.
    if (isOurs && isObject(value))
      return Object.entries(value as JsonObject).flatMap(([name, item]) =>
        schemaUrnPattern.test(name) ? [] : stepsAt(type, op, name, item),
      );
    if (isOurs || !text.toLowerCase().startsWith(`${type.schema.toLowerCase()}:`)) return [];
  }
  const path = parsePath(text);
  const isExtension = path.schema !== undefined && path.schema.toLowerCase() !== type.schema.toLowerCase();
  if (isExtension || isIgnored(type, path.name)) return [];
  const attribute = attributeOf(type, path.name);
  if (attribute === undefined) throw badRequest('invalidPath', describeUnknownPath(type, path));
  if (attribute.mutability === 'readOnly')
    throw badRequest('mutability', `\`${attribute.name}\` is set by the server and cannot be changed`);
  const sub = requireSubAttribute(type, attribute, path);
  if (path.filter !== undefined && attribute.multiValued !== true)
    throw badRequest('invalidPath', `\`${attribute.name}\` has a single value and cannot be filtered`);
  const { filter } = path;
  const step = { op, attribute, ...(sub === undefined ? {} : { sub }), ...(filter === undefined ? {} : { filter }) };
  if (op === 'remove') {
    if (attribute.required === true && sub === undefined)
      throw badRequest('mutability', `\`${attribute.name}\` is required and cannot be removed`);
    return [value === undefined || value === null ? step : { ...step, value: readStepValue(step, value) }];
  }
  if (value === undefined) throw badRequest('invalidValue', `\`${text}\` cannot be changed without a \`value\``);
  // The value `null` means the same as a removal.
  if (value === null) return attribute.required === true ? [] : [{ ...step, op: 'remove' }];
  return [{ ...step, value: readStepValue(step, value) }];
}

function readStepValue({ attribute, sub, filter }: Omit<Step, 'value'>, value: Json): Json {
  if (sub !== undefined) return readValue(sub, value, `${attribute.name}.${sub.name}`);
  if (filter === undefined) return readValue(attribute, value, attribute.name);
  return valuesIn(readValue(attribute, value, attribute.name))[0] ?? {};
}

function requireSubAttribute(type: ResourceType, attribute: Attribute, path: PatchPath): Attribute | undefined {
  if (path.sub === undefined) return undefined;
  const sub = subAttributeOf(attribute, path.sub);
  if (sub === undefined) throw badRequest('invalidPath', describeUnknownPath(type, path));
  return sub;
}

function describeUnknownPath(type: ResourceType, { name, sub }: PatchPath): string {
  const known = type.attributes.map((attribute) => attribute.name);
  const [near] = nearestAll(name, known, 1);
  const hint = near === undefined || near === name ? '' : `; did you mean \`${near}\`?`;
  return `a ${type.name} has no attribute \`${sub === undefined ? name : `${name}.${sub}`}\`${hint}`;
}

/** Returns the resource after the steps. Throws `tooMany` as soon as an attribute has more values than allowed. */
export function applySteps(resource: JsonObject, steps: readonly Step[]): JsonObject {
  const comparisons = createComparisonBudget();
  return steps.reduce((result, step) => {
    const { name } = step.attribute;
    return withOnePrimary(withValue(result, name, applyStep(result[name], step, comparisons)));
  }, resource);
}

function withValue(resource: JsonObject, name: string, value: Json | undefined): JsonObject {
  const rest = Object.fromEntries(Object.entries(resource).filter(([one]) => one !== name));
  return value === undefined ? rest : { ...rest, [name]: value };
}

function applyStep(before: Json | undefined, step: Step, comparisons: ComparisonBudget): Json | undefined {
  if (step.attribute.multiValued === true) {
    const values = applyToValues(valuesIn(before), step, comparisons);
    checkValueCount(step.attribute, values.length, step.attribute.name);
    return values.length === 0 ? undefined : values;
  }
  if (step.sub !== undefined) return applyToObject(asObjectOrEmpty(before), step.sub, step);
  if (step.op === 'remove') return undefined;
  return step.attribute.type === 'complex'
    ? { ...asObjectOrEmpty(before), ...asObjectOrEmpty(step.value) }
    : step.value;
}

function applyToObject(before: JsonObject, sub: Attribute, { op, value }: Step): JsonObject | undefined {
  const after = withValue(before, sub.name, op === 'remove' ? undefined : value);
  return Object.keys(after).length === 0 ? undefined : after;
}

function applyToValues(before: readonly Json[], step: Step, comparisons: ComparisonBudget): readonly Json[] {
  const { op, attribute, sub, filter, value } = step;
  if (filter === undefined && sub === undefined) {
    if (op === 'remove') return value === undefined ? [] : withoutValues(before, valuesIn(value));
    const given = valuesIn(value);
    return op === 'replace' ? given : [...withoutValues(before, given), ...given];
  }
  if (filter !== undefined) comparisons.use(filter, before.length);
  const meant = new Set(before.filter((one) => filter === undefined || valueMatches(attribute, filter, one)));
  if (op === 'remove' && sub === undefined) return before.filter((one) => !meant.has(one));
  const change = (one: Json): JsonObject =>
    sub === undefined
      ? { ...asObjectOrEmpty(one), ...asObjectOrEmpty(value) }
      : (applyToObject(asObjectOrEmpty(one), sub, step) ?? {});
  const after = before.map((one) => (meant.has(one) ? change(one) : one));
  if (op === 'remove' || meant.size > 0) return after.filter((one) => Object.keys(asObjectOrEmpty(one)).length > 0);
  // Some providers replace a value that does not exist yet. The new value starts with the sub-attributes that the
  // filter names.
  return [...before, change(seedOf(attribute, filter))];
}

function withoutValues(before: readonly Json[], gone: readonly Json[]): readonly Json[] {
  const keys = new Set(gone.map(keyOf));
  return before.filter((one) => !keys.has(keyOf(one)));
}

/** Returns the key that identifies a value of an attribute: its `value` if present, else the whole value. */
function keyOf(one: Json): string {
  const { value } = asObjectOrEmpty(one);
  return canonicalJson(value === undefined ? { whole: one } : { value });
}

/**
 * Returns the sub-attributes that a filter of `eq` comparisons names, with their values. Throws `noTarget` for any
 * other filter.
 */
function seedOf(attribute: Attribute, filter: Filter | undefined): JsonObject {
  if (filter === undefined) return {};
  if (filter.op === 'and') return Object.assign({}, ...filter.filters.map((part) => seedOf(attribute, part)));
  const sub = filter.op === 'eq' ? subAttributeOf(attribute, filter.path.name) : undefined;
  if (filter.op !== 'eq' || sub === undefined || filter.value === null)
    throw badRequest('noTarget', `no value of \`${attribute.name}\` matches the filter of the path`);
  return { [sub.name]: readValue(sub, filter.value, `${attribute.name}.${sub.name}`) };
}
