import type { Json } from '../../lib/json.ts';
import { passwordFault, passwordLength } from '../../lib/new-password.ts';
import { schemaReference } from '../lower/openapi/operation.ts';
import {
  type AnyField,
  type Field,
  type FieldOptions,
  type Fields,
  integer,
  isEmpty,
  json,
  maxLengths,
  type Optional,
  string,
} from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import type { Format } from '../schema/format.ts';

/** Makes a field optional. Fields of operations are required by default. */
export function optional<T>(field: Field<T>): Field<T> & Optional {
  const { default: _, ...rest } = field;
  // Only `default` is removed, but TypeScript loses the value type in the rest pattern.
  return { ...(rest as Field<T>), required: false };
}

/** Declares a time, in ISO 8601. */
export function time(options: FieldOptions): Field<string> {
  return string({ ...options, format: timestamp });
}

/** Declares a name that users choose. It must contain visible characters. */
export function label(options: FieldOptions): Field<string> {
  return string({ minLength: 1, maxLength: maxLengths.name, ...options, format: visibleText });
}

/** Declares a new password. Its format refuses common passwords. */
export function password(options: FieldOptions): Field<string> {
  const { least: minLength, most: maxLength } = passwordLength;
  return string({ minLength, maxLength, ...options, format: newPassword });
}

/** Declares an object of a kind in an answer, with the kind's schema. */
export function objectOfKind(kind: string): Field<Json> {
  return json(schemaReference(kind), { doc: '' });
}

/** Declares the non-empty id of an object of a kind. */
export function reference(kind: string, options: FieldOptions): Field<string> {
  return { type: 'ref', kind, ...options };
}

/**
 * Declares a value of a report, documented by a field. The feature checks each value separately, so that a fault in one
 * does not stop the others.
 */
export function reported(shownAs: AnyField): Field<Json> {
  return json({}, { doc: '', shownAs });
}

/** Declares a text without bounds, which the feature checks itself. */
export function text(doc: string): Field<string> {
  return { type: 'string', doc };
}

/** Declares a non-negative integer. */
export function count(options: FieldOptions & { readonly maximum?: number }): Field<number> {
  return integer({ minimum: 0, ...options });
}

/** Allows `null` in a field. Throws unless the field is a string or an integer. */
export function nullable<T>(field: Field<T>): Field<T | null> {
  const { type, doc } = field;
  if (type !== 'string' && type !== 'integer') throw new Error(`no field of type ${type} may be null`);
  return json<(T & Json) | null>({ type: [type, 'null'] }, { doc });
}

const visibleText: Format = {
  name: 'name',
  canonical: (text) =>
    text.trim() === '' ? { fault: 'a name needs visible characters; write some' } : { value: text },
};

const newPassword: Format = {
  name: 'password',
  canonical(text) {
    const fault = passwordFault(text);
    return fault === undefined ? { value: text } : { fault: `the password ${fault}` };
  },
};

const timestamp: Format = {
  name: 'time',
  jsonFormat: 'date-time',
  canonical(text) {
    const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text);
    const time = isTime ? new Date(text) : undefined;
    if (time !== undefined && !Number.isNaN(time.getTime())) return { value: time.toISOString() };
    return { fault: 'this is not a time; write a date such as 2026-03-01, or a time such as 2026-03-01T10:00:00Z' };
  },
};

/**
 * Checks whether a field is required. An empty list or object as default does not make it optional, because every list
 * has that default.
 */
export function isRequired({ required, default: fallback }: AnyField): boolean {
  return required ?? (fallback === undefined || (typeof fallback === 'object' && isEmpty(fallback)));
}

/** Returns the fields with `required` filled in. */
export function withRequired<F extends Fields>(fields: F): F {
  const entries = entriesOf(fields).map(([name, field]) => [name, { ...field, required: isRequired(field) }]);
  // The result has the same names and types of fields.
  return Object.fromEntries(entries) as F;
}
