import { appendPointer, equalJson, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Fault } from '../declare/kind.ts';
import { isFarTooLong } from './entries.ts';
import { type AnyField, type Fields, isEmpty } from './field.ts';
import { foreignFieldNames } from './validation/foreign-names.ts';
import { readPointer } from './validation/schema-path.ts';
import { mostAllowed, noStoredValues, type StoredValues } from './validation/stored-values.ts';

/** A request body ready for validation, and the members that were removed from it. */
export interface Prepared {
  readonly body: JsonObject;
  /** JSON pointers of unknown members, which were removed. */
  readonly ignored: readonly string[];
  /** Paths of unsupported members that were given as off. They were removed too. */
  readonly givenOff: readonly string[];
  readonly faults: readonly Fault[];
}

/**
 * Prepares a request body for validation. Clients send back what they read, so read-only members are removed, summaries
 * become ids and `null` members are removed. Unknown members are removed and listed in `ignored`; inside closed objects
 * they are faults. `stored`: the stored values with which the body will be validated.
 */
export function prepareRequest(
  fields: Fields,
  readOnly: ReadonlySet<string>,
  body: JsonObject,
  stored: StoredValues = noStoredValues,
): Prepared {
  const run: PrepareContext = { ignored: [], givenOff: [], faults: [], stored };
  return {
    body: prepareFields(fields, body, run, { pointer: '', refusesUnknown: false, readOnly }),
    ignored: run.ignored,
    givenOff: run.givenOff,
    faults: run.faults,
  };
}

/** Returns a fault for each ignored member, for callers that refuse unknown members. */
export function unknownFaults({ ignored }: Pick<Prepared, 'ignored'>): readonly Fault[] {
  return ignored.map((path) => ({
    code: 'field_unknown',
    path,
    message: `unknown field \`${path.slice(1)}\`; remove it`,
  }));
}

interface PrepareContext {
  readonly ignored: string[];
  readonly givenOff: string[];
  readonly faults: Fault[];
  readonly stored: StoredValues;
}

/**
 * Maximum number of unknown members that are reported. A body of 1 MB may contain a hundred thousand, and an answer has
 * room for fewer than 1000.
 */
const maxReportedUnknown = 1000;

interface Scope {
  readonly pointer: string;
  readonly refusesUnknown: boolean;
  readonly readOnly: ReadonlySet<string>;
  readonly unsupported?: AnyField['unsupported'];
}

function prepareFields(fields: Fields, body: JsonObject, run: PrepareContext, scope: Scope): JsonObject {
  const result: Record<string, Json> = {};
  for (const name of Object.keys(body)) {
    // `name` is an own member of `body`, so the value is never `undefined`.
    const value = body[name] as Json;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) reportUnknown(fields, name, value, run, scope);
    else if (isSwitchedOff(field, body) && !isEmptyList(value)) continue;
    else if (value !== null && !isBlankReference(field, value))
      result[name] = prepareValue(field, value, run, { ...scope, pointer: appendPointer(scope.pointer, name) });
    else if (field.required === true && isList(field) && field.missingHint === undefined) result[name] = [];
  }
  return result;
}

/** Whether a member has no meaning because its sibling switch is off. */
function isSwitchedOff({ enabledBy }: AnyField, body: JsonObject): boolean {
  return enabledBy !== undefined && body[enabledBy] !== true;
}

/** An empty list means the same with the switch on or off, so it is kept. */
function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function reportUnknown(fields: Fields, name: string, value: Json, run: PrepareContext, scope: Scope): void {
  // One fault above the limit is recorded; it shows that there are more.
  if (scope.readOnly.has(name) || run.faults.length > maxReportedUnknown) return;
  const pointer = () => appendPointer(scope.pointer, name);
  const lacking = Object.hasOwn(scope.unsupported ?? {}, name) ? scope.unsupported?.[name] : undefined;
  if (lacking !== undefined) {
    if (value === null) return;
    if (equalJson(value, lacking.value)) run.givenOff.push(pointer().slice(1).replaceAll('/', '.'));
    else run.faults.push(unsupportedFault(name, lacking, pointer()));
    return;
  }
  const current = foreignFieldNames(fields).get(name);
  if (current !== undefined) {
    run.faults.push({
      code: 'field_renamed',
      path: pointer(),
      message: `\`${name}\` is called \`${current}\` here; send \`${current}\``,
    });
  } else if (scope.refusesUnknown) {
    const guess = nearest(name, Object.keys(fields));
    const hint = guess === undefined ? `known are ${Object.keys(fields).join(', ')}` : `did you mean \`${guess}\`?`;
    run.faults.push({ code: 'field_unknown', path: pointer(), message: `unknown field \`${name}\`; ${hint}` });
  } else if (run.ignored.length <= maxReportedUnknown) {
    run.ignored.push(pointer());
  }
}

function unsupportedFault(
  name: string,
  { value, hint }: NonNullable<NonNullable<AnyField['unsupported']>[string]>,
  path: string,
): Fault {
  const message = `\`${name}\` is not available here and can only be \`${JSON.stringify(value)}\`; ${hint}`;
  return { code: 'setting_unavailable', path, message };
}

/** Members of a list entry that requests may send back. */
const entryReadOnly: ReadonlySet<string> = new Set(['id']);

/** Whether validation will refuse a list because of its length, so that its entries need not be prepared. */
function isRefusedUnread(field: AnyField, value: Json, stored: StoredValues, pointer: string): boolean {
  if (!('maxItems' in field) || field.maxItems === undefined || !Array.isArray(value)) return false;
  if (!isFarTooLong(value, field.maxItems)) return false;
  return isFarTooLong(value, mostAllowed(field.maxItems, stored, { path: readPointer(pointer), pointer }));
}

/** Closedness applies to everything inside a closed object. */
function prepareValue(
  field: AnyField,
  value: Json,
  run: PrepareContext,
  { pointer, refusesUnknown }: Omit<Scope, 'readOnly'>,
): Json {
  if (isRefusedUnread(field, value, run.stored, pointer)) return value;
  switch (field.type) {
    case 'refs':
    case 'members':
      return Array.isArray(value) ? value.map(idOf) : value;
    case 'ref':
      return idOf(value);
    case 'enum':
      return field.ignoreCase === true && typeof value === 'string' ? value.toLowerCase() : value;
    case 'object':
      return isObject(value)
        ? prepareFields(field.fields, value, run, {
            pointer,
            refusesUnknown: refusesUnknown || field.refusesUnknown === true,
            readOnly: new Set(Object.keys(field.readOnly ?? {})),
            unsupported: field.unsupported,
          })
        : value;
    case 'keyed':
      return Array.isArray(value)
        ? value.map((item, at) => {
            if (!isObject(item)) return item;
            const entry = prepareFields(field.fields, item as JsonObject, run, {
              pointer: `${pointer}/${at}`,
              refusesUnknown,
              readOnly: entryReadOnly,
            });
            const id = (item as JsonObject)['id'];
            return field.ids && !isEmpty(id) ? { id: id as Json, ...entry } : entry;
          })
        : value;
    case 'list':
      return Array.isArray(value)
        ? value.map((item, at) => prepareValue(field.of, item, run, { pointer: `${pointer}/${at}`, refusesUnknown }))
        : value;
    default:
      return value;
  }
}

/** Some clients send `{id: "", type: ""}` for no reference. */
function isBlankReference(field: AnyField, value: Json): boolean {
  return field.type === 'typedRef' && isObject(value) && isEmpty(value['id']) && isEmpty(value['type']);
}

/** A summary that is sent back is reduced to its id. */
function idOf(value: Json): Json {
  return isObject(value) && typeof value['id'] === 'string' ? value['id'] : value;
}

function isList(field: AnyField): boolean {
  return ['list', 'refs', 'members', 'keyed'].includes(field.type);
}
