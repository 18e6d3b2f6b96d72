import type { Call, Engine } from '../../../commit/engine.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Kind } from '../../../model/declare/kind.ts';
import { HeddleError, InvalidInput, NotAllowed, NotFound } from '../../../model/errors.ts';
import { fieldsOn } from '../../../model/lower/shape.ts';
import type { Problem } from '../../../model/problem.ts';
import { prepareRequest } from '../../../model/schema/prepare.ts';
import { isTyped } from '../../../model/schema/validation/other-faults.ts';
import { createStoredValues } from '../../../model/schema/validation/stored-values.ts';
import type { Override, StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { diffUnits, unitsOf } from '../../../model/state/units.ts';
import { findObject, findObjectOfKinds } from '../../../objects/find-object.ts';
import { createKindReadCheck } from '../../../objects/object-list.ts';
import { contextOf, write } from '../../../objects/objects.ts';
import { type OverrideRequest, overrideRefusal } from '../../../objects/overrides.ts';
import type { ObjectOverrides, RunningOverride } from '../../../operations/config/overrides.ts';
import { isAllowed, requireRight } from '../../../plan/checks/authorize.ts';
import { approvalReasonsOf } from '../../../plan/finish.ts';
import { planEarlyEnd } from '../../../plan/ownership/expiry.ts';
import { isRestrictive } from '../../../plan/ownership/failsafe.ts';
import { exclusiveFields, fieldNameOf } from '../../../plan/ownership/membership.ts';
import { overridesOf, runningOverrides } from '../../../plan/ownership/running-overrides.ts';
import { planReplace, type RequestContext, type RequestOutcome } from '../../../plan/requests/requests.ts';
import { type Resolve, setValues, unchangedBody } from '../../../plan/requests/set-values.ts';
import { createLabeler, labelPath } from '../../../plan/view/view.ts';
import { findRevisionEffect } from '../plans/recover.ts';

/** An object as users name it: its kind, and its key, id or display name. */
export interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

/** Returns the running overrides of kinds that the caller may read: of one source, or of all. */
export async function listOverrides(
  engine: Engine,
  call: Call,
  source?: string,
): Promise<{ readonly revision: number; readonly overrides: readonly RunningOverride[] }> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const isReadable = createKindReadCheck(state, call);
  const now = await engine.databaseTime(engine.database, call.account);
  const running = runningOverrides(state, now, source);
  return { revision: state.revision, overrides: running.filter(({ kind }) => isReadable(engine.registry.get(kind))) };
}

/**
 * Overrides units of an object for a while, as a break-glass replacement through the API does, but with names instead
 * of ids. Entries that the override adds to a set are removed when it ends. Refused where no source states a value,
 * because nothing would restore it.
 */
export async function overrideObject(
  engine: Engine,
  call: Call,
  named: NamedObject,
  values: JsonObject,
  request: OverrideRequest,
): Promise<ObjectOverrides> {
  const kind = requireReplaceable(engine, named.kind);
  const since = await engine.databaseTime(engine.database, call.account);
  let lasting: readonly string[] = [];
  const written = await write(engine, call, kind, (state) => {
    const object = findOverridable(state, call, kind, named.name);
    const context = contextOf(engine, call, state, { strict: true, breakGlass: { ...request, since } });
    const { body, problems } = bodyOf(context, kind, object, values);
    if (problems.length > 0) return { ok: false, problems, id: object.id, ignored: [] };
    const outcome = planReplace(withTemporaryAdditions(context), kind, object, body);
    const judged = refuseUnstatedValues(state, kind, object, outcome, fieldsIn(values));
    lasting = judged.lasting;
    return judged.outcome;
  });
  return {
    revision: written.state.revision,
    overrides: overridesOf(written.state, written.object, since),
    lasting,
    notices: written.notices ?? [],
  };
}

/**
 * Ends overrides of an object before their time: the overrides of these paths, or all when `paths` is empty. The values
 * that sources state apply again.
 */
export async function endOverride(
  engine: Engine,
  call: Call,
  named: NamedObject,
  paths: readonly string[],
): Promise<ObjectOverrides> {
  const kind = requireReplaceable(engine, named.kind);
  const now = await engine.databaseTime(engine.database, call.account);
  const { newId, planEnvironment } = engine;
  const written = await write(engine, call, kind, (state) => {
    const object = findOverridable(state, call, kind, named.name);
    if (!isAllowed(state, call.actor, 'config', 'update')) throw new NotAllowed(overrideRefusal);
    const label = createLabeler(state, state);
    const isAsked = ({ path }: Override) =>
      paths.length === 0 || [path, labelPath(path, label), fieldNameOf(path)].some((one) => paths.includes(one));
    if (!(object.overrides ?? []).some(isAsked))
      throw new NotFound(
        `no override sets ${paths.length === 0 ? 'anything' : paths.join(', ')} of ${kind.name} ${object.key ?? object.name}; \`heddle override list\` shows the active overrides`,
      );
    const input = { snapshot: state, now, newId, planEnvironment, actor: call.actor, isOver: isAsked };
    return { ...planEarlyEnd(input, object), id: object.id, ignored: [] };
  });
  return {
    revision: written.state.revision,
    overrides: overridesOf(written.state, written.object, now),
    lasting: [],
    notices: written.notices ?? [],
  };
}

/**
 * Returns the result of an earlier attempt, which wrote this revision, to override values of an object or (without any
 * values) to end overrides. Used when the answer of that attempt was lost. Returns `undefined` when the history does
 * not contain enough.
 */
export async function findOverridden(
  engine: Engine,
  call: Call,
  named: NamedObject,
  values: JsonObject,
  revision: number,
): Promise<ObjectOverrides | undefined> {
  const kind = requireReplaceable(engine, named.kind);
  requireRight(await engine.snapshots.fresh(call.account), call.actor, kind.module, 'update');
  const done = await findRevisionEffect(engine, call, revision);
  if (done === undefined) return undefined;
  const { before, after, changes } = done;
  const object = findOverridable(before, call, kind, named.name);
  const result = after.get(object.id);
  if (result === undefined) return undefined;
  const { lasting } = unitsNotOverridden(kind, object, result, fieldsIn(values));
  const label = createLabeler(before, after);
  return {
    revision,
    overrides: overridesOf(after, result, result.updatedAt),
    lasting: lasting.map((path) => labelPath(path, label)),
    notices: changes.flatMap((change) => approvalReasonsOf(before, change)),
  };
}

/**
 * Returns the kind. Throws `InvalidInput` unless the API can replace its objects: other objects change only through
 * their documents.
 */
function requireReplaceable({ registry }: Engine, name: string): Kind {
  const kind = registry.find(name);
  if (kind === undefined) throw new InvalidInput(`unknown kind ${name}; known are ${registry.names.join(', ')}`);
  if (kind.path !== undefined && kind.verbs.includes('replace')) return kind;
  throw new InvalidInput(
    `${kind.name} cannot be changed through the API, so it cannot be overridden; change its document`,
  );
}

function findOverridable(state: Snapshot, call: Call, kind: Kind, name: string): StoredObject {
  const object = findObject(state, `${kind.name}/${name}`, createKindReadCheck(state, call));
  requireRight(state, call.actor, kind.module, 'update');
  return object;
}

/** Makes additions next to the stated values part of the override, so that they are removed when it ends. */
function withTemporaryAdditions({ breakGlass, ...context }: RequestContext): RequestContext {
  return breakGlass === undefined ? context : { ...context, breakGlass: { ...breakGlass, additions: true } };
}

/** Returns the body of the API request that would set these values. */
function bodyOf(
  { snapshot, validator }: RequestContext,
  kind: Kind,
  object: StoredObject,
  values: JsonObject,
): { readonly body: JsonObject; readonly problems: readonly Problem[] } {
  const shown = unchangedBody(snapshot, object);
  // Names have the same JSON type as ids, so the shape is checked first and names are looked up only in a body of the
  // right shape.
  const raw = setValues(kind, shown, values, (_, text) => text);
  const stored = createStoredValues(object.spec);
  const prepared = prepareRequest(fieldsOn(kind, 'replace'), new Set(), raw.body, stored);
  const shape = [...prepared.faults, ...validator.check(kind.name, 'replace', prepared.body, stored)];
  const wrong = [...raw.faults, ...(isTyped(shape) ? [] : shape)];
  if (wrong.length > 0) return { body: shown, problems: wrong.map((fault) => ({ ...fault, kind: kind.name })) };
  const problems: Problem[] = [];
  const resolve: Resolve = (target, text, path) => {
    try {
      return findObjectOfKinds(snapshot, text, [target]).id;
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      problems.push({ code: 'reference_unknown', kind: kind.name, path: `/${path}`, message: error.message });
      return text;
    }
  };
  return { body: setValues(kind, shown, values, resolve).body, problems };
}

/** Refuses a plan that changes values which no source states, or that neither changes nor overrides any value. */
function refuseUnstatedValues(
  state: Snapshot,
  kind: Kind,
  before: StoredObject,
  outcome: RequestOutcome,
  asked: ReadonlySet<string>,
): { readonly outcome: RequestOutcome; readonly lasting: readonly string[] } {
  if (!outcome.ok) return { outcome, lasting: [] };
  const after = outcome.next.get(before.id) ?? before;
  const label = createLabeler(state, outcome.next);
  const { loose, lasting } = unitsNotOverridden(kind, before, after, asked);
  const unstated = loose.filter((path) => !lasting.includes(path) && !isStated(kind, before, path));
  const name = `${kind.name} ${before.key ?? before.name}`;
  const refused = (message: string): RequestOutcome => ({
    ...{ ok: false, id: before.id, ignored: [] },
    problems: [{ code: 'not_stated', kind: kind.name, key: before.key ?? before.name, message }],
  });
  if (unstated.length > 0) {
    const what = unstated.map((path) => labelPath(path, label)).join(', ');
    const message = `no source states ${what} of ${name}, so no source would restore it after the override; change it through the API, or state it in a document first`;
    return { outcome: refused(message), lasting: [] };
  }
  if (loose.length === 0 && (after.overrides ?? []).length === 0)
    return { outcome: refused(`${name} has these values already, so there is nothing to override`), lasting: [] };
  return { outcome, lasting: lasting.map((path) => labelPath(path, label)) };
}

/**
 * Returns the paths of requested units that changed without becoming an override (`loose`), and the units among them
 * that keep their new value because it restricts (`lasting`).
 */
function unitsNotOverridden(
  kind: Kind,
  before: StoredObject,
  after: StoredObject,
  asked: ReadonlySet<string>,
): { readonly loose: readonly string[]; readonly lasting: readonly string[] } {
  const held = new Set((after.overrides ?? []).map(({ path }) => path));
  const loose = diffUnits(kind.spec, before, after).filter(
    ({ path }) => asked.has(fieldNameOf(path)) && !held.has(path),
  );
  const lasting = loose.filter((unit) => isRestrictive(kind.spec, unit.path, unit.after));
  return { loose: loose.map(({ path }) => path), lasting: lasting.map(({ path }) => path) };
}

/** Returns the fields that a body names by paths of units. */
function fieldsIn(values: JsonObject): ReadonlySet<string> {
  return new Set(Object.keys(values).map((path) => path.replace(/[.[].*$/s, '')));
}

function isStated({ spec: fields }: Kind, { declared }: StoredObject, path: string): boolean {
  return declared.some(
    (by) => unitsOf(fields, by.stated).has(path) || exclusiveFields(fields, by).includes(fieldNameOf(path)),
  );
}
