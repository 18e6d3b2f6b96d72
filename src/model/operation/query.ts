import type { Json, JsonObject } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import type { AnyField, Fields } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';

/** Query parameters, read by their fields, and their faults. */
export interface ParsedQuery {
  readonly query: JsonObject;
  readonly faults: readonly Fault[];
}

/** Reads query parameters. An empty value counts as absent. Unknown names are left to the caller. */
export function readQuery(fields: Fields, given: Readonly<Record<string, unknown>>): ParsedQuery {
  const query: Record<string, Json> = {};
  const faults: Fault[] = [];
  for (const [name, field] of entriesOf(fields)) {
    const text = given[name];
    const read = typeof text === 'string' && text !== '' ? readText(name, field, text) : { value: field.default };
    if ('fault' in read) faults.push({ code: 'filter_invalid', path: `/${name}`, message: read.fault });
    else if (read.value !== undefined) query[name] = read.value;
    else if (field.required !== false)
      faults.push({ code: 'field_required', path: `/${name}`, message: `\`${name}\` is required; add it` });
  }
  return { query, faults };
}

type ReadResult = { readonly value: Json | undefined } | { readonly fault: string };

function readText(name: string, field: AnyField, text: string): ReadResult {
  switch (field.type) {
    case 'integer': {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, clamp } = field;
      if (value >= minimum && (value <= maximum || clamp === true)) return { value: Math.min(value, maximum) };
      const range = clamp === true ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
      return { fault: `\`${name}\` must be a whole number ${range}` };
    }
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { fault: `\`${name}\` must be true or false` };
    case 'enum':
      return field.values.includes(text)
        ? { value: text }
        : { fault: `\`${name}\` must be one of ${field.values.join(', ')}` };
    case 'string':
      return textOf(name, field, text);
    default:
      throw new Error(`a query has no fields of type ${field.type}`);
  }
}

/** Maximum length of a text in a query, in characters, even when its field allows more. */
const maxTextLength = 1000;

function textOf(name: string, field: Extract<AnyField, { readonly type: 'string' }>, text: string): ReadResult {
  const { format } = field;
  const maxLength = Math.min(field.maxLength ?? maxTextLength, maxTextLength);
  if (text.length > maxLength) return { fault: `\`${name}\` must have at most ${maxLength} characters` };
  // An unescaped plus sign arrives as a space.
  const isTime = format?.jsonFormat === 'date-time';
  const read = format?.canonical(isTime ? text.replace(/ (?=\d\d:?\d\d$)/, '+') : text) ?? { value: text };
  return 'fault' in read ? { fault: `\`${name}\`: ${read.fault}` } : read;
}
