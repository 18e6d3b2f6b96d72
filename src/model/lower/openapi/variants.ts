import { asObject, type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import type { Kind, Variant, Variants } from '../../declare/kind.ts';
import { named } from './operation.ts';

/** Purpose of a schema. Answers contain only canonical spellings of keys, and all required members. */
type Use = 'answer' | 'request';

type Named = readonly [name: string, schema: JsonObject];

/**
 * Returns the schemas of a kind's body. With variants, that is a union with one schema per value of the discriminating
 * member, so that generated clients know from the value what the object contains.
 */
export function describedVariants(kind: Kind, name: string, schema: JsonObject, use: Use): readonly Named[] {
  const { variants } = kind;
  if (variants === undefined) return [[name, schema]];
  const alternatives = Object.entries(variants.of).map(
    ([word, variant]) =>
      [word, `${titleOf(word)}${name}`, variantSchema(kind, variants, { word, variant, schema, use })] as const,
  );
  const mapping = Object.fromEntries(alternatives.map(([word, own]) => [word, `#/components/schemas/${own}`]));
  const union = {
    description: kind.doc,
    oneOf: alternatives.map(([, own]) => named(own)),
    discriminator: { propertyName: variants.by, mapping },
  };
  return [[name, union], ...alternatives.map(([, own, described]): Named => [own, described])];
}

/** Converts `generic_http` to `GenericHttp`. */
function titleOf(word: string): string {
  return word
    .split('_')
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('');
}

interface Described {
  readonly word: string;
  readonly variant: Variant;
  readonly schema: JsonObject;
  readonly use: Use;
}

function variantSchema(kind: Kind, { by, member }: Variants, { word, variant, schema, use }: Described): JsonObject {
  const properties = membersOf(schema['properties']);
  const enumeration = asObject(properties[by] ?? {});
  return {
    ...schema,
    description: `A ${kind.name} whose \`${by}\` is \`${word}\`.`,
    properties: {
      ...properties,
      [by]: { ...enumeration, enum: [word] },
      [member]: narrowed(
        asObject(properties[member] ?? {}),
        variant,
        use === 'request' ? spellingsOf(kind, member) : {},
      ),
    },
  };
}

/** Restricts the schema of an object or a map to the members or keys of a variant. */
function narrowed(schema: JsonObject, { required, optional, empty = [] }: Variant, spellings: Spellings): JsonObject {
  const { properties = {}, additionalProperties, ...rest } = schema;
  const known = membersOf(properties);
  const others = Object.entries(spellings).filter(([, kept]) => [...required, ...optional].includes(kept));
  const schemaOf = (name: string): Json => known[name] ?? additionalProperties ?? {};
  const names = [...required, ...optional, ...others.map(([spelling]) => spelling)];
  // A key with another spelling is not required, because either spelling may be given.
  const needed = required.filter((name) => !others.some(([, kept]) => kept === name));
  return {
    ...rest,
    properties: {
      ...Object.fromEntries(names.map((name) => [name, schemaOf(name)])),
      ...Object.fromEntries(empty.map((name) => [name, emptied(asObject(schemaOf(name)))])),
    },
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

function emptied(schema: JsonObject): JsonObject {
  return { ...schema, ...(schema['type'] === 'array' ? { maxItems: 0 } : { maxProperties: 0 }) };
}

/** Alternative spellings of keys, each with its canonical spelling. */
type Spellings = Readonly<Record<string, string>>;

function spellingsOf({ spec }: Kind, member: string): Spellings {
  const field = spec[member];
  return field?.type === 'map' ? (field.otherSpellings ?? {}) : {};
}
