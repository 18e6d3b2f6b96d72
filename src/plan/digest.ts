import { asObject, canonicalJson, type Json, type JsonObject } from '../lib/json.ts';
import { sha256, sha256InSteps } from '../lib/node-pure.ts';
import { emptyEnvironment, type PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Fields } from '../model/schema/field.ts';
import { mapSecrets, mapUnitSecrets, type SecretPath, sealContextOf } from '../model/schema/secret-fields.ts';
import { completeSpec } from '../model/state/members.ts';
import { mapSides } from '../model/state/units.ts';
import { type Change, type Claim, subjectOf } from './plan.ts';

/** Input of the digest in addition to the changes. */
export interface DigestInput {
  readonly account: string;
  readonly registry: Registry;
  readonly comparison: Comparison;
  /** Version of the planner and of the kinds; see `engineVersionOf`. */
  readonly engine: string;
  readonly source?: string | undefined;
  readonly options: JsonObject;
  readonly changes: readonly Change[];
  readonly claims: readonly Claim[];
  readonly guards: readonly string[];
}

/**
 * Returns the SHA-256 of a plan's effects as canonical JSON. Ids that the plan assigns are written as `@Kind/key`, so
 * that they do not affect the digest. Yields regularly.
 */
export function* digestOf(input: DigestInput): Generator<undefined, string> {
  return yield* sha256InSteps(canonicalParts(input));
}

/** Yields the canonical JSON in parts, with its members in sorted order. */
function* canonicalParts(input: DigestInput): Generator<string> {
  const { account, engine, source, options, guards } = input;
  const created = placeholdersOf(input.changes);
  yield `{"account":${canonicalJson(account)},"claims":[`;
  yield* listParts(input.claims, (claim) => claimOf(input, claim, created));
  yield `],"engine":${canonicalJson(engine)},"guards":${canonicalJson(guards)},"operations":[`;
  yield* listParts(input.changes, (change) => operationOf(input, change, created));
  yield `],"options":${canonicalJson(options)},"source":${canonicalJson(source ?? null)}}`;
}

function* listParts<Item>(items: readonly Item[], jsonOf: (item: Item) => Json): Generator<string> {
  for (let start = 0; start < items.length; start += itemsOfPart) {
    const texts = items.slice(start, start + itemsOfPart).map((item) => canonicalJson(jsonOf(item)));
    yield `${start === 0 ? '' : ','}${texts.join(',')}`;
  }
}

const itemsOfPart = 32;

function operationOf(input: DigestInput, change: Change, created: ReadonlyMap<string, string>): JsonObject {
  return {
    action: change.action,
    ...identity(change, created),
    ...(change.replaces === undefined ? {} : { replaces: change.replaces.id }),
    ...effectOf(input, change, created),
  };
}

function claimOf(input: DigestInput, claim: Claim, created: ReadonlyMap<string, string>): JsonObject {
  return {
    action: claim.action,
    ...identity(claim, created),
    stated: claim.after.declared.map(({ source, stated }) => [
      source,
      withPlaceholders(input.comparison.spec(fieldsOf(input, claim), claim.after.id, stated), created),
    ]),
  };
}

/** Returns the placeholders `@Kind/key` of ids that the plan assigns, by id. */
export function placeholdersOf(changes: readonly Change[]): ReadonlyMap<string, string> {
  const created = new Map<string, string>();
  for (const change of changes) {
    const { id, kind, key, name } = subjectOf(change);
    if (change.action === 'create') created.set(id, `@${kind}/${key ?? name}`);
  }
  return created;
}

/** Returns the whole spec of a created object, and for other changes the units sorted by path. */
function effectOf(input: DigestInput, change: Change, created: ReadonlyMap<string, string>): JsonObject {
  const { action, after, units } = change;
  const fields = fieldsOf(input, change);
  const { comparison } = input;
  if (action === 'create' && after !== undefined)
    return { spec: withPlaceholders(comparison.spec(fields, after.id, completeSpec(after)), created) };
  const { id } = subjectOf(change);
  const compared = units.map((unit) => mapSides(unit, (value) => comparison.unit(fields, id, unit.path, value)));
  const moved = compared.map((unit) => asObject(withPlaceholders({ ...unit }, created)));
  return { units: moved.sort((a, b) => (String(a['path']) < String(b['path']) ? -1 : 1)) };
}

function fieldsOf({ registry }: DigestInput, change: Change | Claim): Fields {
  return registry.get(subjectOf(change).kind).spec;
}

function identity(change: Change | Claim, created: ReadonlyMap<string, string>): JsonObject {
  const { id, kind, key, owner, protected: isProtected } = subjectOf(change);
  const former = change.before?.key;
  const renamed = former === undefined || former === key ? {} : { former };
  return {
    ...renamed,
    kind,
    key: key ?? null,
    owner: owner ?? null,
    protected: isProtected,
    id: created.get(id) ?? id,
  };
}

/**
 * Returns the value with assigned ids replaced by placeholders. Lists that contained such an id are sorted again,
 * because they were sorted by id.
 */
export function withPlaceholders(value: Json, created: ReadonlyMap<string, string>): Json {
  if (created.size === 0) return value;
  if (typeof value === 'string') return replaceId(value, created);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? itemsWithPlaceholders(value, created)
    : membersWithPlaceholders(value as JsonObject, created);
}

// Loops instead of callbacks: V8 would inline the callbacks of this recursion into each other again and again.
function itemsWithPlaceholders(values: readonly Json[], created: ReadonlyMap<string, string>): Json {
  const items: Json[] = [];
  let isMoved = false;
  for (const value of values) {
    const item = withPlaceholders(value, created);
    isMoved ||= typeof item === 'string' && item !== value;
    items.push(item);
  }
  return isMoved ? items.sort((a, b) => (String(a) < String(b) ? -1 : 1)) : items;
}

function membersWithPlaceholders(value: JsonObject, created: ReadonlyMap<string, string>): JsonObject {
  const members: Record<string, Json> = {};
  for (const name of Object.keys(value))
    members[replaceId(name, created)] = withPlaceholders(value[name] as Json, created);
  return members;
}

/** Replaces an id that is the whole text or stands in the brackets of a unit path. */
function replaceId(text: string, created: ReadonlyMap<string, string>): string {
  const whole = created.get(text);
  if (whole !== undefined) return whole;
  const bracket = text.endsWith(']') ? text.indexOf('[') : -1;
  const element = bracket < 0 ? undefined : created.get(text.slice(bracket + 1, -1));
  return element === undefined ? text : `${text.slice(0, bracket)}[${element}]`;
}

/**
 * Converts values to the form that digests compare. A secret is replaced by a fingerprint that is equal for equal
 * secrets, because its sealed text differs for each object.
 */
export interface Comparison {
  spec(fields: Fields, object: string, spec: JsonObject): JsonObject;
  unit(fields: Fields, object: string, path: string, value: Json): Json;
}

/** Creates the comparison for the objects of one account. */
export function createComparison(
  account: string,
  { vault }: Pick<PlanEnvironment, 'vault'> = emptyEnvironment,
): Comparison {
  const by = (object: string) => (text: string, path: SecretPath) =>
    // An unsealed text gets the same fingerprint as when it is sealed.
    vault.fingerprint(text, sealContextOf(account, object, path));
  return {
    spec: (fields, object, spec) => mapSecrets(fields, spec, by(object)),
    unit: (fields, object, path, value) => mapUnitSecrets(fields, path, value, by(object)),
  };
}

/**
 * Version of the planner. Increase it when the same input leads to another plan, when the meaning of the digest
 * changes, or when plans are stored in another form.
 */
const plannerVersion = 5;

const engineVersionCache = new WeakMap<Registry, string>();

/**
 * Returns the version of what plans depend on apart from their input: the planner and the declarations of the kinds.
 * Plans of another version are re-created.
 */
export function engineVersionOf(registry: Registry): string {
  const present = engineVersionCache.get(registry);
  if (present !== undefined) return present;
  const kinds = registry.kinds.map(({ name, spec, document, singleton, parent }) => ({
    name,
    spec,
    document,
    singleton,
    parent,
  }));
  const version = `${plannerVersion}.${sha256(JSON.stringify(kinds, omitDocsAndFunctions)).slice(0, 16)}`;
  engineVersionCache.set(registry, version);
  return version;
}

/** `JSON.stringify` replacer that omits documentation texts and functions, which cannot be compared. */
function omitDocsAndFunctions(member: string, value: unknown): unknown {
  if (member === 'doc' || typeof value === 'function') return undefined;
  return value instanceof RegExp ? value.source : value;
}
