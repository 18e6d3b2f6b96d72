import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { defaultSettings } from '../../src/model/sources/settings.ts';
import { completeSpec, originsOf, withMemberEdits } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { unitsOf } from '../../src/model/state/units.ts';
import { planDocuments } from '../../src/plan/documents/documents.ts';
import { finishPlan } from '../../src/plan/finish.ts';
import type { PendingClaim } from '../../src/plan/ownership/claims-of-others.ts';
import { planDetach } from '../../src/plan/ownership/detach.ts';
import { planExpiry } from '../../src/plan/ownership/expiry.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import type { BreakGlass } from '../../src/plan/requests/break-glass.ts';
import { planCreate, planDelete, planReplace } from '../../src/plan/requests/requests.ts';
import { planRollback } from '../../src/plan/rollback/rollback.ts';
import { worldRegistry } from './kinds.ts';
import type { How, Said, Value, World } from './model.ts';

const validator = createValidator(worldRegistry);
const thingKind = worldRegistry.get('Thing');
const { spec: fields } = thingKind;

const people = ['p1', 'p2', 'p3'];

const times = new Map<number, string>();

/** Returns the time, in ISO 8601, that is a number of minutes after the start. */
export function timeAt(minutes: number): string {
  const known = times.get(minutes) ?? new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
  times.set(minutes, known);
  return known;
}

/** Returns an account with three persons, and sources with these conflict modes. */
export function newAccount(modes: ReadonlyMap<string, How['mode']>): Snapshot {
  const persons = people.map((id) => stored('Person', id, { name: id }));
  const settings = new Map([...modes].map(([source, conflictMode]) => [source, { ...defaultSettings, conflictMode }]));
  return emptySnapshot(worldRegistry, 'acc').with({ put: persons, remove: [] }).withSettings(settings);
}

function stored(kind: string, id: string, spec: JsonObject): StoredObject {
  const at = timeAt(0);
  return {
    ...{ id, kind, key: id, name: id, spec, derived: {}, protected: false, declared: [] },
    ...{ createdRevision: 0, updatedRevision: 0, createdAt: at, updatedAt: at },
  };
}

/**
 * Returns the documents of a source. The position of each document is fixed by its key, because a changed position is
 * stored without a history entry.
 */
export function documentsOf(said: ReadonlyMap<string, Said>): readonly Document[] {
  return [...said].map(([key, { units, exclusive }]) => ({
    kind: 'Thing',
    metadata: { name: key, ...(exclusive ? { annotations: { 'heddle.dev/membership': 'exclusive' } } : {}) },
    spec: { ...(exclusive ? { crew: [] } : {}), ...specOf(units) },
    position: { file: `${key}.yaml`, line: 1, index: 0, pointer: '' },
  }));
}

/** Returns the request body for these units after a change. */
export function bodyOf(units: ReadonlyMap<string, Value>, change: ReadonlyMap<string, Value | undefined>): JsonObject {
  const asked = new Map(units);
  for (const [path, value] of change) {
    if (value === undefined) asked.delete(path);
    else asked.set(path, value);
  }
  return specOf(asked);
}

/** Returns the spec, for a document or a request body, that contains these units. */
function specOf(units: ReadonlyMap<string, Value>): JsonObject {
  const spec: Record<string, Json> = {};
  for (const [path, value] of units) {
    const [name = '', element = ''] = path.split(/[[\]]/);
    const list = (spec[name] ?? []) as readonly Json[];
    if (element === '') spec[name] = value;
    else spec[name] = [...list, name === 'steps' ? { name: element, at: value } : element];
  }
  return spec;
}

function idsOn(state: Snapshot): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${state.revision}-${count}`;
  };
}

/** Options for planning documents. */
export interface ApplyOptions {
  readonly force: boolean;
  readonly now: number;
  readonly claimed: readonly PendingClaim[];
}

export function applyTo(
  snapshot: Snapshot,
  source: string,
  documents: readonly Document[],
  { force, now, claimed }: ApplyOptions,
): PlanOutcome {
  return finished(
    planDocuments({
      ...{ snapshot, validator, source, documents, force, claimed },
      ...{ prune: true, allowEmpty: true, now: timeAt(now), newId: idsOn(snapshot) },
    }),
  );
}

const caller = (snapshot: Snapshot, now: number) => ({
  ...{ snapshot, validator, strict: false, now: timeAt(now), newId: idsOn(snapshot) },
});

export function replaceIn(snapshot: Snapshot, id: string, body: JsonObject, now: number, end?: number): PlanOutcome {
  const before = snapshot.get(id);
  if (before === undefined) throw new Error(`there is no ${id}`);
  const breakGlass: BreakGlass | undefined =
    end === undefined ? undefined : { by: { id: 'u', name: 'u' }, reason: 'r', since: timeAt(now), until: timeAt(end) };
  const context = { ...caller(snapshot, now), ...(breakGlass === undefined ? {} : { breakGlass }) };
  return planReplace(context, thingKind, before, { name: before.name, ...body });
}

export function createIn(snapshot: Snapshot, name: string, body: JsonObject, now: number): PlanOutcome {
  return planCreate(caller(snapshot, now), thingKind, { name, ...body });
}

export function deleteIn(snapshot: Snapshot, id: string, now: number): PlanOutcome {
  const before = snapshot.get(id);
  if (before === undefined) throw new Error(`there is no ${id}`);
  return planDelete(caller(snapshot, now), thingKind, before);
}

export function expireIn(snapshot: Snapshot, now: number): PlanOutcome {
  return planExpiry({ snapshot, now: timeAt(now), newId: idsOn(snapshot) });
}

export function detachIn(snapshot: Snapshot, source: string): PlanOutcome {
  return planDetach({ snapshot, source, newId: idsOn(snapshot) });
}

/** Plans the enrolment of a person, who becomes a member of the thing. */
export function joined(snapshot: Snapshot, id: string, person: string): PlanOutcome {
  const before = snapshot.get(id);
  if (before === undefined)
    return { ok: false, problems: [{ code: 'object_pending', message: `there is no ${id} any more` }] };
  const origins = [...new Set([...originsOf(before, 'crew', person), 'enrolment'])].sort();
  const edits = [{ before, after: withMemberEdits(before, 'crew', [[person, origins]]) }];
  return finishPlan({ snapshot, edits, newId: idsOn(snapshot), locate: (_, { code, message }) => ({ code, message }) });
}

/** Plans a rollback of everything to a past state. */
export function rollBackIn(snapshot: Snapshot, past: Snapshot, now: number): PlanOutcome {
  return finished(planRollback({ snapshot, past, scope: 'all', now: timeAt(now), newId: idsOn(snapshot) }));
}

/** Runs a generator that yields now and then to its end, and returns its result. */
export function finished<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Returns the thing with a name, regardless of its creator. */
export function thingIn(snapshot: Snapshot, name: string): StoredObject | undefined {
  return snapshot.lookUp('Thing', 'name', name)[0];
}

/** Returns the model's world for a state. */
export function worldOf(snapshot: Snapshot): World {
  return new Map(
    [...snapshot.ofKind('Thing')]
      .sort(byName)
      .map(({ name, key, owner, spec, members = {}, declared, overrides = [] }) => [
        name,
        {
          ...{ units: unitsIn(completeSpec({ spec, members }), false), owner, keyed: key !== undefined },
          declared: new Map(
            declared.map(({ source, stated, exclusive = false }) => [
              source,
              { units: unitsIn(stated, true), exclusive },
            ]),
          ),
          held: new Map(
            overrides.map(({ path, until }) => [path, (Date.parse(until) - Date.parse(timeAt(0))) / 60_000]),
          ),
        },
      ]),
  );
}

function byName(a: StoredObject, b: StoredObject): number {
  return a.name < b.name ? -1 : 1;
}

/** Returns a state as text lines that can be compared with the lines of the model. */
export function linesOfState(snapshot: Snapshot): string {
  return [...snapshot.ofKind('Thing')]
    .sort(byName)
    .map(({ name, key, owner, spec, members = {}, declared, overrides = [] }) => {
      const said = declared.map(
        ({ source, stated, exclusive }) => `${source}${exclusive === true ? '!' : ''}(${flat(stated, true)})`,
      );
      const held = overrides.map(({ path, until }) => `${path}<${until}`);
      return lineOf(name, key !== undefined, owner, flat(completeSpec({ spec, members }), false), said, held);
    })
    .join('\n');
}

/** Returns one line that describes a thing. */
export function lineOf(
  name: string,
  keyed: boolean,
  owner: string | undefined,
  units: string,
  said: readonly string[],
  held: readonly string[],
): string {
  return `${name} ${keyed ? 'keyed' : 'free'} of ${owner ?? 'none'}: ${units} | ${[...said].sort().join(' ')} | ${[...held].sort().join(' ')}`;
}

function flat(spec: JsonObject, isStated: boolean): string {
  return [...unitsIn(spec, isStated)]
    .map(([path, value]) => `${path}=${value}`)
    .sort()
    .join(' ');
}

function unitsIn(spec: JsonObject, isStated: boolean): Map<string, Value> {
  const units = new Map<string, Value>();
  for (const [path, value] of unitsOf(fields, spec)) {
    if (path === 'name') continue;
    if (path.startsWith('crew[')) units.set(path, isStated || String(value));
    // The kind has no other types of values.
    else units.set(path, path.startsWith('steps[') ? Number((value as JsonObject)['at']) : (value as Value));
  }
  return units;
}
