import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Fields } from '../../model/schema/field.ts';
import type { ConflictMode } from '../../model/sources/settings.ts';
import { type Content, completeSpec, pickContent } from '../../model/state/members.ts';
import type { Declaration, Override, StoredObject } from '../../model/state/object.ts';
import { applyToSpec, applyUnits, resetValue, type UnitChange, unitsOf } from '../../model/state/units.ts';
import type { ClaimByOther } from './claims-of-others.ts';
import { isRestrictive } from './failsafe.ts';
import { exclusiveFields, fieldNameOf, isMember, sourceOrigin } from './membership.ts';
import { isLive, liveOverride } from './overrides.ts';
import { isUnchanged } from './unchanged.ts';

/** Options for stating units. All have defaults. */
export interface StateOptions {
  readonly mode?: ConflictMode;
  /** Whether stated memberships may contain only members that sources state. */
  readonly exclusive?: boolean;
  /** Whether units that other sources state with other values are taken from these sources. */
  readonly force?: boolean;
  /** Claims of other sources on this object that could not be applied. */
  readonly claimed?: readonly ClaimByOther[];
  /** Returns the digest by which claimed values are compared. */
  digest?(path: string, value: Json): string;
  /** Current time, in ISO 8601. Overrides that end later are in effect. */
  readonly now?: string;
}

/** A unit that another source states or claims with another value. */
export interface UnitConflict {
  readonly path: string;
  readonly value: Json;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  /** True when the other source only claims its value, and could not apply it either. */
  readonly claimed?: true;
}

/** A stated unit that keeps another value, with the reason. */
export interface KeptUnit {
  readonly path: string;
  readonly stated?: Json;
  readonly effective?: Json;
  readonly why: { readonly override: Override } | 'failsafe' | 'observed';
}

/** A unit taken by force from the source that stated it. */
export type Eviction = Pick<UnitConflict, 'path' | 'source' | 'file' | 'line'>;

/** Result of stating values on an object. */
export interface StateResult {
  readonly content: Content;
  /** Paths of units that returned to their default. */
  readonly resets: readonly string[];
  readonly conflicts: readonly UnitConflict[];
  readonly left: readonly KeptUnit[];
  /** Paths of units that no source stated before and that get another value. */
  readonly claimed: readonly string[];
  readonly evicted: readonly Eviction[];
  /** Declarations of the other sources afterwards. */
  readonly others: readonly Declaration[];
  /** Overrides that remain. */
  readonly overrides: readonly Override[];
}

/**
 * Computes the content of an object after a source states `stated`. Stated units get the stated value, units that the
 * source stated before and does not state now are released, and all other units stay unchanged.
 */
export function stateUnits(
  fields: Fields,
  object: StoredObject,
  source: string,
  stated: JsonObject,
  options: StateOptions = {},
): StateResult {
  const others = object.declared.filter((declaration) => declaration.source !== source);
  const mine = object.declared.find((declaration) => declaration.source === source);
  if (isUnchanged(fields, object, mine, stated, options)) return unchangedResult(object, others);
  const step: Step = {
    ...{ fields, object, options, mine },
    now: unitsOf(fields, stated),
    before: unitsOf(fields, mine?.stated ?? {}),
    current: unitsOf(fields, completeSpec(object)),
    elsewhere: others.map((declaration) => ({ declaration, units: unitsOf(fields, declaration.stated) })),
    stated,
    ...{ changes: [], resets: [], conflicts: [], left: [], claimed: [], evicted: [] },
  };
  for (const path of step.before.keys()) if (!step.now.has(path)) releaseUnit(step, path);
  for (const [path, value] of step.now) stateUnit(step, path, value);
  for (const name of exclusiveFields(fields, asDeclared(step))) removeUnstatedMembers(step, name);
  const { changes, resets, conflicts, left, claimed, evicted } = step;
  return {
    ...{ resets, conflicts, left, claimed, evicted },
    content: applyUnits(fields, object, changes),
    others: removeEvictedUnits(fields, others, evicted),
    overrides: (object.overrides ?? []).filter((override) => !endsOverride(step, override)),
  };
}

/** State of one call of `stateUnits`, which fills the lists. */
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
  readonly left: KeptUnit[];
  readonly claimed: string[];
  readonly evicted: Eviction[];
}

/**
 * Resets a unit that the source releases to its default, unless another source states or claims the unit or it is
 * overridden.
 */
function releaseUnit(step: Step, path: string): void {
  const { fields, object, options } = step;
  const isKept = isStatedElsewhere(step, path) || options.claimed?.some((unit) => unit.path === path) === true;
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

/** Returns the change of a unit that no source states any more; `undefined` when its value stays. */
export function releasedUnit(fields: Fields, path: string, current: Json | undefined): UnitChange | undefined {
  if (isMember(fields, path)) {
    const origins = Array.isArray(current) ? current.filter((origin) => origin !== sourceOrigin) : [];
    return origins.length === 0 ? { path } : { path, after: origins };
  }
  const reset = resetValue(fields, path);
  if (reset.keep) return undefined;
  return reset.value === undefined ? { path } : { path, after: reset.value };
}

function stateUnit(step: Step, path: string, value: Json): void {
  contestDeclarations(step, path, value);
  const current = step.current.get(path);
  const target = statedValue(step.fields, path, value, current);
  if (equalJson(current, target)) return;
  const why = reasonToKeep(step, path, value);
  if (why !== undefined) {
    step.left.push({ path, stated: value, ...(current === undefined ? {} : { effective: current }), why });
    return;
  }
  contestClaims(step, path, value);
  step.changes.push({ path, after: target });
  if (!step.before.has(path) && !isStatedElsewhere(step, path)) step.claimed.push(path);
}

/** Returns the value that a unit gets when it is stated. A member keeps the origins that it has. */
export function statedValue(fields: Fields, path: string, value: Json, current: Json | undefined): Json {
  if (!isMember(fields, path)) return value;
  return [...new Set([...(Array.isArray(current) ? current.map(String) : []), sourceOrigin])].sort();
}

/**
 * Returns the reason why a unit keeps its value instead of the stated value; `undefined` when the stated value applies.
 */
function reasonToKeep({ fields, object, options, before, current }: Step, path: string, value: Json) {
  const override = liveOverride(object.overrides, path, nowOf(options));
  if (override !== undefined) return { override };
  if (isRestrictive(fields, path, current.get(path))) return 'failsafe' as const;
  return options.mode === 'observe' && equalJson(before.get(path), value) ? ('observed' as const) : undefined;
}

/** Records the other sources that state another value for a unit: as evictions with `force`, else as conflicts. */
function contestDeclarations({ options, elsewhere, conflicts, evicted }: Step, path: string, value: Json): void {
  const against = statedDifferently(elsewhere, path, value);
  for (const { declaration } of against) {
    const { source, file, line } = declaration;
    if (options.force === true) evicted.push({ path, source, file, line });
    else conflicts.push({ path, value, source, file, line });
  }
}

function statedDifferently(elsewhere: Step['elsewhere'], path: string, value: Json): Step['elsewhere'] {
  return elsewhere.filter(({ units }) => units.has(path) && !equalJson(units.get(path), value));
}

/**
 * Records a conflict when another source claims another value for a unit that is about to change, and could not apply
 * it.
 */
function contestClaims({ options, elsewhere, conflicts }: Step, path: string, value: Json): void {
  if (options.force === true || statedDifferently(elsewhere, path, value).length > 0) return;
  const claimed = options.claimed?.find((unit) => unit.path === path && unit.digest !== options.digest?.(path, value));
  if (claimed === undefined) return;
  const { source, file, line } = claimed;
  conflicts.push({ path, value, source, file, line, claimed: true });
}

/** Removes the members of a membership that no source states. */
function removeUnstatedMembers(step: Step, name: string): void {
  const { object, options, mine, stated } = step;
  const isObserved =
    options.mode === 'observe' && mine?.exclusive === true && equalJson(mine.stated[name], stated[name]);
  for (const [path, effective] of step.current) {
    if (fieldNameOf(path) !== name || step.now.has(path) || isStatedElsewhere(step, path)) continue;
    const override = liveOverride(object.overrides, path, nowOf(options));
    if (override !== undefined) step.left.push({ path, effective, why: { override } });
    else if (isObserved) step.left.push({ path, effective, why: 'observed' });
    else step.changes.push({ path });
  }
}

/** Removes evicted units from the declarations of the other sources. */
function removeEvictedUnits(
  fields: Fields,
  others: readonly Declaration[],
  evicted: readonly Eviction[],
): readonly Declaration[] {
  if (evicted.length === 0) return others;
  return others.map((declaration) => {
    const lost = evicted.filter(({ source }) => source === declaration.source).map(({ path }) => ({ path }));
    return lost.length === 0 ? declaration : { ...declaration, stated: applyToSpec(fields, declaration.stated, lost) };
  });
}

function isStatedElsewhere({ elsewhere }: Step, path: string): boolean {
  return elsewhere.some(({ units }) => units.has(path));
}

/** Whether this call ends an expired override: only when this source states, or stated, the unit. */
function endsOverride(step: Step, override: Override): boolean {
  if (isLive(override, nowOf(step.options))) return false;
  const { path } = override;
  return (
    step.now.has(path) ||
    step.before.has(path) ||
    exclusiveFields(step.fields, asDeclared(step)).includes(fieldNameOf(path))
  );
}

/** Returns the parts of the new declaration that `exclusiveFields` needs. */
function asDeclared({ options, stated }: Step): Pick<Declaration, 'exclusive' | 'stated'> {
  return { stated, ...(options.exclusive === true ? { exclusive: true } : {}) };
}

function nowOf({ now }: StateOptions): string {
  return now ?? '';
}

function unchangedResult(object: StoredObject, others: readonly Declaration[]): StateResult {
  const nothing = { resets: [], conflicts: [], left: [], claimed: [], evicted: [], overrides: [] };
  return { ...nothing, content: pickContent(object), others };
}
