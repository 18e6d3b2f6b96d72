import { asList, asObject, asObjects, asTexts, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { keyedEntries } from '../schema/entries.ts';
import { type AnyField, type Fields, isGranular } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { defaultOf } from '../schema/normalize.ts';
import {
  type Content,
  changedMembers,
  type MemberChange,
  type MemberEdit,
  pickContent,
  withMemberEdits,
} from './members.ts';

/**
 * Change of one unit, the smallest part of a spec with one owner. `path` is `name`, `name.member`, `name[element]` of a
 * set, or `name[key]` of a keyed list. An absent side means that the unit does not exist there.
 */
export type UnitChange = {
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
};

/** Returns the unit change with `change` applied to the values of both sides. */
export function mapSides(unit: UnitChange, change: (value: Json) => Json): UnitChange {
  const { before, after } = unit;
  return {
    ...unit,
    ...(before === undefined ? {} : { before: change(before) }),
    ...(after === undefined ? {} : { after: change(after) }),
  };
}

/**
 * Returns the units of a stated or full canonical spec with their values, by path. An element of a set has the value
 * `true`.
 */
export function unitsOf(fields: Fields, spec: JsonObject, prefix = ''): ReadonlyMap<string, Json> {
  const units = new Map<string, Json>();
  for (const [name, value] of Object.entries(spec)) {
    const field = fields[name];
    if (field !== undefined) addUnits(units, field, `${prefix}${name}`, value);
  }
  return units;
}

function addUnits(units: Map<string, Json>, field: AnyField, path: string, value: Json): void {
  if (isGranular(field)) {
    for (const [inner, item] of unitsOf(field.fields, asObject(value), `${path}.`)) units.set(inner, item);
    return;
  }
  const elements = elementsOf(field, value);
  if (elements === undefined) units.set(path, value);
  else for (const [element, item] of elements) units.set(`${path}[${element}]`, item);
}

/** Returns the elements of a value whose elements are owned separately; `undefined` for a value owned as a whole. */
function elementsOf(field: AnyField, value: Json): readonly (readonly [string, Json])[] | undefined {
  switch (field.type) {
    case 'refs':
      return asTexts(value).map((id) => [id, true]);
    case 'members':
      return Array.isArray(value) ? value.map((id) => [String(id), true]) : Object.entries(asObject(value));
    case 'map':
    case 'refMap':
      return Object.entries(asObject(value));
    case 'list':
      return field.set ? asList(value).map((item) => [String(item), true]) : undefined;
    case 'keyed':
      return keyedEntries(field.key, asObjects(value));
    default:
      return undefined;
  }
}

/** Returns the units in which two objects differ, in the order of the fields. */
export function diffUnits(fields: Fields, before: Content, after: Content): readonly UnitChange[] {
  return entriesOf(fields).flatMap(([name, field]) =>
    field.type === 'members'
      ? changedMembers(before, after, name).map((move) => memberChange(name, move))
      : diffField(field, name, before.spec[name], after.spec[name]),
  );
}

function memberChange(field: string, { id, was, is }: MemberChange): UnitChange {
  return change(`${field}[${id}]`, was.length === 0 ? undefined : was, is.length === 0 ? undefined : is);
}

function diffField(field: AnyField, path: string, was: Json | undefined, is: Json | undefined): readonly UnitChange[] {
  if (was === is || equalJson(was, is)) return [];
  if (!isGranular(field)) return diffValue(field, path, was, is);
  const [old, now] = [asObject(was ?? {}), asObject(is ?? {})];
  return entriesOf(field.fields).flatMap(([name, inner]) => diffField(inner, `${path}.${name}`, old[name], now[name]));
}

function diffValue(field: AnyField, path: string, was: Json | undefined, is: Json | undefined): readonly UnitChange[] {
  const old = was === undefined ? [] : elementsOf(field, was);
  const now = is === undefined ? [] : elementsOf(field, is);
  const whole = (was !== undefined && old === undefined) || (is !== undefined && now === undefined);
  if (whole || old === undefined || now === undefined) return [change(path, was, is)];
  const before = new Map(old);
  const after = new Map(now);
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .filter((name) => !equalJson(before.get(name), after.get(name)))
    .map((name) => change(`${path}[${name}]`, before.get(name), after.get(name)));
}

function change(path: string, before: Json | undefined, after: Json | undefined): UnitChange {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/**
 * Whether a change affects only ownership: the origins of a membership element, or the field that is part of the
 * object's key in documents.
 */
export function isOwnershipOnly(fields: Fields, { path, before, after }: UnitChange): boolean {
  const field = fields[splitPath(path).name];
  if (field?.access === 'key') return true;
  return field?.type === 'members' && before !== undefined && after !== undefined;
}

/**
 * Returns the content of an object after unit changes. Reads only `after` of each change. Sets and keyed lists stay
 * sorted.
 */
export function applyUnits(fields: Fields, before: Content, changes: readonly UnitChange[]): Content {
  const others: UnitChange[] = [];
  const edits = new Map<string, MemberEdit[]>();
  for (const unit of changes) {
    const { name, rest = '' } = splitPath(unit.path);
    if (fields[name]?.type !== 'members') others.push(unit);
    else {
      const own = edits.get(name) ?? [];
      own.push([rest, Array.isArray(unit.after) ? unit.after.map(String) : []]);
      edits.set(name, own);
    }
  }
  const content = pickContent(before);
  return [...edits].reduce(
    (moved, [name, some]) => withMemberEdits(moved, name, some),
    others.length === 0 ? content : { ...content, spec: applyToSpec(fields, content.spec, others) },
  );
}

/** Returns a stated spec after unit changes. */
export function applyToSpec(fields: Fields, spec: JsonObject, changes: readonly UnitChange[]): JsonObject {
  const result: Record<string, Json> = { ...spec };
  const nested = new Map<string, UnitChange[]>();
  for (const unit of changes) {
    const { name, rest } = splitPath(unit.path);
    const field = fields[name];
    if (field === undefined) continue;
    if (rest === undefined) {
      assign(result, name, unit.after);
      continue;
    }
    const inner = nested.get(name) ?? [];
    inner.push({ ...unit, path: rest });
    nested.set(name, inner);
  }
  for (const [name, inner] of nested) assign(result, name, withUnits(fields[name] as AnyField, result[name], inner));
  return result;
}

/** Returns a nested value after unit changes. An optional object is removed together with its last member. */
function withUnits(field: AnyField, value: Json | undefined, changes: readonly UnitChange[]): Json | undefined {
  if (field.type !== 'object') return withElements(field, value, changes);
  const members = applyToSpec(field.fields, asObject(value ?? {}), changes);
  return Object.keys(members).length === 0 && defaultOf(field) === undefined ? undefined : members;
}

/** Splits `name.rest` or `name[rest]` (the brackets are dropped); `rest` is absent for `name` alone. */
export function splitPath(path: string): { readonly name: string; readonly rest?: string } {
  const dot = path.indexOf('.');
  const bracket = path.indexOf('[');
  if (bracket >= 0 && (dot < 0 || bracket < dot))
    return { name: path.slice(0, bracket), rest: path.slice(bracket + 1, -1) };
  if (dot >= 0) return { name: path.slice(0, dot), rest: path.slice(dot + 1) };
  return { name: path };
}

function withElements(field: AnyField, value: Json | undefined, changes: readonly UnitChange[]): Json {
  const elements = new Map(value === undefined ? [] : (elementsOf(field, value) ?? []));
  for (const { path, after } of changes) {
    if (after === undefined) elements.delete(path);
    else elements.set(path, after);
  }
  const sorted = [...elements].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  if (field.type === 'members' || field.type === 'refMap' || field.type === 'map') return Object.fromEntries(sorted);
  if (field.type === 'keyed') return sortKeyed(field.key, sorted);
  const names = sorted.map(([name]) => name);
  const numeric = field.type === 'list' && field.of.type === 'integer';
  return numeric ? names.map(Number).sort((a, b) => a - b) : names;
}

/** Sorts entries into canonical order: by the value of the key field, repeats by ordinal. */
function sortKeyed(key: string, elements: readonly (readonly [string, Json])[]): readonly Json[] {
  const entries = elements.map(([unit, entry]) => {
    const name = String(asObject(entry)[key]);
    return { name, ordinal: unit === name ? 1 : Number(unit.slice(name.length + 1)), entry };
  });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.ordinal - b.ordinal))
    .map(({ entry }) => entry);
}

/**
 * Returns the value of a unit that no source states any more: the default of its field, or none for an element. `keep`:
 * the value stays unchanged.
 */
export function resetValue(
  fields: Fields,
  path: string,
): { readonly keep: true } | { readonly keep: false; readonly value?: Json } {
  const { name, rest } = splitPath(path);
  const field = fields[name];
  if (field === undefined) return { keep: true };
  if (rest !== undefined) return field.type === 'object' ? resetValue(field.fields, rest) : { keep: false };
  if (field.keptOnReplace === true) return { keep: true };
  const value = defaultOf(field);
  if (value === undefined) return field.required === true ? { keep: true } : { keep: false };
  return { keep: false, value };
}

function assign(target: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value === undefined) delete target[name];
  else target[name] = value;
}
