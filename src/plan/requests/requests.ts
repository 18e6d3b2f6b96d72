import { equalJson, type JsonObject } from '../../lib/json.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { createIdAssigner } from '../../model/declare/wire-id.ts';
import { fieldsOn } from '../../model/lower/shape.ts';
import { limitProblems, maxProblems, type Problem, sortProblems } from '../../model/problem.ts';
import { withListOrder } from '../../model/schema/entries.ts';
import type { Fields } from '../../model/schema/field.ts';
import { withGivenDefaults } from '../../model/schema/given-defaults.ts';
import { canonicalSpec, type Normalized, normalize } from '../../model/schema/normalize.ts';
import { prepareRequest, unknownFaults } from '../../model/schema/prepare.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { sealSecrets } from '../../model/schema/secrets.ts';
import { withSpellings } from '../../model/schema/spelling.ts';
import { isTyped, otherFormatFaults, otherRuleFaults } from '../../model/schema/validation/other-faults.ts';
import { createStoredValues, type StoredValues } from '../../model/schema/validation/stored-values.ts';
import type { Validator } from '../../model/schema/validation/validator.ts';
import { type Content, contentFromSpec, equalContent, withMemberOrder } from '../../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { unknownReferenceFault } from '../checks/rules.ts';
import { finishPlan } from '../finish.ts';
import type { PlanOutcome } from '../plan.ts';
import { type BreakGlass, settleOverrides } from './break-glass.ts';
import { matchEntries } from './entries.ts';
import { keepStored } from './keep.ts';
import { derivedChangeProblems, managedProblems, managedUnitChanges, ownedProblems } from './managed.ts';

/** Context of an API request that changes objects. */
export interface RequestContext {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  /** Whether unknown members of the body are problems. Otherwise they are ignored. */
  readonly strict: boolean;
  /** JSON pointers of members whose value range is not checked for this request. */
  readonly unlimited?: readonly string[];
  /** Time of the request, in ISO 8601. */
  readonly now: string;
  newId(): string;
  readonly planEnvironment?: PlanEnvironment;
  readonly actor?: Actor;
  /**
   * Overrides that the request makes for changed units that sources state: caller, reason and times. Absent: such
   * changes may be refused.
   */
  readonly breakGlass?: BreakGlass;
  /** Uses of objects by something other than an object, such as invites: texts by id of the used object. */
  readonly alsoUsedBy?: ReadonlyMap<string, readonly string[]>;
}

/** Outcome of a request, the id of its object, and the unknown members of the body that were ignored. */
export type RequestOutcome = PlanOutcome & { readonly id: string; readonly ignored: readonly string[] };

/** Members of a new object that the server sets in addition to the request. */
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
  const id = seed.id ?? createIdAssigner((name) => snapshot.lastNumber(name), context.newId)(kind);
  const read = readBody(context, kind, body, id, undefined);
  const stated = parent === undefined ? read.spec : { ...read.spec, [kind.parent?.field ?? '']: parent };
  if (read.faults.length > 0) return refusedOutcome(kind, withRules(kind, stated, read.faults), id, read.ignored);
  const canonical = canonicalSpec(kind, stated);
  const content = contentFromSpec(kind.spec, canonical.spec);
  const after: StoredObject = {
    id,
    kind: kind.name,
    ...(parent === undefined ? {} : { parent }),
    name: String(content.spec[kind.nameField] ?? ''),
    ...content,
    derived: {},
    ...seed,
    ...uncommittedMembers(context.now),
  };
  const edits = [
    {
      after: withRequestDetails(kind, undefined, after, canonical, read),
      arranged: true as const,
      given: read.given,
    },
  ];
  const outcome = refuseManagedChanges(
    finishPlan({ ...finishInputOf(context, kind), ...settleInputOf(context), edits }),
    context,
  );
  return { ...outcome, id, ignored: read.ignored };
}

/**
 * Plans the replacement of one object. Absent optional fields return to their default, except fields that are kept when
 * absent. An implied object is created by its first change. `facts` are values that the server records in `derived`
 * with this change.
 */
export function planReplace(
  context: RequestContext,
  kind: Kind,
  before: StoredObject,
  body: JsonObject,
  facts: JsonObject = {},
): RequestOutcome {
  const read = readBody(context, kind, body, before.id, before);
  if (!isTyped(read.faults)) return refusedOutcome(kind, read.faults, before.id, read.ignored);
  const kept = keepStored(kind, before, read.spec);
  const entries = matchEntries(kind, before, read.spec);
  const faults = [...read.faults, ...entries.faults];
  if (faults.length > 0) return refusedOutcome(kind, withRules(kind, kept, faults), before.id, read.ignored);
  const canonical = canonicalSpec(kind, kept);
  const content = contentFromSpec(kind.spec, canonical.spec, before);
  const { snapshot, breakGlass } = context;
  const managed = managedProblems(snapshot, kind, before, managedUnitChanges(snapshot, kind, before, content));
  if (managed.length > 0 && breakGlass === undefined)
    return { ok: false, problems: managed, id: before.id, ignored: read.ignored };
  const derived = { ...before.derived, ...(entries.ids === undefined ? {} : { entry_ids: entries.ids }), ...facts };
  const name = String(content.spec[kind.nameField] ?? '');
  const replaced = { ...before, ...content, name, derived, updatedAt: context.now };
  const after = withRequestDetails(kind, before, replaced, canonical, read);
  const same =
    isSame(kind, before, content) &&
    equalJson(after.derived, before.derived) &&
    equalJson(after.sortKeys, before.sortKeys);
  const implied = snapshot.get(before.id) === undefined;
  const { given } = read;
  const givenSecrets = { pointers: read.givenSecrets };
  const edits = [
    implied && !same
      ? { after: withKey(kind, after), arranged: true as const, given }
      : { before, after: same ? before : after, arranged: true as const, given, givenSecrets },
  ];
  const outcome = refuseManagedChanges(
    finishPlan({ ...finishInputOf(context, kind), ...settleInputOf(context), edits }),
    context,
  );
  return { ...outcome, id: before.id, ignored: read.ignored };
}

/**
 * Whether the content is unchanged. An object that was stored before a field existed has the default of the field, so a
 * default is not a change.
 */
function isSame(kind: Kind, before: StoredObject, content: Content): boolean {
  if (equalContent(content, before)) return true;
  const { spec } = contentFromSpec(kind.spec, canonicalSpec(kind, before.spec).spec);
  return equalContent(content, { ...before, spec });
}

/**
 * Returns the object with its lists in the order of the request, and with a record of the members that the request
 * gave and of the spellings of its texts.
 */
function withRequestDetails(
  kind: Kind,
  before: StoredObject | undefined,
  after: StoredObject,
  { order, given, spellings }: Normalized,
  { spec: body, givenOff }: PreparedBody,
): StoredObject {
  const lists = { lists: order, whole: true };
  const arranged = withMemberOrder(kind, before, withListOrder(kind.spec, before, after, lists), lists);
  const isWritten = (name: string) => kind.merge !== true || body[name] !== undefined;
  return withSpellings(withGivenDefaults(arranged, [...given, ...givenOff], isWritten), spellings, isWritten);
}

/** The only object of a singleton kind gets its fixed key at creation. */
function withKey({ singleton }: Kind, object: StoredObject): StoredObject {
  return singleton === undefined ? object : { ...object, key: singleton };
}

/** Plans the deletion of an object with its children. */
export function planDelete(context: RequestContext, kind: Kind, before: StoredObject): RequestOutcome {
  return { ...refuseManagedChanges(planServerDelete(context, kind, before), context), id: before.id, ignored: [] };
}

/**
 * Plans the end of an object, with its children. Declarations of the deleted objects are deleted too, and their
 * documents wait for the objects again.
 */
export function planServerDelete(context: RequestContext, kind: Kind, before: StoredObject): PlanOutcome {
  const { snapshot } = context;
  const leaving = withChildren(snapshot, before);
  const breakGlass = context.breakGlass !== undefined;
  const managed = leaving.flatMap((object) =>
    ownedProblems(snapshot, object, { mode: object === before ? 'itself' : 'along', breakGlass }),
  );
  if (managed.length > 0) return { ok: false, problems: sortProblems(managed) };
  const edits = leaving.map((object) => ({ before: object }));
  return finishPlan({ ...finishInputOf(context, kind), edits });
}

/** Refuses a plan whose derived changes delete or change what sources state. */
function refuseManagedChanges(outcome: PlanOutcome, { breakGlass }: RequestContext): PlanOutcome {
  if (!outcome.ok) return outcome;
  const problems = derivedChangeProblems(outcome.plan.changes, outcome.next, breakGlass !== undefined);
  return problems.length === 0 ? outcome : { ok: false, problems: sortProblems(problems) };
}

interface PreparedBody {
  readonly spec: JsonObject;
  readonly given: JsonObject;
  /** JSON pointers of the secrets whose value the body gives. */
  readonly givenSecrets: readonly string[];
  readonly faults: readonly Fault[];
  readonly ignored: readonly string[];
  /** Paths of unsupported members that the body gave as off. */
  readonly givenOff: readonly string[];
}

/** Settles the overrides of the units that a request changes. */
function settleInputOf({ snapshot, breakGlass }: RequestContext) {
  return {
    settle: (before: StoredObject, after: StoredObject) => settleOverrides(snapshot, before, after, breakGlass),
  };
}

/** Returns the members of `FinishInput` that are the same for every request. */
function finishInputOf({ snapshot, now, newId, planEnvironment, actor, alsoUsedBy }: RequestContext, kind: Kind) {
  return {
    alsoUsedBy,
    ...{ snapshot, now, newId, locate: createFaultLocator(kind) },
    ...(planEnvironment === undefined ? {} : { planEnvironment }),
    ...(actor === undefined ? {} : { actor }),
  };
}

/** Prepares, validates and seals a request body. References must be ids of existing objects. */
function readBody(
  context: RequestContext,
  kind: Kind,
  body: JsonObject,
  id: string,
  before: StoredObject | undefined,
): PreparedBody {
  const surface = before === undefined ? 'request' : 'replace';
  const fields = fieldsOn(kind, surface);
  const exempt = exemptValues(before, context.unlimited ?? []);
  const prepared = prepareRequest(fields, readOnlyMembers(context.snapshot, kind, fields), body, exempt);
  const unknown = context.strict ? unknownFaults(prepared) : [];
  const { ignored, givenOff } = prepared;
  const stated = Object.fromEntries(Object.entries(prepared.body).filter(([name]) => !(name in (kind.inputs ?? {}))));
  const shape = [...prepared.faults, ...unknown, ...context.validator.check(kind.name, surface, prepared.body, exempt)];
  if (!isTyped(shape)) return { spec: stated, given: {}, givenSecrets: [], faults: shape, ignored, givenOff };
  const inputs = normalize(kind.inputs ?? {}, prepared.body);
  const { account, sealForm } = context.snapshot;
  const target = { account, object: id, form: sealForm, before: before?.spec };
  const sealed = sealSecrets(kind.spec, stated, target, context.planEnvironment ?? emptyEnvironment, 'request');
  const unknownInputs = [...inputs.faults, ...unknownIdFaults(context.snapshot, kind.inputs ?? {}, inputs.spec)];
  const unknownIds = unknownIdFaults(context.snapshot, kind.spec, sealed.spec);
  const deeper = [
    ...otherFormatFaults(kind.spec, stated, [...shape, ...unknownIds]),
    ...sealed.faults,
    ...unknownIds,
    ...unknownInputs,
    ...(unknownInputs.length > 0 ? [] : (kind.checkInputs?.(inputs.spec, context.snapshot) ?? [])),
  ];
  return {
    ...{ spec: sealed.spec, given: inputs.spec, givenSecrets: sealed.given },
    ...{ faults: [...shape, ...deeper], ignored, givenOff },
  };
}

/** Returns the values to which limits do not apply: stored ones, and the numbers of `unlimited` members. */
function exemptValues(before: StoredObject | undefined, unlimited: readonly string[]): StoredValues {
  const stored = createStoredValues(before?.spec);
  return {
    ...stored,
    has: (location, value) =>
      (typeof value === 'number' && unlimited.includes(location.pointer)) || stored.has(location, value),
  };
}

function withRules(kind: Kind, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  return [...faults, ...otherRuleFaults(kind, spec, faults)];
}

/**
 * Returns the read-only members that responses show. Clients may send them back: they change nothing and cause no
 * problem.
 */
function readOnlyMembers(snapshot: Snapshot, kind: Kind, writable: Fields): ReadonlySet<string> {
  const children = snapshot.registry.inlineChildrenOf(kind.name).map(({ member }) => member);
  const fixed = Object.keys(kind.spec).filter((name) => !(name in writable));
  return new Set(['id', ...Object.keys(kind.computed), ...children, ...fixed]);
}

function unknownIdFaults(snapshot: Snapshot, fields: Fields, spec: JsonObject): readonly Fault[] {
  const faults: Fault[] = [];
  mapReferences(fields, spec, ({ kind: target, text, pointer }) => {
    if (faults.length <= maxProblems && snapshot.find(target, text) === undefined)
      faults.push({ ...unknownReferenceFault(text, target, []), path: pointer });
    return text;
  });
  return faults;
}

function withChildren(snapshot: Snapshot, object: StoredObject): readonly StoredObject[] {
  const children = snapshot.registry
    .childrenOf(object.kind)
    .flatMap((kind) => (kind.parent?.holds === true ? [] : snapshot.childrenOf(object.id, kind.name)));
  return [...children.flatMap((child) => withChildren(snapshot, child)), object];
}

function refusedOutcome(kind: Kind, faults: readonly Fault[], id: string, ignored: readonly string[]): RequestOutcome {
  // A body can have several thousand faults: sorting fewer takes less time.
  const problems = faults.slice(0, maxProblems + 1).map((fault) => ({
    code: fault.code,
    kind: kind.name,
    path: fault.path,
    message: fault.message,
  }));
  return { ok: false, problems: limitProblems(problems), id, ignored };
}

function createFaultLocator(kind: Kind): (object: StoredObject, fault: Fault) => Problem {
  return (_object, fault) => ({ code: fault.code, kind: kind.name, path: fault.path, message: fault.message });
}
