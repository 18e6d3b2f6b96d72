import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/actor.ts';
import { canonicalSpec } from '../model/canonical.ts';
import { type AnyField, entriesOf, type Fields, isEmpty } from '../model/field.ts';
import type { Fault, Kind } from '../model/kind.ts';
import { fieldsOn, isEchoed } from '../model/lower/shape.ts';
import { bareMeans, type Means } from '../model/means.ts';
import { normalize } from '../model/normalize.ts';
import type { StoredObject } from '../model/object.ts';
import { prepareRequest } from '../model/prepare.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { mapReferences } from '../model/references.ts';
import { sealSecrets } from '../model/secrets.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { formatFaultsBeside, isTyped, ruleFaultsBeside } from '../model/spec-faults.ts';
import type { Validator } from '../model/validate.ts';
import { createIdGiver } from '../model/wire-id.ts';
import { matchEntries } from './entries.ts';
import { finishPlan } from './finish.ts';
import { consequenceProblems, managedProblems, ownedProblems } from './managed.ts';
import type { Outcome } from './plan.ts';
import { unknownReference } from './rules.ts';

/** The circumstances of an imperative request. */
export interface RequestContext {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  /** Unknown members are problems instead of being left out. */
  readonly strict: boolean;
  /** ISO 8601. */
  readonly now: string;
  newId(): string;
  readonly means?: Means;
  readonly actor?: Actor;
}

/** The outcome of a request, the object it is about, and the members of the body that nothing knows. */
export type RequestOutcome = Outcome & { readonly id: string; readonly ignored: readonly string[] };

/** The origin of membership elements that requests put there. */
const apiOrigin = 'api';

/** What the server decides about a new object beside its request. */
export type Seed = Partial<Pick<StoredObject, 'id' | 'key' | 'derived'>>;

/** Plans the creation of one object from a request body. `parent` is the id of the parent of a child. */
export function planCreate(
  context: RequestContext,
  kind: Kind,
  body: JsonObject,
  parent?: string,
  seed: Seed = {},
): RequestOutcome {
  const { snapshot } = context;
  const id = seed.id ?? createIdGiver((name) => snapshot.lastNumber(name), context.newId)(kind);
  const read = readBody(context, kind, body, undefined);
  const stated = parent === undefined ? read.spec : { ...read.spec, [kind.parent?.field ?? '']: parent };
  if (read.faults.length > 0) return refused(kind, withRules(kind, stated, read.faults), id, read.ignored);
  const canonical = canonicalSpec(kind, stated);
  const spec = mergeMembers(kind.spec, {}, canonical.spec);
  const after: StoredObject = {
    id,
    kind: kind.name,
    ...(parent === undefined ? {} : { parent }),
    name: String(spec[kind.nameField] ?? ''),
    spec,
    derived: {},
    ...seed,
    protected: false,
    createdRevision: 0,
    updatedRevision: 0,
    createdAt: context.now,
    updatedAt: context.now,
    declared: [],
  };
  const outcome = guarded(finishPlan({ ...finishing(context, kind), edits: [{ after, given: read.given }] }));
  return { ...outcome, id, ignored: read.ignored };
}

/**
 * Plans the replacement of one object: absent optional fields return to their default, except those that say otherwise.
 * An object that is only implied is made by its first change.
 */
export function planReplace(
  context: RequestContext,
  kind: Kind,
  before: StoredObject,
  body: JsonObject,
): RequestOutcome {
  const read = readBody(context, kind, body, before);
  if (!isTyped(read.faults)) return refused(kind, read.faults, before.id, read.ignored);
  const kept = keepStored(kind, before, read.spec);
  const entries = matchEntries(kind, before, read.spec);
  const faults = [...read.faults, ...entries.faults];
  if (faults.length > 0) return refused(kind, withRules(kind, kept, faults), before.id, read.ignored);
  const canonical = canonicalSpec(kind, kept);
  const spec = mergeMembers(kind.spec, before.spec, canonical.spec);
  const managed = managedProblems(kind, before, spec);
  if (managed.length > 0) return { ok: false, problems: managed, id: before.id, ignored: read.ignored };
  const derived = entries.ids === undefined ? before.derived : { ...before.derived, entry_ids: entries.ids };
  const same = equalJson(spec, before.spec) && equalJson(derived, before.derived);
  const after: StoredObject = {
    ...before,
    name: String(spec[kind.nameField] ?? ''),
    spec,
    derived,
    updatedAt: context.now,
  };
  const implied = context.snapshot.get(before.id) === undefined;
  const edits = [
    implied && !same
      ? { after: withKey(kind, after), given: read.given }
      : { before, after: same ? before : after, given: read.given },
  ];
  const outcome = guarded(finishPlan({ ...finishing(context, kind), edits }));
  return { ...outcome, id: before.id, ignored: read.ignored };
}

/** What there is one of has its key from the start. */
function withKey({ singleton }: Kind, object: StoredObject): StoredObject {
  return singleton === undefined ? object : { ...object, key: singleton };
}

/** Plans the deletion of one object with its children. */
export function planDelete(context: RequestContext, kind: Kind, before: StoredObject): RequestOutcome {
  const { snapshot } = context;
  const leaving = withChildren(snapshot, before);
  const managed = leaving.flatMap((object) =>
    ownedProblems(snapshot.registry.get(object.kind), object, object === before ? 'itself' : 'along'),
  );
  if (managed.length > 0) return { ok: false, problems: sortProblems(managed), id: before.id, ignored: [] };
  const edits = leaving.map((object) => ({ before: object }));
  return { ...guarded(finishPlan({ ...finishing(context, kind), edits })), id: before.id, ignored: [] };
}

/** A plan whose consequences take or change what sources state is refused. */
function guarded(outcome: Outcome): Outcome {
  if (!outcome.ok) return outcome;
  const problems = consequenceProblems(outcome.plan.changes, outcome.next);
  return problems.length === 0 ? outcome : { ok: false, problems: sortProblems(problems) };
}

interface Body {
  readonly spec: JsonObject;
  readonly given: JsonObject;
  readonly faults: readonly Fault[];
  readonly ignored: readonly string[];
}

/** What every request's plan is finished with. */
function finishing({ snapshot, now, newId, means, actor }: RequestContext, kind: Kind) {
  return {
    ...{ snapshot, now, newId, locate: locateIn(kind) },
    ...(means === undefined ? {} : { means }),
    ...(actor === undefined ? {} : { actor }),
  };
}

/** Prepares, validates, resolves and seals a request body. References are ids here, and must exist. */
function readBody(context: RequestContext, kind: Kind, body: JsonObject, before: StoredObject | undefined): Body {
  const surface = before === undefined ? 'request' : 'replace';
  const fields = fieldsOn(kind, surface);
  const prepared = prepareRequest(fields, readOnlyMembers(context.snapshot, kind, fields), body);
  const unknown = context.strict
    ? prepared.ignored.map((path) => ({
        code: 'field_unknown',
        path,
        message: `unknown field \`${path.slice(1)}\`; remove it`,
      }))
    : [];
  const { ignored } = prepared;
  const stated = Object.fromEntries(Object.entries(prepared.body).filter(([name]) => !(name in (kind.inputs ?? {}))));
  const shape = [...prepared.faults, ...unknown, ...context.validator.check(kind.name, surface, prepared.body)];
  if (!isTyped(shape)) return { spec: stated, given: {}, faults: shape, ignored };
  const inputs = normalize(kind.inputs ?? {}, prepared.body);
  const sealed = sealSecrets(kind.spec, stated, before?.spec, context.means ?? bareMeans, 'request');
  const deeper = [
    ...formatFaultsBeside(kind, stated, shape),
    ...inputs.faults,
    ...sealed.faults,
    ...unknownIds(context.snapshot, kind.spec, sealed.spec),
    ...unknownIds(context.snapshot, kind.inputs ?? {}, inputs.spec),
  ];
  return { spec: sealed.spec, given: inputs.spec, faults: [...shape, ...deeper], ignored };
}

function withRules(kind: Kind, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  return [...faults, ...ruleFaultsBeside(kind, spec, faults)];
}

/** Members that answers show and that clients may send back: they change nothing, and nobody is told. */
function readOnlyMembers(snapshot: Snapshot, kind: Kind, writable: Fields): ReadonlySet<string> {
  const children = snapshot.registry.inlineOf(kind.name).map(({ member }) => member);
  const fixed = Object.keys(kind.spec).filter((name) => !(name in writable));
  return new Set(['id', ...Object.keys(kind.computed), ...children, ...fixed]);
}

function unknownIds(snapshot: Snapshot, fields: Fields, spec: JsonObject): readonly Fault[] {
  const faults: Fault[] = [];
  mapReferences(fields, spec, ({ kind: target, text, pointer }) => {
    const object = snapshot.get(text);
    if (object === undefined || object.kind !== target)
      faults.push({ ...unknownReference(text, target, []), path: pointer });
    return text;
  });
  return faults;
}

/** The body with what a replace leaves alone: fields that it keeps, fields that only creation or the server writes. */
function keepStored(kind: Kind, before: StoredObject, body: JsonObject): JsonObject {
  const parent = kind.parent?.field;
  const writable = fieldsOn(kind, 'replace');
  const fixed = Object.entries(before.spec).filter(
    ([name]) => name === parent || writable[name] === undefined || isEchoed(writable[name], 'replace'),
  );
  return {
    ...keepFields(writable, before.spec, body, kind.merge === true),
    ...keptChoices(writable, before, body),
    ...Object.fromEntries(fixed),
  };
}

/** What the server may choose stays, when the body leaves the choice to it again or sends back what it chose. */
function keptChoices(fields: Fields, { spec, derived }: StoredObject, body: JsonObject): JsonObject {
  const kept = entriesOf(fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
    const { serverChosen } = field;
    const stored = spec[name];
    if (serverChosen === undefined || stored === undefined) return [];
    const given = body[name] ?? serverChosen;
    const isAnswer = equalJson(stored, serverChosen) && equalJson(given, derived[name]);
    return isAnswer || equalJson(given, serverChosen) ? [[name, stored]] : [];
  });
  return Object.fromEntries(kept);
}

function keepFields(fields: Fields, before: JsonObject, body: JsonObject, merge: boolean): JsonObject {
  const result: Record<string, Json> = { ...body };
  for (const [name, field] of entriesOf(fields)) {
    const stored = before[name];
    if (stored === undefined || isReplaced(fields, field, body)) continue;
    const given = body[name];
    if (merge ? given === undefined : field.keep === true && isEmpty(given)) result[name] = stored;
    else if (field.type === 'map' && field.merge === true)
      result[name] = mergeMaps(stored as JsonObject, (given ?? {}) as JsonObject);
    else if (field.type === 'object' && !isEmpty(given))
      result[name] = keepFields(field.fields, stored as JsonObject, given as JsonObject, merge);
  }
  return result;
}

/** Whether the body gives what stands in place of the field. */
function isReplaced(fields: Fields, { insteadOf }: AnyField, body: JsonObject): boolean {
  return insteadOf !== undefined && insteadOf in fields && !isEmpty(body[insteadOf]);
}

/** The stored members with those that the body names; `null` takes one out. */
function mergeMaps(stored: JsonObject, given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...stored, ...given }).filter(([, value]) => value !== null));
}

/** The new membership: elements that stay keep their origins, new ones come from the API, others go unless a source keeps them. */
function mergeMembers(fields: Fields, before: JsonObject, spec: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...spec };
  for (const [name, field] of entriesOf(fields)) {
    if (field.type !== 'members') continue;
    const stored = (before[name] ?? {}) as Readonly<Record<string, readonly string[]>>;
    const wanted = (
      Array.isArray(spec[name]) ? spec[name] : Object.keys((spec[name] ?? {}) as JsonObject)
    ) as readonly string[];
    result[name] = Object.fromEntries([...wanted].sort().map((id) => [id, stored[id] ?? [apiOrigin]]));
  }
  return result;
}

function withChildren(snapshot: Snapshot, object: StoredObject): readonly StoredObject[] {
  const children = snapshot.registry
    .childrenOf(object.kind)
    .flatMap((kind) => (kind.parent?.holds === true ? [] : snapshot.childrenOf(object.id, kind.name)));
  return [...children.flatMap((child) => withChildren(snapshot, child)), object];
}

function refused(kind: Kind, faults: readonly Fault[], id: string, ignored: readonly string[]): RequestOutcome {
  const problems = faults.map((fault) => ({
    code: fault.code,
    kind: kind.name,
    path: fault.path,
    message: fault.message,
  }));
  return { ok: false, problems: sortProblems(problems), id, ignored };
}

function locateIn(kind: Kind): (object: StoredObject, fault: Fault) => Problem {
  return (_object, fault) => ({ code: fault.code, kind: kind.name, path: fault.path, message: fault.message });
}
