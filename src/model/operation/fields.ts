import type { Json } from '../../lib/json.ts';
import { passwordFault, passwordLength } from '../../lib/new-password.ts';
import { named } from '../lower/openapi/operation.ts';
import {
  type AnyField,
  entriesOf,
  type Field,
  type FieldOptions,
  type Fields,
  type Format,
  integer,
  isEmpty,
  json,
  longest,
  type Optional,
  string,
} from '../schema/field.ts';

/** The field as one that may be absent: the fields of operations are required unless they say otherwise. */
export function optional<T>(field: Field<T>): Field<T> & Optional {
  const { default: _, ...rest } = field;
  // Without its default it is the same field; TypeScript forgets the type of its value with a rest.
  return { ...(rest as Field<T>), required: false };
}

/** A moment, ISO 8601. */
export function time(options: FieldOptions): Field<string> {
  return string({ ...options, format: timestamp });
}

/** A text by which people know something: some characters that can be seen. */
export function label(options: FieldOptions): Field<string> {
  return string({ minLength: 1, maxLength: longest.name, ...options, format: visible });
}

/** A new password. */
export function password(options: FieldOptions): Field<string> {
  const { least: minLength, most: maxLength } = passwordLength;
  return string({ minLength, maxLength, ...options, format: newPassword });
}

/** What answers show of an object of a kind, whose schema is that of the kind. */
export function objectOfKind(kind: string): Field<Json> {
  return json(named(kind), { doc: '' });
}

/** The id of an object of a kind, which must not be empty. */
export function reference(kind: string, options: FieldOptions): Field<string> {
  return { type: 'ref', kind, ...options };
}

/** A value of a report, documented by a field. The feature checks each by itself: what is wrong with one stops no other. */
export function reported(shownAs: AnyField): Field<Json> {
  return json({}, { doc: '', shownAs });
}

/** A text of a body that the feature checks, which has bounds of its own. */
export function text(doc: string): Field<string> {
  return { type: 'string', doc };
}

/** A whole number from 0. */
export function count(options: FieldOptions & { readonly maximum?: number }): Field<number> {
  return integer({ minimum: 0, ...options });
}

/** The field as one that may be `null`. */
export function nullable<T>(field: Field<T>): Field<T | null> {
  const { type, doc } = field;
  if (type !== 'string' && type !== 'integer') throw new Error(`no field of type ${type} may be null`);
  return json<(T & Json) | null>({ type: [type, 'null'] }, { doc });
}

const visible: Format = {
  name: 'name',
  canonical: (text) =>
    text.trim() === '' ? { fault: 'a name needs characters that can be seen; write some' } : { value: text },
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

/** Whether the field has to be there. A list defaults to an empty one. */
export function isRequired({ required, default: fallback }: AnyField): boolean {
  return required ?? (fallback === undefined || (typeof fallback === 'object' && isEmpty(fallback)));
}

/** The fields with what they leave unsaid: which are required. */
export function completed<F extends Fields>(fields: F): F {
  const entries = entriesOf(fields).map(([name, field]) => [name, { ...field, required: isRequired(field) }]);
  // The same fields under the same names.
  return Object.fromEntries(entries) as F;
}
