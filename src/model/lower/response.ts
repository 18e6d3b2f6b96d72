import { asObject, asObjects, asTexts, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind, State } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { wireId } from '../declare/wire-id.ts';
import { Internal } from '../errors.ts';
import { entryIdsOf, inListOrder, keyedEntries, listOrderOf } from '../schema/entries.ts';
import { type AnyField, type Fields, isEmpty } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { givenDefaultsOf } from '../schema/given-defaults.ts';
import { defaultOf } from '../schema/normalize.ts';
import { mask } from '../schema/sealing.ts';
import {
  memberField,
  memberName,
  openSecret,
  type SecretField,
  type SecretPath,
  sealContextOf,
} from '../schema/secret-fields.ts';
import { inWrittenSpelling, spellingsOf } from '../schema/spelling.ts';
import { membersInOrder } from '../state/members.ts';
import type { StoredObject } from '../state/object.ts';

/**
 * Returns the API response for one object: its id, fields, inline children and computed members, with texts in the
 * spelling in which they were last written.
 */
export function lowerToResponse(
  registry: Registry,
  object: StoredObject,
  state: State,
  answerKind: 'list' | 'one' = 'one',
): JsonObject {
  return lower({ registry, state, isCanonical: false }, object, answerKind);
}

/**
 * Like `lowerToResponse`, with texts in canonical spelling: for readers other than the client that wrote them. Such a
 * reader interprets the texts, and a new spelling alone is no change to it.
 */
export function lowerToCanonical(registry: Registry, object: StoredObject, state: State): JsonObject {
  return lower({ registry, state, isCanonical: true }, object);
}

/** What the responses of all objects within one response have in common. */
interface LoweringScope {
  readonly registry: Registry;
  readonly state: State;
  /** True for texts in canonical spelling instead of the written one. */
  readonly isCanonical: boolean;
}

function lower(scope: LoweringScope, object: StoredObject, answerKind: 'list' | 'one' = 'one'): JsonObject {
  const { registry, state } = scope;
  const kind = registry.get(object.kind);
  const lowering = { ...scope, object, given: givenDefaultsOf(object) };
  const children = registry
    .inlineChildrenOf(kind.name)
    .map(
      ({ child, member }) =>
        [
          member,
          state
            .childrenOf(object.id, child.name)
            .map((item) => (child.parent?.answer === 'ids' ? wireId(child, item.id) : lower(scope, item))),
        ] as const,
    );
  const fields = ownFields(kind);
  const body: JsonObject = {
    ...(kind.single === true && kind.ids === undefined ? {} : { id: wireId(kind, object.id) }),
    ...lowerFields(lowering, fields, specFor(scope, kind, object), ''),
    ...Object.fromEntries(children),
    ...computedMembers(kind, object, state, answerKind),
  };
  return kind.respond?.(body, object, state, registry.installation) ?? body;
}

/** Returns the spec with its lists in the order in which they were last written, and its texts as the scope asks. */
function specFor({ isCanonical }: LoweringScope, { spec: fields }: Kind, object: StoredObject): JsonObject {
  const spec = inListOrder(fields, object.spec, listOrderOf(object));
  return isCanonical ? spec : inWrittenSpelling(fields, spec, spellingsOf(object));
}

const ownFieldsCache = new WeakMap<Kind, Fields>();

/** Returns the fields of a kind without the reference to its parent. */
function ownFields(kind: Kind): Fields {
  const parent = kind.parent?.field;
  if (parent === undefined) return kind.spec;
  const known = ownFieldsCache.get(kind);
  if (known !== undefined) return known;
  const fields = Object.fromEntries(entriesOf(kind.spec).filter(([name]) => name !== parent));
  ownFieldsCache.set(kind, fields);
  return fields;
}

/** Returns the summary with which responses of other objects show this one. */
function lowerToSummary(registry: Registry, object: StoredObject, state: State): JsonObject {
  const kind = registry.get(object.kind);
  const members = (kind.summary ?? ['id', 'name']).map((member): [string, Json] => {
    if (member === 'id') return [member, object.id];
    return [member, kind.computed[member]?.value(object, state) ?? object.spec[member] ?? ''];
  });
  return Object.fromEntries(members);
}

function computedMembers(kind: Kind, object: StoredObject, state: State, answerKind: 'list' | 'one'): JsonObject {
  const members: Record<string, Json> = {};
  for (const [name, computed] of Object.entries(kind.computed)) {
    const value = computed.countsAccess === true && answerKind === 'one' ? undefined : computed.value(object, state);
    if (value !== undefined) members[name] = value;
  }
  return members;
}

interface Lowering extends LoweringScope {
  readonly object: StoredObject;
  readonly given: ReadonlySet<string>;
}

function lowerFields(lowering: Lowering, fields: Fields, spec: JsonObject, path: string): JsonObject {
  const result: Record<string, Json> = {};
  for (const [name, field] of entriesOf(fields)) {
    if (field.hidden === true || (field.type === 'secret' && field.read === 'never')) continue;
    // An object that was stored before the field had a default has the default too.
    const stored = spec[name] ?? field.default;
    const value = path === '' ? shownValue(lowering.object, name, field, stored) : stored;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (field.omitUnlessGiven === true && isImplicitDefault(lowering, field, value, fieldPath)) continue;
    const lowered =
      value === undefined ? lowerAbsent(lowering, field, fieldPath) : lowerValue(lowering, field, value, fieldPath);
    if (lowered === undefined || (isOmitted(field, lowered) && !lowering.given.has(fieldPath))) continue;
    result[name] = lowered;
  }
  return result;
}

/** Checks whether a member has its default value and no request or document stated it. */
function isImplicitDefault({ given }: Lowering, field: AnyField, value: Json | undefined, path: string): boolean {
  return equalJson(value, defaultOf(field)) && !given.has(path);
}

/** Returns the value that the server chose, when the stored value leaves the choice to the server. */
function shownValue({ derived }: StoredObject, name: string, field: AnyField, value: Json | undefined) {
  const isChosen = field.serverChosen !== undefined && equalJson(value, field.serverChosen);
  return isChosen ? (derived[name] ?? value) : value;
}

/** Checks whether an empty value is omitted from responses. */
function isOmitted({ omitEmpty }: AnyField, value: Json): boolean {
  return omitEmpty !== undefined && isEmpty(value);
}

/**
 * Returns what responses show for a member without a value. A text is `""`, and so is a secret that is shown that way.
 * An object is omitted, unless it or one of its members was given; it is then shown empty.
 */
function lowerAbsent(lowering: Lowering, field: AnyField, path: string): Json | undefined {
  if (field.type === 'secret') return field.read === 'empty' || lowering.given.has(path) ? '' : undefined;
  if (field.type === 'ref' || field.type === 'string') return '';
  const isGiven =
    field.type === 'object' && [...lowering.given].some((one) => one === path || one.startsWith(`${path}.`));
  return isGiven ? lowerFields(lowering, field.fields, {}, path) : undefined;
}

function lowerValue(lowering: Lowering, field: AnyField, value: Json, path: string): Json {
  switch (field.type) {
    case 'secret':
      return lowerSecret(lowering, field, value, path.split('.'));
    case 'map':
      return Object.fromEntries(
        Object.entries(asObject(value)).map(([key, item]) => {
          const member = memberField(field, key);
          return [
            key,
            member.type === 'secret'
              ? lowerSecret(lowering, member, item, [...path.split('.'), memberName(field, key)])
              : item,
          ];
        }),
      );
    case 'refs':
      return field.answer === 'ids' ? value : lowerReferences(field.answer, lowering, asTexts(value));
    case 'members':
      return membersInOrder(lowering.object, path).flatMap((id) => {
        const element = lowering.state.get(id);
        return element === undefined ? [] : [{ id, name: element.name }];
      });
    case 'keyed':
      return lowerEntries(lowering, field, asObjects(value), path);
    case 'object':
      return {
        ...lowerFields(lowering, field.fields, asObject(value), path),
        ...lowerUnsupported(lowering, field, path),
      };
    case 'list':
      return field.of.type === 'object'
        ? asObjects(value).map((item, at) =>
            lowerFields(lowering, (field.of as { readonly fields: Fields }).fields, item, `${path}[${at}]`),
          )
        : value;
    default:
      return value;
  }
}

/** Returns the unsupported members that were given, each with the only value that they can have. */
function lowerUnsupported({ given }: Lowering, { unsupported = {} }: AnyField, path: string): JsonObject {
  const shown = Object.entries(unsupported).filter(([name]) => given.has(`${path}.${name}`));
  return Object.fromEntries(shown.map(([name, { value }]) => [name, value]));
}

/** Returns what responses show of a secret: its text, or a mask after the part that may be shown. */
function lowerSecret(lowering: Lowering, field: SecretField, value: Json, path: SecretPath): string {
  if (field.read === 'shown') return value === '' ? '' : (openSecretText(lowering, field, value, path) ?? mask);
  if (field.read !== 'masked') return '';
  const { visible } = field;
  const text = visible === undefined ? undefined : openSecretText(lowering, field, value, path);
  return text === undefined ? mask : `${visible?.(text)}${mask}`;
}

function openSecretText(
  { registry: { openSecret: open }, object, state }: Lowering,
  field: SecretField,
  value: Json,
  path: SecretPath,
): string | undefined {
  const noKey = (): never => {
    throw new Internal('there is no key here to open secrets with');
  };
  try {
    return openSecret(field, String(value), sealContextOf(state.account, object.id, path), { open: open ?? noKey });
  } catch (error) {
    // A secret that cannot be opened is shown as masked. The error is reported where the secret is used.
    if (error instanceof Internal) return undefined;
    throw error;
  }
}

function lowerReferences(answer: 'summaries' | 'full', lowering: Lowering, ids: readonly string[]): Json {
  const { registry, state, isCanonical } = lowering;
  const objects = ids.flatMap((id) => state.get(id) ?? []);
  return objects.map((object) =>
    answer === 'full' ? lower({ registry, state, isCanonical }, object) : lowerToSummary(registry, object, state),
  );
}

function lowerEntries(
  lowering: Lowering,
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  entries: readonly JsonObject[],
  path: string,
): Json {
  // A `Map`, because users choose the keys, and may choose `constructor`.
  const ids = new Map(Object.entries(entryIdsOf(lowering.object)[path] ?? {}));
  return keyedEntries(field.key, entries).map(([key, entry]) => ({
    ...(field.ids ? { id: ids.get(key) ?? '' } : {}),
    ...lowerFields(withinEntry(lowering, path, key), field.fields, entry, path),
  }));
}

/** Restricts the given members to those of one entry of a keyed list, with paths that match its members. */
function withinEntry(lowering: Lowering, path: string, key: string): Lowering {
  if (lowering.given.size === 0) return lowering;
  const begin = `${path}[${key}].`;
  const own = [...lowering.given].filter((one) => one.startsWith(begin));
  return { ...lowering, given: new Set(own.map((one) => `${path}.${one.slice(begin.length)}`)) };
}
