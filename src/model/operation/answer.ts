import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { AnyField } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { isRequired } from './fields.ts';

/**
 * Checks an answer against its declaration. Returns the JSON pointer of the first mismatch, or `undefined`. Undeclared
 * members are ignored, because later releases may add members.
 */
export function findMismatch(field: AnyField, value: unknown, at = ''): string | undefined {
  switch (field.type) {
    case 'string':
    case 'secret':
    case 'ref':
      return typeof value === 'string' ? undefined : at;
    case 'integer':
      return Number.isInteger(value) ? undefined : at;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : at;
    case 'enum':
      return typeof value === 'string' && field.values.includes(value) ? undefined : at;
    case 'json':
      return fitsType(field.schema, value) ? undefined : at;
    case 'list':
      return findItemMismatch(field.of, value, at);
    case 'refs':
      return findItemMismatch({ type: 'ref', kind: field.kind, doc: '' }, value, at);
    case 'map':
      return isObject(value)
        ? firstResult(
            Object.entries(value).map(
              ([name, item]) =>
                () =>
                  findMismatch(field.of, item, `${at}/${name}`),
            ),
          )
        : at;
    case 'object':
      return isObject(value) ? findMemberMismatch(field, value as JsonObject, at) : at;
    default:
      throw new Error(`fields of type ${field.type} are allowed only in kinds`);
  }
}

function findItemMismatch(field: AnyField, value: unknown, at: string): string | undefined {
  if (!Array.isArray(value)) return at;
  return firstResult(value.map((item: unknown, index) => () => findMismatch(field, item, `${at}/${index}`)));
}

function findMemberMismatch(
  { fields }: Extract<AnyField, { readonly type: 'object' }>,
  value: JsonObject,
  at: string,
): string | undefined {
  return firstResult(
    entriesOf(fields).map(([name, field]) => () => {
      const member = value[name];
      if (member === undefined) return isRequired(field) ? `${at}/${name}` : undefined;
      return findMismatch(field, member, `${at}/${name}`);
    }),
  );
}

function firstResult(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks a value by the `type` of a schema only. A schema without `type` accepts any JSON value. */
function fitsType({ type }: JsonObject, value: unknown): boolean {
  if (type === undefined) return value !== undefined;
  const words: readonly Json[] = Array.isArray(type) ? type : [type];
  return words.includes(typeOf(value)) || (words.includes('number') && typeof value === 'number');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
