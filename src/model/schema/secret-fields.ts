import { appendPointer, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { mapSides, splitPath, type UnitChange } from '../state/units.ts';
import type { AnyField, Fields } from './field.ts';
import { entriesOf } from './field-search.ts';
import { boundPrefix, isSealed, type SealContext, type SealForm, secretPlaceholder, type Vault } from './sealing.ts';

/**
 * The field declarations alone decide which texts of a spec are secrets, never the prefix of a text: users may write
 * any text in all other fields.
 */

/** Path of a secret in a spec: members by name, entries by key, and all items of a list alike; never a position. */
export type SecretPath = readonly string[];

/** Declaration of a secret field. */
export type SecretField = Extract<AnyField, { readonly type: 'secret' }>;

/** Function that maps one secret to its new value. */
type SecretMapper = (text: string, path: SecretPath, field: SecretField) => Json;

const hasSecretsCache = new WeakMap<Fields, boolean>();

/** Whether any of these fields, at any depth, is stored sealed. */
export function hasSecrets(fields: Fields): boolean {
  const present = hasSecretsCache.get(fields);
  if (present !== undefined) return present;
  const found = entriesOf(fields).some(([, field]) => holdsSecrets(field));
  hasSecretsCache.set(fields, found);
  return found;
}

function holdsSecrets(field: AnyField): boolean {
  if (field.type === 'secret') return true;
  if (field.type === 'map') return field.secrets !== undefined || holdsSecrets(field.of);
  if (field.type === 'object' || field.type === 'keyed') return hasSecrets(field.fields);
  return field.type === 'list' && holdsSecrets(field.of);
}

export type MapField = Extract<AnyField, { readonly type: 'map' }>;

/** Returns the declaration of a map's member. `name` may be an alternative spelling. */
export function memberField({ of, secrets = {} }: MapField, name: string): AnyField {
  return Object.hasOwn(secrets, name) ? (secrets[name] ?? of) : of;
}

/** Returns the name under which a map stores a member; resolves alternative spellings. */
export function memberName(field: MapField, name: string): string {
  return field.keyAliases !== undefined && Object.hasOwn(field.keyAliases, name)
    ? (field.keyAliases[name] ?? name)
    : name;
}

/** Returns the path of a secret as a JSON pointer. */
export function secretPointer(path: SecretPath): string {
  return path.reduce(appendPointer, '');
}

/** Returns the context in which a secret of an object is sealed. */
export function sealContextOf(account: string, object: string, path: SecretPath): SealContext {
  return { purpose: 'object', path: [account, object, ...path] };
}

/**
 * Returns the spec with `change` applied to each secret. Returns the same object when the fields declare no secrets.
 */
export function mapSecrets(fields: Fields, spec: JsonObject, change: SecretMapper): JsonObject {
  return hasSecrets(fields) ? mapFields(fields, spec, change, []) : spec;
}

/** Returns the value of one unit with `change` applied to each secret in it. */
export function mapUnitSecrets(fields: Fields, path: string, value: Json, change: SecretMapper): Json {
  return hasSecrets(fields) ? mapUnit(fields, path, value, change, []) : value;
}

/** Whether the stored value of a secret field is sealed. Earlier releases stored `shown` secrets unsealed. */
export function isSealedIn(field: SecretField, stored: string): boolean {
  return field.read === 'shown' ? stored.startsWith(boundPrefix) : isSealed(stored);
}

/** Returns the text of a stored secret. Throws when it is sealed and cannot be opened. */
export function openSecret(
  field: SecretField,
  stored: string,
  context: SealContext,
  vault: { open(sealed: string, context: SealContext): string },
): string {
  return field.read === 'shown' && !isSealedIn(field, stored) ? stored : vault.open(stored, context);
}

/**
 * Returns the form in which a text is stored. A `shown` secret stays unsealed in the `unbound` form, because servers of
 * that form read it as plain text.
 */
export function toStoredSecret(
  field: SecretField,
  text: string,
  context: SealContext,
  { vault, form }: { readonly vault: Pick<Vault, 'seal'>; readonly form: SealForm },
): string {
  return field.read === 'shown' && form === 'unbound' ? text : vault.seal(text, context, form);
}

/** Returns every sealed secret in a spec, except those that answers show. */
export function secretsOf(fields: Fields, spec: JsonObject): readonly string[] {
  return collectSealedSecrets((change) => mapSecrets(fields, spec, change));
}

/** Returns every sealed secret in the value of a unit, except those that answers show. */
export function secretsOfUnit(fields: Fields, path: string, value: Json | undefined): readonly string[] {
  return value === undefined ? [] : collectSealedSecrets((change) => mapUnitSecrets(fields, path, value, change));
}

function collectSealedSecrets(visit: (change: SecretMapper) => unknown): readonly string[] {
  const found: string[] = [];
  visit((text, _path, { read }) => {
    if (read !== 'shown' && isSealed(text)) found.push(text);
    return text;
  });
  return found;
}

/** Returns the unit change with its secrets replaced by `(secret)`, for display. */
export function hideUnitSecrets(fields: Fields, unit: UnitChange): UnitChange {
  if (!hasSecrets(fields)) return unit;
  return mapSides(unit, (value) => mapUnitSecrets(fields, unit.path, value, hide));
}

/** Returns the spec with its secrets replaced by `(secret)`, for display. */
export function hideSecrets(fields: Fields, spec: JsonObject): JsonObject {
  return mapSecrets(fields, spec, hide);
}

/** Returns the value of a field with its secrets replaced by `(secret)`, for display. */
export function hideValueSecrets(field: AnyField, value: Json): Json {
  return holdsSecrets(field) ? mapValue(field, value, hide, []) : value;
}

function hide(): string {
  return secretPlaceholder;
}

function mapFields(fields: Fields, spec: JsonObject, change: SecretMapper, path: SecretPath): JsonObject {
  const mapped = Object.entries(spec).map(([name, value]): [string, Json] => {
    const field = fields[name];
    return [name, field === undefined ? value : mapValue(field, value, change, [...path, name])];
  });
  return Object.fromEntries(mapped);
}

function mapValue(field: AnyField, value: Json, change: SecretMapper, path: SecretPath): Json {
  switch (field.type) {
    case 'secret':
      return mapText(field, value, change, path);
    case 'map':
      return isObject(value) ? mapMembers(field, value, change, path) : value;
    case 'object':
      return isObject(value) ? mapFields(field.fields, value, change, path) : value;
    case 'keyed':
      return Array.isArray(value) ? value.map((entry) => mapEntry(field, entry, change, path)) : value;
    case 'list':
      return Array.isArray(value) && holdsSecrets(field.of)
        ? value.map((item) => mapValue(field.of, item, change, [...path, anyItem]))
        : value;
    default:
      return value;
  }
}

function mapText(field: SecretField, value: Json, change: SecretMapper, path: SecretPath): Json {
  // An empty `shown` secret, such as an empty address, hides nothing.
  const isText = typeof value === 'string' && (value !== '' || field.read !== 'shown');
  return isText ? change(value, path, field) : value;
}

/** Path element for any list position. Positions are not used, because a list may be rewritten in another order. */
export const anyItem = '*';

function mapMembers(field: MapField, value: JsonObject, change: SecretMapper, path: SecretPath): JsonObject {
  const members = Object.entries(value).map(([name, item]): [string, Json] => [
    name,
    mapMember(field, name, item, change, path),
  ]);
  return Object.fromEntries(members);
}

function mapMember(field: MapField, name: string, item: Json, change: SecretMapper, path: SecretPath): Json {
  return mapValue(memberField(field, name), item, change, [...path, memberName(field, name)]);
}

type KeyedField = Extract<AnyField, { readonly type: 'keyed' }>;

function mapEntry(field: KeyedField, entry: Json, change: SecretMapper, path: SecretPath): Json {
  if (!isObject(entry)) return entry;
  const { [field.key]: key } = entry;
  return mapFields(field.fields, entry, change, [...path, String(key)]);
}

function mapUnit(fields: Fields, unit: string, value: Json, change: SecretMapper, path: SecretPath): Json {
  const { name, rest } = splitPath(unit);
  const field = fields[name];
  const inner = [...path, name];
  if (field === undefined) return value;
  if (rest === undefined) return mapValue(field, value, change, inner);
  if (field.type === 'object') return mapUnit(field.fields, rest, value, change, inner);
  if (field.type === 'map') return mapMember(field, rest, value, change, inner);
  return field.type === 'keyed' ? mapEntry(field, value, change, inner) : value;
}

/**
 * Returns the members of an answer that contain secrets, with the secrets filled in. `open` receives the stored value
 * of each secret. Entries are matched by key, because an answer may list them in another order.
 */
export function revealSecrets(
  fields: Fields,
  shown: JsonObject,
  stored: JsonObject,
  open: (text: string, path: SecretPath, field: SecretField) => string,
  path: SecretPath = [],
): JsonObject {
  const revealed = Object.entries(fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
    const value = stored[name];
    if (value === undefined || !holdsSecrets(field)) return [];
    return [[name, revealValue(field, shown[name], value, open, [...path, name])]];
  });
  return Object.fromEntries(revealed);
}

type SecretOpener = Parameters<typeof revealSecrets>[3];

function revealValue(
  field: AnyField,
  shown: Json | undefined,
  stored: Json,
  open: SecretOpener,
  path: SecretPath,
): Json {
  if (field.type === 'object' && isObject(stored)) {
    const members = isObject(shown) ? shown : {};
    return { ...members, ...revealSecrets(field.fields, members, stored, open, path) };
  }
  if (field.type !== 'keyed' || !Array.isArray(shown) || !Array.isArray(stored))
    return mapValue(field, stored, open, path);
  const left = [...(stored as readonly JsonObject[])];
  return (shown as readonly JsonObject[]).map((entry) => {
    const at = left.findIndex((item) => item[field.key] === entry[field.key]);
    const [item = {}] = at < 0 ? [] : left.splice(at, 1);
    return { ...entry, ...revealSecrets(field.fields, entry, item, open, [...path, String(entry[field.key])]) };
  });
}
