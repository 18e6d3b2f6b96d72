import { asObject, canonicalJson, type Json, type JsonObject } from '../lib/json.ts';
import { sha256, sha256InSteps } from '../lib/node-pure.ts';
import { emptyEnvironment, type PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Fields } from '../model/schema/field.ts';
import { mapSecrets, mapUnitSecrets, placeOf, type SecretPath } from '../model/schema/secret-fields.ts';
import { completeSpec } from '../model/state/members.ts';
import { mapSides } from '../model/state/units.ts';
import { type Change, type Claim, subjectOf } from './plan.ts';

/** What the digest covers beside the changes themselves. */
export interface DigestInput {
  readonly account: string;
  readonly registry: Registry;
  readonly comparison: Comparison;
  /** What else decides what the plan does: see `engineVersionOf`. */
  readonly engine: string;
  readonly source?: string | undefined;
  readonly options: JsonObject;
  readonly changes: readonly Change[];
  readonly claims: readonly Claim[];
  readonly guards: readonly string[];
}

/**
 * SHA-256 of what a plan does, as canonical JSON. Ids that the plan assigns itself are written as `@Kind/key`, so they do
 * not count. Yields now and then.
 */
export function* digestOf(input: DigestInput): Generator<undefined, string> {
  return yield* sha256InSteps(canonicalParts(input));
}

/** The text of canonical JSON, its members in their order, in parts. */
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
      portable(input.comparison.spec(fieldsOf(input, claim), claim.after.id, stated), created),
    ]),
  };
}

/** Placeholders of ids that a plan assigns itself: `@Kind/key`, by id. */
export function placeholdersOf(changes: readonly Change[]): ReadonlyMap<string, string> {
  const created = new Map<string, string>();
  for (const change of changes) {
    const { id, kind, key, name } = subjectOf(change);
    if (change.action === 'create') created.set(id, `@${kind}/${key ?? name}`);
  }
  return created;
}

/** Of a created object its whole spec, else the units in the order of their paths. */
function effectOf(input: DigestInput, change: Change, created: ReadonlyMap<string, string>): JsonObject {
  const { action, after, units } = change;
  const fields = fieldsOf(input, change);
  const { comparison } = input;
  if (action === 'create' && after !== undefined)
    return { spec: portable(comparison.spec(fields, after.id, completeSpec(after)), created) };
  const { id } = subjectOf(change);
  const compared = units.map((unit) => mapSides(unit, (value) => comparison.unit(fields, id, unit.path, value)));
  const moved = compared.map((unit) => asObject(portable({ ...unit }, created)));
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

/** The value with handed-out ids replaced; lists in which one stood are sorted again, because ids had sorted them. */
export function portable(value: Json, created: ReadonlyMap<string, string>): Json {
  if (created.size === 0) return value;
  if (typeof value === 'string') return replaceId(value, created);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? portableItems(value, created) : portableMembers(value as JsonObject, created);
}

// Loops: functions that are called back are compiled into each other here, again and again.
function portableItems(values: readonly Json[], created: ReadonlyMap<string, string>): Json {
  const items: Json[] = [];
  let isMoved = false;
  for (const value of values) {
    const item = portable(value, created);
    isMoved ||= typeof item === 'string' && item !== value;
    items.push(item);
  }
  return isMoved ? items.sort((a, b) => (String(a) < String(b) ? -1 : 1)) : items;
}

function portableMembers(value: JsonObject, created: ReadonlyMap<string, string>): JsonObject {
  const members: Record<string, Json> = {};
  for (const name of Object.keys(value)) members[replaceId(name, created)] = portable(value[name] as Json, created);
  return members;
}

/** An id stands alone, or in the brackets of a unit path. */
function replaceId(text: string, created: ReadonlyMap<string, string>): string {
  const whole = created.get(text);
  if (whole !== undefined) return whole;
  const bracket = text.endsWith(']') ? text.indexOf('[') : -1;
  const element = bracket < 0 ? undefined : created.get(text.slice(bracket + 1, -1));
  return element === undefined ? text : `${text.slice(0, bracket)}[${element}]`;
}

/**
 * Values as digests compare them: instead of a secret what is equal for equal ones, because a sealed text is another one
 * for every object.
 */
export interface Comparison {
  spec(fields: Fields, object: string, spec: JsonObject): JsonObject;
  unit(fields: Fields, object: string, path: string, value: Json): Json;
}

/** Compares values of the objects of one account. */
export function createComparison(
  account: string,
  { vault }: Pick<PlanEnvironment, 'vault'> = emptyEnvironment,
): Comparison {
  const by = (object: string) => (text: string, path: SecretPath) =>
    // A text that is not sealed does not open, and has the fingerprint of the same text sealed.
    vault.fingerprint(text, placeOf(account, object, path));
  return {
    spec: (fields, object, spec) => mapSecrets(fields, spec, by(object)),
    unit: (fields, object, path, value) => mapUnitSecrets(fields, path, value, by(object)),
  };
}

/** Raised when the planner comes to do something else with the same input, a digest to mean something else, or a plan to be kept in another form. */
const planner = 4;

const known = new WeakMap<Registry, string>();

/** Names what plans depend on beside their input: the planner, and what the kinds declare. Plans of another one are re-created. */
export function engineVersionOf(registry: Registry): string {
  const present = known.get(registry);
  if (present !== undefined) return present;
  const kinds = registry.kinds.map(({ name, spec, document, singleton, parent }) => ({
    name,
    spec,
    document,
    singleton,
    parent,
  }));
  const version = `${planner}.${sha256(JSON.stringify(kinds, declaredOnly)).slice(0, 16)}`;
  known.set(registry, version);
  return version;
}

/** Declarations without their prose; a function has nothing to compare. */
function declaredOnly(member: string, value: unknown): unknown {
  if (member === 'doc' || typeof value === 'function') return undefined;
  return value instanceof RegExp ? value.source : value;
}
