import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';

const texts = ['alpha', 'beta', 'Größe', 'two words', 'x.y'];
const ids = ['id1', 'id2', 'id3', 'id4'];

const formatted: Readonly<Record<string, readonly string[]>> = {
  address: ['192.0.2.1', '2001:DB8:0::2'],
  cidr: ['10.0.0.0/8', '192.0.2.0/24', '2001:DB8::/32', '10.0.0.1/8'],
  domain: ['example.com', 'Example.ORG.', 'bücher.example', '-bad-'],
  email: ['Ana@Example.com', ' ben@example.com '],
  ipv4: ['192.0.2.1', '192.0.2.2'],
  ipv6: ['2001:db8::1', '2001:DB8:0::2'],
  port: ['22', '80', '443', '8080', '080'],
  record_name: ['www.example.com', '*.Example.com', '_sip.example.com'],
  version: ['latest', 'disabled', '1.2.3'],
};

/** Generates specs of a valid shape. Their scalar values need not be canonical, and a few are invalid. */
export function specs(fields: Fields): fc.Arbitrary<JsonObject> {
  const members = Object.fromEntries(entriesOf(fields).map(([name, field]) => [name, valuesOf(field)]));
  const required = entriesOf(fields).flatMap(([name, field]) => (field.required === true ? [name] : []));
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

function valuesOf(field: AnyField): fc.Arbitrary<Json> {
  switch (field.type) {
    case 'string':
      return fc.constantFrom(...(formatted[field.format?.name ?? ''] ?? texts));
    case 'integer':
      return fc.integer({ min: field.minimum ?? 0, max: Math.min(field.maximum ?? 1000, 100_000) });
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...field.values);
    case 'ref':
    case 'refByType':
      return fc.constantFrom(...ids);
    case 'refs':
    case 'members':
      return fc.subarray(ids);
    case 'typedRef':
      return fc.record(
        { id: fc.constantFrom(...ids), type: fc.constantFrom(...Object.keys(field.kinds)) },
        { noNullPrototype: true },
      );
    case 'secret':
      return fc.constantFrom('sealed:k:YQ==', 'sealed:k:Yg==');
    case 'map':
    case 'refMap':
      return fc.dictionary(fc.constantFrom(...ids), valuesOf(field.of), { noNullPrototype: true });
    case 'list':
      return fc.array(valuesOf(field.of), { maxLength: 4 });
    case 'keyed':
      return fc.uniqueArray(specs(field.fields), { maxLength: 4, selector: (entry) => String(entry[field.key]) });
    case 'json':
      return fc.constant({});
    case 'object':
      return specs(field.fields);
  }
}

/** Returns an equivalent spec: in another order, with repeated items where repeats have no meaning. */
export function rewritten(fields: Fields, spec: JsonObject): JsonObject {
  const reversed = Object.entries(spec).reverse();
  return Object.fromEntries(reversed.map(([name, value]) => [name, rewrittenValue(fields[name] as AnyField, value)]));
}

function rewrittenValue(field: AnyField, value: Json): Json {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  switch (field.type) {
    case 'refs':
    case 'members':
      return [...items, ...items].reverse();
    case 'list':
      return field.set ? [...items, ...items].reverse() : value;
    case 'keyed':
      return items.map((entry) => rewritten(field.fields, entry as JsonObject)).reverse();
    case 'object':
      return rewritten(field.fields, value as JsonObject);
    default:
      return value;
  }
}
