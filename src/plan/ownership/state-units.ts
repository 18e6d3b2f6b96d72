import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Fields } from '../../model/schema/field.ts';
import type { ConflictMode } from '../../model/sources/settings.ts';
import { type Content, completeSpec, pickContent } from '../../model/state/members.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import { applyToSpec, applyUnits, resetValue, type UnitChange, unitsOf } from '../../model/state/units.ts';
import type { ClaimByOther } from './claims-of-others.ts';
import { isRestrictive } from './failsafe.ts';
import { exclusiveFields, fieldOf, isMember, sourceOrigin } from './membership.ts';
import { isLive, liveOverride } from './overrides.ts';
import { isUnchanged } from './unchanged.ts';

/** How a source states units, when it is not the plain way. */
export interface StateOptions {
  readonly mode?: ConflictMode;
  /** Its membership is to hold what sources state and nothing else. */
  readonly exclusive?: boolean;
  /** Units that other sources state otherwise are taken from them. */
  readonly force?: boolean;
  /** What other sources want this object to be and could not have. */
  readonly claimed?: readonly ClaimByOther[];
  /** The digest by which claimed values are compared. */
  digest?(path: string, value: Json): string;
  /** ISO 8601; overrides that end later hold. */
  readonly now?: string;
}

/** A unit that another source states, or wants, with another value. */
export interface UnitConflict {
  readonly path: string;
  readonly value: Json;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  /** The other source could not have its way either. */
  readonly claimed?: true;
}

/** A stated unit that keeps another value, and why. */
export interface LeftUnit {
  readonly path: string;
  readonly stated?: Json;
  readonly effective?: Json;
  readonly why: { readonly override: Override } | 'failsafe' | 'observed';
}

/** A unit taken from the source that stated it. */
export type Eviction = Pick<UnitConflict, 'path' | 'source' | 'file' | 'line'>;

/** What becomes of an object when a source states something about it. */
export interface Stated {
  readonly content: Content;
  /** Units that fell back to their default. */
  readonly resets: readonly string[];
  readonly conflicts: readonly UnitConflict[];
  readonly left: readonly LeftUnit[];
  /** Units that no source stated until now and that get another value. */
  readonly claimed: readonly string[];
  readonly evicted: readonly Eviction[];
  /** What the other sources state from now on. */
  readonly others: readonly Declaration[];
  /** The overrides that go on. */
  readonly overrides: readonly Override[];
}

/**
 * What an object says after a source states `stated`: stated units have the stated value, units it stated before and
 * does not state now are released, everything else is left alone.
 */
export function stateUnits(
  fields: Fields,
  object: StoredObject,
  source: string,
  stated: JsonObject,
  options: StateOptions = {},
): Stated {
  const others = object.declared.filter((declaration) => declaration.source !== source);
  const mine = object.declared.find((declaration) => declaration.source === source);
  if (isUnchanged(fields, object, mine, stated, options)) return unchanged(object, others);
  const step: Step = {
    ...{ fields, object, options, mine },
    now: unitsOf(fields, stated),
    before: unitsOf(fields, mine?.stated ?? {}),
    current: unitsOf(fields, completeSpec(object)),
    elsewhere: others.map((declaration) => ({ declaration, units: unitsOf(fields, declaration.stated) })),
    stated,
    ...{ changes: [], resets: [], conflicts: [], left: [], claimed: [], evicted: [] },
  };
  for (const path of step.before.keys()) if (!step.now.has(path)) release(step, path);
  for (const [path, value] of step.now) state(step, path, value);
  for (const name of exclusiveFields(fields, asDeclared(step))) takeOutOthers(step, name);
  const { changes, resets, conflicts, left, claimed, evicted } = step;
  return {
    ...{ resets, conflicts, left, claimed, evicted },
    content: applyUnits(fields, object, changes),
    others: evict(fields, others, evicted),
    overrides: (object.overrides ?? []).filter((override) => !isOver(step, override)),
  };
}

/** One call of `stateUnits`; the lists are filled as it goes. */
interface Step {
  readonly fields: Fields;
  readonly object: StoredObject;
  readonly options: StateOptions;
  readonly mine: Declaration | undefined;
  readonly stated: JsonObject;
  readonly now: ReadonlyMap<string, Json>;
  readonly before: ReadonlyMap<string, Json>;
  readonly current: ReadonlyMap<string, Json>;
  readonly elsewhere: readonly { readonly declaration: Declaration; readonly units: ReadonlyMap<string, Json> }[];
  readonly changes: UnitChange[];
  readonly resets: string[];
  readonly conflicts: UnitConflict[];
  readonly left: LeftUnit[];
  readonly claimed: string[];
  readonly evicted: Eviction[];
}

/**
 * A unit that the source releases returns to its default, unless another source states or claims it or it is
 * overridden.
 */
function release(step: Step, path: string): void {
  const { fields, object, options } = step;
  const isKept = statesElsewhere(step, path) || options.claimed?.some((unit) => unit.path === path) === true;
  if (isKept || liveOverride(object.overrides, path, nowOf(options)) !== undefined) return;
  const current = step.current.get(path);
  const released = releasedUnit(fields, path, current);
  if (released === undefined) return;
  if (isRestrictive(fields, path, current) && !isRestrictive(fields, path, released.after)) {
    step.left.push({ path, ...(current === undefined ? {} : { effective: current }), why: 'failsafe' });
    return;
  }
  step.changes.push(released);
  step.resets.push(path);
}

/** A unit that no source states any more: the change that it makes, `undefined` for none. */
export function releasedUnit(fields: Fields, path: string, current: Json | undefined): UnitChange | undefined {
  if (isMember(fields, path)) {
    const origins = Array.isArray(current) ? current.filter((origin) => origin !== sourceOrigin) : [];
    return origins.length === 0 ? { path } : { path, after: origins };
  }
  const reset = resetValue(fields, path);
  if (reset.keep) return undefined;
  return reset.value === undefined ? { path } : { path, after: reset.value };
}

function state(step: Step, path: string, value: Json): void {
  contest(step, path, value);
  const current = step.current.get(path);
  const target = statedValue(step.fields, path, value, current);
  if (equalJson(current, target)) return;
  const why = holdsAgainst(step, path, value);
  if (why !== undefined) {
    step.left.push({ path, stated: value, ...(current === undefined ? {} : { effective: current }), why });
    return;
  }
  contestClaims(step, path, value);
  step.changes.push({ path, after: target });
  if (!step.before.has(path) && !statesElsewhere(step, path)) step.claimed.push(path);
}

/** A membership element keeps the origins it has. */
export function statedValue(fields: Fields, path: string, value: Json, current: Json | undefined): Json {
  if (!isMember(fields, path)) return value;
  return [...new Set([...(Array.isArray(current) ? current.map(String) : []), sourceOrigin])].sort();
}

/** What keeps a unit from the value that is stated for it. */
function holdsAgainst({ fields, object, options, before, current }: Step, path: string, value: Json) {
  const override = liveOverride(object.overrides, path, nowOf(options));
  if (override !== undefined) return { override };
  if (isRestrictive(fields, path, current.get(path))) return 'failsafe' as const;
  return options.mode === 'observe' && equalJson(before.get(path), value) ? ('observed' as const) : undefined;
}

/** Finds who else states something different about a unit. */
function contest({ options, elsewhere, conflicts, evicted }: Step, path: string, value: Json): void {
  const against = otherwise(elsewhere, path, value);
  for (const { declaration } of against) {
    const { source, file, line } = declaration;
    if (options.force === true) evicted.push({ path, source, file, line });
    else conflicts.push({ path, value, source, file, line });
  }
}

function otherwise(elsewhere: Step['elsewhere'], path: string, value: Json): Step['elsewhere'] {
  return elsewhere.filter(({ units }) => units.has(path) && !equalJson(units.get(path), value));
}

/** Finds who else claims another value for a unit that is to change, and could not have it. */
function contestClaims({ options, elsewhere, conflicts }: Step, path: string, value: Json): void {
  if (options.force === true || otherwise(elsewhere, path, value).length > 0) return;
  const claimed = options.claimed?.find((unit) => unit.path === path && unit.digest !== options.digest?.(path, value));
  if (claimed === undefined) return;
  const { source, file, line } = claimed;
  conflicts.push({ path, value, source, file, line, claimed: true });
}

/** Takes out of a membership what no source states. */
function takeOutOthers(step: Step, name: string): void {
  const { object, options, mine, stated } = step;
  const isObserved =
    options.mode === 'observe' && mine?.exclusive === true && equalJson(mine.stated[name], stated[name]);
  for (const [path, effective] of step.current) {
    if (fieldOf(path) !== name || step.now.has(path) || statesElsewhere(step, path)) continue;
    const override = liveOverride(object.overrides, path, nowOf(options));
    if (override !== undefined) step.left.push({ path, effective, why: { override } });
    else if (isObserved) step.left.push({ path, effective, why: 'observed' });
    else step.changes.push({ path });
  }
}

/** Takes units out of what other sources state. */
function evict(fields: Fields, others: readonly Declaration[], evicted: readonly Eviction[]): readonly Declaration[] {
  if (evicted.length === 0) return others;
  return others.map((declaration) => {
    const lost = evicted.filter(({ source }) => source === declaration.source).map(({ path }) => ({ path }));
    return lost.length === 0 ? declaration : { ...declaration, stated: applyToSpec(fields, declaration.stated, lost) };
  });
}

function statesElsewhere({ elsewhere }: Step, path: string): boolean {
  return elsewhere.some(({ units }) => units.has(path));
}

/** An override that ended ends here only if this source has a say in the unit. */
function isOver(step: Step, override: Override): boolean {
  if (isLive(override, nowOf(step.options))) return false;
  const { path } = override;
  return (
    step.now.has(path) ||
    step.before.has(path) ||
    exclusiveFields(step.fields, asDeclared(step)).includes(fieldOf(path))
  );
}

/** What the source states from now on, as far as it matters here. */
function asDeclared({ options, stated }: Step): Pick<Declaration, 'exclusive' | 'stated'> {
  return { stated, ...(options.exclusive === true ? { exclusive: true } : {}) };
}

function nowOf({ now }: StateOptions): string {
  return now ?? '';
}

function unchanged(object: StoredObject, others: readonly Declaration[]): Stated {
  const nothing = { resets: [], conflicts: [], left: [], claimed: [], evicted: [], overrides: [] };
  return { ...nothing, content: pickContent(object), others };
}
