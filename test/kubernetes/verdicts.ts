import { Ajv } from 'ajv';
import { asObject, isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import { lowerToCrd } from '../../src/model/lower/crd/crd.ts';
import { otherFormatFaults, otherRuleFaults } from '../../src/model/schema/validation/other-faults.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { documentKinds, registry } from '../model/product.ts';
import { type Mutant, mutate, seededRandom } from './mutate.ts';

const validator = createValidator(registry);

/** Returns the codes of the faults that a document has on its own, without the objects that it refers to. */
export function documentFaults(kind: Kind, spec: JsonObject): readonly string[] {
  const shape = validator.check(kind.name, 'document', spec);
  const faults = [...shape, ...otherFormatFaults(kind.spec, spec, shape)];
  return [...faults, ...otherRuleFaults(kind, spec, faults)].map(({ code }) => code);
}

/** Returns mutants of the examples of all kinds, each changed at one path. The same seed gives the same mutants. */
export function mutantsOf(count: number, seed: number): readonly (Mutant & { readonly kind: Kind })[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, at) => documentKinds[at % documentKinds.length]).flatMap((kind) => {
    const mutant = kind === undefined ? undefined : mutate(asObject(kind.example as Json), random);
    return kind === undefined || mutant === undefined ? [] : [{ kind, ...mutant }];
  });
}

const ajv = new Ajv({ strict: false, allErrors: true });
const compiled = new Map<string, { readonly schema: JsonObject; readonly validate: ReturnType<typeof ajv.compile> }>();

/** Returns the schema of a kind's specs, and its validator. They are made once per kind, because that takes long. */
function validatorOf(kind: Kind) {
  const known = compiled.get(kind.name);
  if (known !== undefined) return known;
  const schema = specSchemaOf(kind);
  const made = { schema, validate: ajv.compile(schema) };
  compiled.set(kind.name, made);
  return made;
}

/**
 * Returns the faults that the API server reports for a resource created with `fieldValidation=Strict`, as far as they
 * follow from the structural schema: unknown fields, types and bounds, patterns, repeated entries. Expressions are not
 * evaluated.
 */
export function structuralFaults(kind: Kind, spec: JsonObject): readonly string[] {
  const { schema, validate } = validatorOf(kind);
  const unknown = unknownMembers(schema, spec, '');
  const known = withoutNulls(schema, spec);
  const faults = validate(known)
    ? []
    : (validate.errors ?? []).map(({ keyword, instancePath }) => `${keyword} ${instancePath}`);
  return [...unknown.map((path) => `unknown ${path}`), ...faults, ...repeated(schema, known, '')];
}

function specSchemaOf(kind: Kind): JsonObject {
  const crd = lowerToCrd(registry, kind) as unknown as {
    readonly spec: {
      readonly versions: readonly [
        { readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: JsonObject } } } },
      ];
    };
  };
  return crd.spec.versions[0].schema.openAPIV3Schema.properties.spec;
}

/** Returns the schema of a member, or `undefined` when the member is not declared. */
function memberOf(schema: JsonObject, name: string): JsonObject | undefined {
  const properties = asObject(schema['properties'] ?? {});
  const found = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
  return isObject(found) ? (found as JsonObject) : undefined;
}

function unknownMembers(schema: JsonObject, value: Json, path: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) => unknownMembers(asObject(schema['items'] ?? {}), item, `${path}/${at}`));
  if (!isObject(value)) return [];
  return Object.entries(value as JsonObject).flatMap(([name, inner]) => {
    const member = memberOf(schema, name);
    if (member !== undefined) return unknownMembers(member, inner, `${path}/${name}`);
    return schema['x-kubernetes-preserve-unknown-fields'] === true || schema['type'] !== 'object'
      ? []
      : [`${path}/${name}`];
  });
}

/** Returns the value without the null members for which the schema does not permit null. */
function withoutNulls(schema: JsonObject, value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutNulls(asObject(schema['items'] ?? {}), item));
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).flatMap(([name, inner]) => {
    const member = memberOf(schema, name);
    if (inner === null && member?.['type'] !== undefined) return [];
    return [[name, member === undefined ? inner : withoutNulls(member, inner)] as const];
  });
  return Object.fromEntries(members);
}

/** Returns the paths of sets and maps that contain an entry twice. */
function repeated(schema: JsonObject, value: Json, path: string): readonly string[] {
  if (Array.isArray(value)) {
    const items = asObject(schema['items'] ?? {});
    const keys = schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
    const type = schema['x-kubernetes-list-type'];
    const names = value.map((item: Json) =>
      JSON.stringify(
        keys === undefined ? item : isObject(item) ? keys.map((key) => (item as JsonObject)[key] ?? null) : item,
      ),
    );
    const own = (type === 'set' || type === 'map') && new Set(names).size < names.length ? [`repeated ${path}`] : [];
    return [...own, ...value.flatMap((item: Json, at) => repeated(items, item, `${path}/${at}`))];
  }
  if (!isObject(value)) return [];
  return Object.entries(value as JsonObject).flatMap(([name, inner]) => {
    const member = memberOf(schema, name);
    return member === undefined ? [] : repeated(member, inner, `${path}/${name}`);
  });
}
