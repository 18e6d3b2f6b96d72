import { asObject, asObjectOrEmpty, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Kind, Variant, Variants } from '../../declare/kind.ts';
import { schemaReference } from './operation.ts';

type NamedSchema = readonly [name: string, schema: JsonObject];

/**
 * Returns the schemas of a kind's body. With variants, that is a union with one schema per value of the discriminating
 * member, so that generated clients know from the value what the object contains.
 */
export function describedVariants(kind: Kind, name: string, schema: JsonObject): readonly NamedSchema[] {
  const { variants } = kind;
  if (variants === undefined) return [[name, schema]];
  const alternatives = Object.entries(variants.of).map(
    ([word, variant]) =>
      [word, `${titleOf(word)}${name}`, variantSchema(kind, variants, { word, variant, schema })] as const,
  );
  const mapping = Object.fromEntries(alternatives.map(([word, own]) => [word, `#/components/schemas/${own}`]));
  const union = {
    description: kind.doc,
    oneOf: alternatives.map(([, own]) => schemaReference(own)),
    discriminator: { propertyName: variants.by, mapping },
  };
  return [[name, union], ...alternatives.map(([, own, described]): NamedSchema => [own, described])];
}

/** Converts `generic_http` to `GenericHttp`. */
function titleOf(word: string): string {
  return word
    .split('_')
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('');
}

interface VariantInput {
  readonly word: string;
  readonly variant: Variant;
  readonly schema: JsonObject;
}

function variantSchema(kind: Kind, { by, member }: Variants, { word, variant, schema }: VariantInput): JsonObject {
  const properties = asObjectOrEmpty(schema['properties']);
  const enumeration = asObject(properties[by] ?? {});
  return {
    ...schema,
    description: `A ${kind.name} whose \`${by}\` is \`${word}\`.`,
    properties: {
      ...properties,
      [by]: { ...enumeration, enum: [word] },
      [member]: narrowToVariant(asObject(properties[member] ?? {}), variant, keyAliasesOf(kind, member)),
    },
  };
}

/** Restricts the schema of an object or a map to the members or keys of a variant. */
function narrowToVariant(
  schema: JsonObject,
  { required, optional, empty = [] }: Variant,
  spellings: KeyAliases,
): JsonObject {
  const { properties = {}, additionalProperties, ...rest } = schema;
  const known = asObjectOrEmpty(properties);
  const others = Object.entries(spellings).filter(([, kept]) => [...required, ...optional].includes(kept));
  const schemaOf = (name: string): Json => known[name] ?? additionalProperties ?? {};
  const names = [...required, ...optional, ...others.map(([spelling]) => spelling)];
  // A key with another spelling is not required, because either spelling may be given.
  const needed = required.filter((name) => !others.some(([, kept]) => kept === name));
  return {
    ...rest,
    properties: {
      ...Object.fromEntries(names.map((name) => [name, schemaOf(name)])),
      ...Object.fromEntries(empty.map((name) => [name, restrictToEmpty(asObject(schemaOf(name)))])),
    },
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

function restrictToEmpty(schema: JsonObject): JsonObject {
  return { ...schema, ...(schema['type'] === 'array' ? { maxItems: 0 } : { maxProperties: 0 }) };
}

/** Alternative spellings of keys, each with its canonical spelling. */
type KeyAliases = Readonly<Record<string, string>>;

function keyAliasesOf({ spec }: Kind, member: string): KeyAliases {
  const field = spec[member];
  return field?.type === 'map' ? (field.keyAliases ?? {}) : {};
}
