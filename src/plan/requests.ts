import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import { canonicalSpec } from '../model/canonical.ts';
import { entriesOf, type Fields, isEmpty } from '../model/field.ts';
import type { Fault, Kind } from '../model/kind.ts';
import { fieldsOn } from '../model/lower/shape.ts';
import type { StoredObject } from '../model/object.ts';
import { prepareRequest } from '../model/prepare.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import { mapReferences } from '../model/references.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { formatFaultsBeside, isTyped, ruleFaultsBeside } from '../model/spec-faults.ts';
import type { Validator } from '../model/validate.ts';
import { matchEntries } from './entries.ts';
import { finishPlan } from './finish.ts';
import { managedProblems } from './managed.ts';
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
}

/** The outcome of a request, the object it is about, and the members of the body that nothing knows. */
export type RequestOutcome = Outcome & { readonly id: string; readonly ignored: readonly string[] };

/** The origin of membership elements that requests put there. */
const apiOrigin = 'api';

/** Plans the creation of one object from a request body. `parent` is the id of the parent of a child. */
export function planCreate(context: RequestContext, kind: Kind, body: JsonObject, parent?: string): RequestOutcome {
  const { snapshot } = context;
  const read = readBody(context, kind, body);
  const id = context.newId();
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
    protected: false,
    createdRevision: 0,
    updatedRevision: 0,
    createdAt: context.now,
    updatedAt: context.now,
    declared: [],
  };
  const outcome = finishPlan({ snapshot, edits: [{ after }], locate: locateIn(kind), newId: context.newId });
  return { ...outcome, id, ignored: read.ignored };
}

/** Plans the replacement of one object: absent optional fields return to their default, except those that say otherwise. */
export function planReplace(
  context: RequestContext,
  kind: Kind,
  before: StoredObject,
  body: JsonObject,
): RequestOutcome {
  const { snapshot } = context;
  const read = readBody(context, kind, body);
  if (!isTyped(read.faults)) return refused(kind, read.faults, before.id, read.ignored);
  const kept = keepStored(kind.spec, before.spec, read.spec, kind.parent?.field);
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
  const outcome = finishPlan({
    snapshot,
    edits: same ? [] : [{ before, after }],
    locate: locateIn(kind),
    newId: context.newId,
  });
  return { ...outcome, id: before.id, ignored: read.ignored };
}

/** Plans the deletion of one object with its children. */
export function planDelete(context: RequestContext, kind: Kind, before: StoredObject): RequestOutcome {
  const { snapshot } = context;
  const leaving = withChildren(snapshot, before);
  const managed = leaving.flatMap((object) => ownedProblems(object));
  if (managed.length > 0) return { ok: false, problems: managed, id: before.id, ignored: [] };
  const outcome = finishPlan({
    snapshot,
    edits: leaving.map((object) => ({ before: object })),
    locate: locateIn(kind),
    newId: context.newId,
  });
  return { ...outcome, id: before.id, ignored: [] };
}

interface Body {
  readonly spec: JsonObject;
  readonly faults: readonly Fault[];
  readonly ignored: readonly string[];
}

/** Prepares, validates and resolves a request body. References are ids here, and must exist. */
function readBody(context: RequestContext, kind: Kind, body: JsonObject): Body {
  const readOnly = new Set([
    'id',
    ...Object.keys(kind.computed),
    ...context.snapshot.registry.childrenOf(kind.name).map((child) => child.parent?.inline ?? ''),
  ]);
  const prepared = prepareRequest(fieldsOn(kind, 'request'), readOnly, body);
  const unknown = context.strict
    ? prepared.ignored.map((path) => ({
        code: 'field_unknown',
        path,
        message: `unknown field \`${path.slice(1)}\`; remove it`,
      }))
    : [];
  const shape = [...prepared.faults, ...unknown, ...context.validator.check(kind.name, 'request', prepared.body)];
  const deeper = isTyped(shape)
    ? [...formatFaultsBeside(kind, prepared.body, shape), ...unknownIds(context.snapshot, kind, prepared.body)]
    : [];
  return { spec: prepared.body, faults: [...shape, ...deeper], ignored: prepared.ignored };
}

function withRules(kind: Kind, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  return [...faults, ...ruleFaultsBeside(kind, spec, faults)];
}

function unknownIds(snapshot: Snapshot, kind: Kind, spec: JsonObject): readonly Fault[] {
  const faults: Fault[] = [];
  mapReferences(kind.spec, spec, ({ kind: target, text, pointer }) => {
    const object = snapshot.get(text);
    if (object === undefined || object.kind !== target)
      faults.push({ ...unknownReference(text, target, []), path: pointer });
    return text;
  });
  return faults;
}

/** Fields that a replace keeps when the body leaves them out, and fields that only creation writes. */
function keepStored(fields: Fields, before: JsonObject, body: JsonObject, parentField: string | undefined): JsonObject {
  const result: Record<string, Json> = { ...body };
  for (const [name, field] of entriesOf(fields)) {
    const stored = before[name];
    if (stored === undefined) continue;
    const absent = isEmpty(body[name]) && body[name] !== '';
    if (name === parentField || field.access === 'createOnly' || (field.keep === true && isEmpty(body[name])))
      result[name] = stored;
    else if (field.type === 'object' && !absent)
      result[name] = keepStored(field.fields, stored as JsonObject, body[name] as JsonObject, undefined);
  }
  return result;
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
    .flatMap((kind) => snapshot.childrenOf(object.id, kind.name));
  return [...children.flatMap((child) => withChildren(snapshot, child)), object];
}

/** An object that a source states is deleted by deleting its document. */
function ownedProblems(object: StoredObject): readonly Problem[] {
  const [by] = object.declared;
  if (by === undefined) return [];
  const message = `${object.kind} ${object.key ?? object.name} is managed by the source ${by.source} (${by.file}:${by.line}); delete it there`;
  return [{ code: 'managed_field', kind: object.kind, key: object.key ?? object.name, message }];
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
