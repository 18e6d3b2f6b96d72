import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { canonicalStated, type Normalized } from '../../src/model/schema/normalize.ts';
import { authority } from '../setup/certificates.ts';

/** Texts that are not in the canonical spelling of a format or an enumeration. */
export const otherSpellings: readonly string[] = [
  ...['2001:DB8::/32', '2001:DB8:0::2', '10.20.0.10'],
  ...['Example.ORG', 'example.org.', 'bücher.example', '*.Example.com', '_Sip.example.com', 'Bücher.example'],
  ...['2m', '120s', '1500ms'],
  ...['de', 'Ana@Example.COM', ' ana@example.com '],
  authority.replaceAll('\n', '\r\n').trimEnd(),
];

/** Formats that store every text as written. A format that is not listed here needs a text in `otherSpellings`. */
export const verbatimFormats: readonly string[] = [
  'base64',
  'event_type',
  'headers',
  'ipv4',
  'path',
  'port',
  'url',
  'version',
];

/** A text that is stored in another spelling, and the normalized spec that contains it. */
export interface Respelled {
  /** Path of the member, with `*` for an item of a list or a map. */
  readonly member: string;
  readonly text: string;
  readonly field: AnyField;
  /** Name of the top-level member that contains the text. `value` is its value. */
  readonly name: string;
  readonly value: Json;
  readonly normalized: Normalized;
}

/** Returns every member of a kind combined with every text that normalization stores in another spelling. */
export function respelledTexts(kind: Kind): readonly Respelled[] {
  return basesOf(kind).flatMap((base) =>
    entriesOf(kind.spec).flatMap(([name, field]) =>
      otherSpellings.flatMap((text) =>
        valuesWith(field, text, name).flatMap((found) => {
          const normalized = canonicalStated(kind, { ...base, [name]: found.value });
          const isSame = normalized.faults.length > 0 || contains(normalized.spec[name], text);
          return isSame ? [] : [{ ...found, text, name, normalized }];
        }),
      ),
    ),
  );
}

/** Returns whether a value contains a text as a complete string. */
export function contains(value: Json | undefined, text: string): boolean {
  return JSON.stringify(value ?? null).includes(JSON.stringify(text));
}

/**
 * Returns the example of a kind once for each value of its enumerations, because the format of a text may depend on
 * them.
 */
function basesOf(kind: Kind): readonly JsonObject[] {
  const words = entriesOf(kind.spec).flatMap(([name, field]) =>
    field.type === 'enum' ? field.values.map((word) => ({ ...kind.example, [name]: word })) : [],
  );
  return words.length === 0 ? [kind.example] : words;
}

type Found = Pick<Respelled, 'member' | 'field' | 'value'>;

/** Returns values of a field, each with the text in one part of it. */
function valuesWith(field: AnyField, text: string, member: string): readonly Found[] {
  const within = (fields: Fields, prefix: string): readonly Found[] =>
    entriesOf(fields).flatMap(([name, inner]) =>
      valuesWith(inner, text, `${prefix}/${name}`).map((found) => ({ ...found, value: { [name]: found.value } })),
    );
  switch (field.type) {
    case 'string':
      return [{ member, field, value: text }];
    case 'list':
      return valuesWith(field.of, text, `${member}/*`).map((found) => ({ ...found, value: [found.value] }));
    case 'map':
      return valuesWith(field.of, text, `${member}/*`).map((found) => ({ ...found, value: { key: found.value } }));
    case 'object':
      return within(field.fields, member);
    case 'keyed':
      return within(field.fields, `${member}/*`).map((found) => ({
        ...found,
        value: [{ [field.key]: 'key', ...(found.value as JsonObject) }],
      }));
    default:
      return [];
  }
}

/** Returns the names of the formats of all fields, including fields in objects, maps and lists. */
export function formatsIn(fields: Fields): readonly string[] {
  return entriesOf(fields).flatMap(([, field]) => formatsOf(field));
}

function formatsOf(field: AnyField): readonly string[] {
  if (field.type === 'string' || field.type === 'secret') return field.format === undefined ? [] : [field.format.name];
  if (field.type === 'object' || field.type === 'keyed') return formatsIn(field.fields);
  if (field.type === 'map') return [field.of, ...Object.values(field.secrets ?? {})].flatMap(formatsOf);
  return field.type === 'list' ? formatsOf(field.of) : [];
}
