import { equalJson, type Json, type JsonObject, membersOf } from '../../lib/json.ts';

/** The origins that put an element into a set; an element without an origin is not in it. */
export type MemberOrigins = readonly string[];

/** An element that came into a set, left it, or is held there by other origins than before. */
export interface MemberMove {
  readonly id: string;
  readonly was: MemberOrigins;
  readonly is: MemberOrigins;
}

/** One step in the life of a set. */
interface Entry {
  readonly id: string;
  readonly origins: MemberOrigins;
}

/** A set as it once was, and what happened to it since. Specs that came of one another share it. */
interface Lineage {
  readonly base: JsonObject;
  readonly log: Entry[];
  /** Where in the log an element occurs, in order. */
  readonly places: Map<string, number[]>;
  /** No id in it is greater; computed on demand. */
  last?: string;
}

/** How far along its lineage the set of a spec is. */
interface Version {
  readonly field: string;
  readonly lineage: Lineage;
  readonly at: number;
  readonly size: number;
}

/**
 * Sets have as many elements as an account has peers, and most changes are about one of them: a spec that was derived
 * from another by such a change is recorded here, and its own copy of the set is made when it is read.
 */
const versions = new WeakMap<JsonObject, Version>();

/** The spec with other origins on one element of a set; without origins the element is not in it. */
export function withMemberOrigins(spec: JsonObject, field: string, id: string, origins: MemberOrigins): JsonObject {
  const { lineage, at, size } = versionBefore(spec, field, { id, origins });
  if (at === lineage.log.length) append(lineage, { id, origins });
  const had = originsAt(lineage, at, id).length > 0;
  const next = withLazy(spec, field, () => elementsAt(lineage, at + 1));
  versions.set(next, { field, lineage, at: at + 1, size: size + Number(origins.length > 0) - Number(had) });
  return next;
}

/** The origins that put an element into a set. */
export function originsOf(spec: JsonObject, field: string, id: string): MemberOrigins {
  const version = versions.get(spec);
  if (version?.field === field) return originsAt(version.lineage, version.at, id);
  const elements = elementsIn(spec, field);
  return Object.hasOwn(elements, id) ? readOrigins(elements[id]) : [];
}

/** Whether an element is in a set. */
export function hasMember(spec: JsonObject, field: string, id: string): boolean {
  return originsOf(spec, field, id).length > 0;
}

/** An id that no element of a set exceeds, empty for an empty set. */
export function lastMember(spec: JsonObject, field: string): string {
  const { lineage } = versionOf(spec, field);
  lineage.last ??= [...Object.keys(lineage.base), ...lineage.places.keys()].reduce((a, b) => (a < b ? b : a), '');
  return lineage.last;
}

/** How many elements a set has. */
export function countMembers(spec: JsonObject, field: string): number {
  return versionOf(spec, field).size;
}

/** In which elements two specs differ, by id. Costs no more than the difference when one came of the other. */
export function movedMembers(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  field: string,
): readonly MemberMove[] {
  if (before === after) return [];
  const [was, is] = [before, after].map((spec) => (spec === undefined ? undefined : versions.get(spec)));
  if (was === undefined || was.lineage !== is?.lineage || was.field !== field) return compared(before, after, field);
  return touched(was, is).flatMap((id) =>
    moveOf(id, originsAt(was.lineage, was.at, id), originsAt(is.lineage, is.at, id)),
  );
}

/** Whether the field of a spec is a set whose elements have origins, or an empty one; it is not read for that. */
export function hasOrigins(spec: JsonObject, field: string): boolean {
  const member = Object.getOwnPropertyDescriptor(spec, field);
  if (member?.get !== undefined) return true;
  const value: unknown = member?.value;
  return Array.isArray(value) ? value.length === 0 : typeof value === 'object' && value !== null;
}

/** The spec without some of its fields, whose sets are not read for it. */
export function beside(spec: JsonObject, fields: readonly string[]): JsonObject {
  const rest: Record<string, Json> = {};
  for (const name of Object.keys(spec)) if (!fields.includes(name)) rest[name] = spec[name] as Json;
  return rest;
}

/** The spec with a field that is computed once, when it is read. */
function withLazy(spec: JsonObject, field: string, make: () => JsonObject): JsonObject {
  const next: Record<string, Json> = {};
  const get = (): JsonObject => {
    const value = make();
    Object.defineProperty(next, field, { value, enumerable: true, configurable: true, writable: true });
    return value;
  };
  for (const name of new Set([...Object.keys(spec), field])) {
    if (name === field) Object.defineProperty(next, field, { get, enumerable: true, configurable: true });
    else next[name] = spec[name] as Json;
  }
  return next;
}

/** The version of a spec in a lineage that goes on with this step, or ends there. */
function versionBefore(spec: JsonObject, field: string, { id, origins }: Entry): Version {
  const known = versionOf(spec, field);
  const { lineage, at, size } = known;
  const follower = lineage.log[at];
  const isOwn = follower === undefined || (follower.id === id && equalJson(follower.origins, origins));
  // A log that has become long beside its set ends: so a step costs a few copied elements, however large the set is.
  const isLong = at > 64 && at * 8 > size;
  if (isOwn && !isLong) return known;
  const fresh = isLong ? { ...known, lineage: newLineage(elementsIn(spec, field)), at: 0 } : branched(known);
  versions.set(spec, fresh);
  return fresh;
}

function versionOf(spec: JsonObject, field: string): Version {
  const known = versions.get(spec);
  if (known?.field === field) return known;
  const base = elementsIn(spec, field);
  const fresh = { field, lineage: newLineage(base), at: 0, size: Object.keys(base).length };
  versions.set(spec, fresh);
  return fresh;
}

function newLineage(base: JsonObject): Lineage {
  return { base, log: [], places: new Map() };
}

/** The same version in a lineage of its own, which ends with it. */
function branched(version: Version): Version {
  const lineage = newLineage(version.lineage.base);
  for (const entry of version.lineage.log.slice(0, version.at)) append(lineage, entry);
  return { ...version, lineage };
}

function append(lineage: Lineage, entry: Entry): void {
  const { log, places } = lineage;
  const list = places.get(entry.id);
  if (list === undefined) places.set(entry.id, [log.length]);
  else list.push(log.length);
  log.push(entry);
  if (lineage.last !== undefined && lineage.last < entry.id) lineage.last = entry.id;
}

function originsAt({ base, log, places }: Lineage, at: number, id: string): MemberOrigins {
  const place = places.get(id)?.findLast((one) => one < at);
  if (place !== undefined) return log[place]?.origins ?? [];
  return Object.hasOwn(base, id) ? readOrigins(base[id]) : [];
}

/** Every element of a version, by id. */
function elementsAt(lineage: Lineage, at: number): JsonObject {
  const elements: Record<string, Json> = { ...lineage.base };
  let last = Object.keys(elements).at(-1) ?? '';
  let isSorted = true;
  for (const { id, origins } of lineage.log.slice(0, at)) {
    if (origins.length === 0) delete elements[id];
    else {
      // Ids grow, so that a new one nearly always comes last.
      isSorted &&= Object.hasOwn(elements, id) || id > last;
      if (id > last) last = id;
      elements[id] = origins;
    }
  }
  return isSorted ? elements : Object.fromEntries(Object.entries(elements).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Elements as they stand in a spec; documents list them, and know no origins. */
function elementsIn(spec: JsonObject, field: string): JsonObject {
  const value = spec[field];
  if (Array.isArray(value)) return Object.fromEntries(value.map((id) => [String(id), ['']]));
  return membersOf(value);
}

function readOrigins(value: Json | undefined): MemberOrigins {
  return Array.isArray(value) ? value.map(String) : [''];
}

function touched(one: Version, other: Version): readonly string[] {
  const [from, to] = [one.at, other.at].sort((a, b) => a - b);
  return [...new Set(one.lineage.log.slice(from, to).map(({ id }) => id))].sort();
}

function compared(before: JsonObject | undefined, after: JsonObject | undefined, field: string): readonly MemberMove[] {
  const [was, is] = [before, after].map((spec) => (spec === undefined ? {} : elementsIn(spec, field)));
  const [old, now] = [was ?? {}, is ?? {}];
  const ids = [...Object.keys(old).filter((id) => !Object.hasOwn(now, id)), ...Object.keys(now)];
  const originsIn = (elements: JsonObject, id: string) =>
    Object.hasOwn(elements, id) ? readOrigins(elements[id]) : [];
  return ids
    .filter((id) => old[id] !== now[id] || !Object.hasOwn(old, id))
    .sort()
    .flatMap((id) => moveOf(id, originsIn(old, id), originsIn(now, id)));
}

function moveOf(id: string, was: MemberOrigins, is: MemberOrigins): readonly MemberMove[] {
  return equalJson(was, is) ? [] : [{ id, was, is }];
}
