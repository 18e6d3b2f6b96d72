import { equalJson, type JsonObject, sortedJson } from '../lib/json.ts';
import { mapInSteps, runToEnd, shouldYield } from '../lib/steps.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { GeneratorInput, Kind } from '../model/declare/kind.ts';
import { emptyEnvironment, type PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { DocumentPosition } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { withEntryIds, withListOrder } from '../model/schema/entries.ts';
import type { Normalized } from '../model/schema/normalize.ts';
import { withWrittenForm } from '../model/schema/written-form.ts';
import { changedMembers, emptyContent, withMemberOrder } from '../model/state/members.ts';
import type { StoredObject } from '../model/state/object.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { diffUnits, isOwnershipOnly } from '../model/state/units.ts';
import { checkRules, type FaultLocator, type StepInput } from './checks/rules.ts';
import { type GivenSecrets, noSecrets, secretAddressFaults } from './checks/secret-addresses.ts';
import { withDerivedChanges } from './derived-changes.ts';
import { createComparison, digestOf, engineVersionOf } from './digest.ts';
import { orderChanges } from './order.ts';
import {
  type Change,
  type Claim,
  type DeclarationMove,
  type Plan,
  type PlanCounts,
  type PlanOutcome,
  type RefusedPlan,
  subjectOf,
  type TrippedGuard,
} from './plan.ts';

/** One object before and after the change (`after` absent: deleted). Not checked by the rules yet. */
export interface Edit {
  readonly before?: StoredObject;
  readonly after?: StoredObject;
  readonly position?: DocumentPosition | undefined;
  readonly resets?: readonly string[];
  readonly claimed?: readonly string[];
  /**
   * Id of the object that this new object replaces, which is deleted, and the fields that could only be changed by
   * re-creation.
   */
  readonly replaces?: { readonly id: string; readonly fields: readonly string[] };
  /** The former state of a deleted object that this new object restores. */
  readonly restores?: StoredObject;
  /** True when the edit follows from another edit. Rules that forbid users to change the object do not apply. */
  readonly internal?: true;
  /** Values of the request that are not part of the spec: the `inputs` of the kind, canonical. */
  readonly given?: JsonObject;
  /** The secrets whose value the edit gives, instead of keeping the stored one. Absent: none. */
  readonly givenSecrets?: GivenSecrets;
  /** The object as a document, or the state that a rollback restores, wrote it. New list elements follow this order. */
  readonly written?: Pick<Normalized, 'spec' | 'order' | 'given' | 'spellings'>;
  /** True when the generated values of the object are replaced. */
  readonly renews?: true;
  /** True when the lists of the object are in their final order already. */
  readonly arranged?: true;
}

/** Input for turning edits into a plan. */
export interface FinishInput {
  readonly snapshot: Snapshot;
  readonly edits: readonly Edit[];
  readonly source?: string;
  readonly options?: JsonObject;
  readonly warnings?: readonly Problem[];
  readonly moves?: readonly DeclarationMove[];
  /** Turns a fault into a problem at its position in the input. */
  readonly locate: FaultLocator;
  /** Returns the guards that the changes trip. Absent for requests, which never need an approval. */
  guards?(changes: readonly Change[]): Generator<undefined, readonly TrippedGuard[]>;
  /** True when the plan returns to an earlier state. */
  readonly rollback?: true;
  /** Returns the changed object with the parts outside its spec settled, such as its overrides. */
  settle?(before: StoredObject, after: StoredObject): StoredObject;
  newId(): string;
  /** Time of the plan, in ISO 8601. */
  readonly now?: string;
  readonly planEnvironment?: PlanEnvironment;
  /** The caller. Absent for changes that the server makes itself. */
  readonly actor?: Actor;
  /** Uses of objects by something other than an object, such as invites: texts by id of the used object. */
  readonly alsoUsedBy?: StepInput['alsoUsedBy'];
}

/** Checks the edits as one step from the snapshot to the next, and returns the plan. */
export function finishPlan(input: FinishInput): PlanOutcome {
  return runToEnd(finishInSteps(input));
}

/** Same as `finishPlan`, as a generator that yields now and then. */
export function* finishInSteps(input: FinishInput): Generator<undefined, PlanOutcome> {
  const { snapshot } = input;
  const checked = yield* checkEditsInSteps(input);
  if (!checked.ok) return checked;
  const { claims, outputs, next } = checked;
  const guards = yield* guardsOf(input, checked.changes);
  const withWarnings: Change[] = [];
  for (const [at, change] of checked.changes.entries()) {
    if (shouldYield(at)) yield undefined;
    withWarnings.push({ ...change, risks: warningsOf(snapshot, change) });
  }
  const { account } = snapshot;
  const digest = yield* digestOf({
    account,
    registry: snapshot.registry,
    comparison: createComparison(account, input.planEnvironment),
    engine: engineVersionOf(snapshot.registry),
    source: input.source,
    options: input.options ?? {},
    changes: withWarnings,
    claims,
    guards: guards.map((guard) => guard.message),
  });
  const plan = {
    account,
    ...(input.source === undefined ? {} : { source: input.source }),
    base: snapshot.revision,
    changes: withWarnings,
    claims,
    moves: input.moves ?? [],
    warnings: input.warnings ?? [],
    guards,
    counts: countsOf(withWarnings, claims),
    digest,
    outputs,
  };
  return { ok: true, plan, next };
}

/** Edits that break no rule, and the snapshot that they lead to. */
interface CheckedEdits {
  readonly ok: true;
  /** In the order in which they are applied. */
  readonly changes: readonly Change[];
  readonly claims: readonly Claim[];
  /** Values that are shown once, by id of their object. */
  readonly outputs: Plan['outputs'];
  readonly next: Snapshot;
}

/**
 * Checks the edits like `finishInSteps`, for callers that need no plan. They are spared its digest, for which the
 * declarations of all kinds are hashed.
 */
export function* checkEditsInSteps(input: FinishInput): Generator<undefined, CheckedEdits | RefusedPlan> {
  const { snapshot } = input;
  const { now = '1970-01-01T00:00:00.000Z', planEnvironment = emptyEnvironment } = input;
  const changes: Change[] = [];
  const claims: Claim[] = [];
  const outputs = new Map<string, Readonly<Record<string, string>>>();
  const generator = { now, random: planEnvironment.random };
  const following = { now, newId: input.newId, actor: input.actor };
  const edits = yield* withDerivedChanges(snapshot, input.edits, following);
  for (const [at, edit] of edits.entries()) {
    if (shouldYield(at)) yield undefined;
    const complete =
      edit.before === undefined
        ? initialize(input, edit, generator, outputs)
        : settleEdit(input, renewEdit(input, edit, generator, outputs));
    classifyEdit(input, complete, changes, claims);
  }
  const revision = snapshot.revision + (changes.length + claims.length > 0 ? 1 : 0);
  const next = yield* snapshot.withInSteps(
    {
      // The first object in the list keeps a unique value. Claims come first, so they keep theirs. Another object that
      // takes the value is a change, and changes are checked.
      put: [...claims, ...changes].flatMap((change) => (change.after === undefined ? [] : [change.after])),
      remove: changes.flatMap((change) =>
        change.after === undefined && change.before !== undefined ? [change.before.id] : [],
      ),
    },
    revision,
  );
  const problems = yield* findProblems(input, edits, changes, next);
  if (problems.length > 0) return { ok: false, problems };
  const ordered = yield* orderChanges(snapshot.registry, changes);
  return ordered.ok ? { ok: true, changes: ordered.changes, claims, outputs, next } : ordered;
}

/** Returns every rule that the step breaks. */
function* findProblems(
  input: FinishInput,
  edits: readonly Edit[],
  changes: readonly Change[],
  next: Snapshot,
): Generator<undefined, readonly Problem[]> {
  const { alsoUsedBy, actor, rollback, snapshot, planEnvironment = emptyEnvironment } = input;
  const { edition, uncheckedRules } = planEnvironment;
  const step = { before: snapshot, next, changes, edition, uncheckedRules, actor, alsoUsedBy, rollback };
  const redirected = edits.flatMap((edit) => redirectedSecrets(input, edit, planEnvironment));
  return [...redirected, ...(yield* checkRules(step, input.locate))];
}

/** Returns the problems of secrets that an edit would send to an address for which they were not given. */
function redirectedSecrets(
  { snapshot, locate }: FinishInput,
  { before: changed, after, replaces, restores, internal, givenSecrets = noSecrets }: Edit,
  { vault }: PlanEnvironment,
): readonly Problem[] {
  const before = changed ?? restores ?? snapshot.get(replaces?.id ?? '');
  if (internal === true || before === undefined || after === undefined) return [];
  const change = { account: snapshot.account, before, after, givenSecrets };
  const faults = secretAddressFaults(snapshot.registry.get(after.kind), change, vault);
  return faults.map((fault) => locate(after, fault));
}

function settleEdit({ settle }: FinishInput, edit: Edit): Edit {
  if (settle === undefined || edit.before === undefined || edit.after === undefined) return edit;
  return { ...edit, after: settle(edit.before, edit.after) };
}

/**
 * Replaces the generated values of an object if the edit renews them, and collects the values that are shown once in
 * `outputs`.
 */
function renewEdit(
  { snapshot }: FinishInput,
  edit: Edit,
  generatorInput: GeneratorInput,
  outputs: Map<string, Readonly<Record<string, string>>>,
): Edit {
  const { after } = edit;
  const renewal = edit.renews === true && after !== undefined ? snapshot.registry.get(after.kind).renewal : undefined;
  if (renewal === undefined || after === undefined) return edit;
  const generated = renewal.renew(after, generatorInput);
  if (generated.outputs !== undefined) outputs.set(after.id, generated.outputs);
  return { ...edit, after: { ...after, derived: { ...after.derived, ...generated.derived } } };
}

/**
 * Completes a new object: adds its creator and the generated values, and collects the values that are shown once in
 * `outputs`.
 */
function initialize(
  { snapshot, actor }: FinishInput,
  edit: Edit,
  generatorInput: GeneratorInput,
  outputs: Map<string, Readonly<Record<string, string>>>,
): Edit {
  const { after } = edit;
  if (after === undefined) return edit;
  const generated = snapshot.registry.get(after.kind).generate?.(after, generatorInput);
  if (generated?.outputs !== undefined) outputs.set(after.id, generated.outputs);
  const maker = actor === undefined ? {} : { created_by: actor.id };
  return { ...edit, after: { ...after, derived: { ...maker, ...after.derived, ...generated?.derived } } };
}

function classifyEdit({ snapshot, newId }: FinishInput, edit: Edit, changes: Change[], claims: Claim[]): void {
  const { before, after } = edit;
  // A request that changes nothing may still have derived changes.
  if (before !== undefined && after === before) return;
  const position = edit.position === undefined ? {} : { position: edit.position };
  const kind = snapshot.registry.get((after ?? before)?.kind ?? '');
  const fields = kind.spec;
  const internal = edit.internal === undefined ? {} : { internal: edit.internal };
  const stamped =
    after === undefined
      ? undefined
      : withEntryIds(kind, stampRevision(snapshot, before, withOrderedLists(kind, edit, after)), newId);
  if (before === undefined && stamped !== undefined) {
    changes.push({
      ...internal,
      action: 'create',
      after: stamped,
      ...(edit.replaces === undefined ? {} : { replaces: edit.replaces }),
      units: diffUnits(fields, emptyContent, stamped),
      resets: [],
      risks: [],
      ...position,
    });
  } else if (before !== undefined && stamped === undefined) {
    changes.push({ ...internal, action: 'delete', before, units: [], resets: [], risks: [], ...position });
  } else if (before !== undefined && stamped !== undefined) {
    const units = diffUnits(fields, before, stamped);
    // The key of a child follows from its parent and its content, so a new key alone is not a rename.
    const renamed =
      kind.parent === undefined && before.key !== undefined && stamped.key !== undefined && before.key !== stamped.key;
    const moved = before.parent !== stamped.parent || renamed || !equalJson(before.derived, stamped.derived);
    const reordered = !equalJson(before.sortKeys, stamped.sortKeys);
    if (moved || reordered || units.some((unit) => !isOwnershipOnly(fields, unit)))
      changes.push({
        ...internal,
        action: 'update',
        before,
        after: stamped,
        units,
        resets: edit.resets ?? [],
        ...(edit.claimed === undefined || edit.claimed.length === 0 ? {} : { claimed: edit.claimed }),
        risks: [],
        ...position,
      });
    else claims.push({ action: claimAction(before, stamped), before, after: stamped, units, ...position });
  }
}

/** Orders the lists of an object: new elements follow the existing ones. */
function withOrderedLists(
  kind: Kind,
  { before, written, arranged: isArranged }: Edit,
  after: StoredObject,
): StoredObject {
  if (isArranged === true) return after;
  const lists = { lists: written?.order ?? {}, whole: false };
  const ordered = withMemberOrder(kind, before, withListOrder(kind.spec, before, after, lists), lists);
  if (written === undefined) return ordered;
  // A document that repeats the stored values changes nothing, not even which defaults and spellings responses show.
  const isChanged = (name: string) =>
    name in written.spec &&
    (!equalJson(before?.spec[name], after.spec[name]) || changedMembers(before, after, name).length > 0);
  return withWrittenForm(kind.spec, before, ordered, written, isChanged);
}

/** Gives the object the number of the revision that the plan will make. */
function stampRevision(snapshot: Snapshot, before: StoredObject | undefined, after: StoredObject): StoredObject {
  const revision = snapshot.revision + 1;
  return {
    ...after,
    derived: sortedJson(after.derived),
    createdRevision: before?.createdRevision ?? revision,
    updatedRevision: revision,
  };
}

function claimAction(before: StoredObject, after: StoredObject): Claim['action'] {
  if (after.declared.length > before.declared.length) return 'claim';
  if (after.declared.length < before.declared.length) return 'release';
  return after.declared === before.declared && after.key === before.key ? 'override' : 'restate';
}

function countsOf(changes: readonly Change[], claims: readonly Claim[]): PlanCounts {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length;
  return { create: count('create'), update: count('update'), delete: count('delete'), claims: claims.length };
}

/**
 * Returns the tripped guards: those of the plan as a whole, and `sensitive` for each approval that the kind of a
 * changed object requires.
 */
function* guardsOf(
  { snapshot, guards }: FinishInput,
  changes: readonly Change[],
): Generator<undefined, readonly TrippedGuard[]> {
  if (guards === undefined) return [];
  const sensitive = (yield* mapInSteps(changes, (change) => sensitiveGuards(snapshot, change))).flat();
  return [...(yield* guards(changes)), ...sensitive];
}

function sensitiveGuards(snapshot: Snapshot, change: Change): readonly TrippedGuard[] {
  const { kind, key, name } = subjectOf(change);
  return approvalReasonsOf(snapshot, change).map((message) => ({
    guard: 'sensitive',
    kind,
    key: key ?? name,
    message,
  }));
}

/** Returns the reasons why a change needs an approval, as sentences. Empty when it needs none. */
export function approvalReasonsOf({ registry }: Snapshot, change: Pick<Change, 'before' | 'after'>): readonly string[] {
  return registry.get(subjectOf(change).kind).approvals?.(change.before, change.after) ?? [];
}

function warningsOf(snapshot: Snapshot, change: Change): readonly string[] {
  const kind: Kind = snapshot.registry.get((change.after ?? change.before)?.kind ?? '');
  return [...warningsOfReplace(change), ...(kind.warnings?.(change.before, change.after) ?? [])];
}

function warningsOfReplace({ replaces }: Change): readonly string[] {
  if (replaces === undefined) return [];
  const { id, fields } = replaces;
  const names = fields.map((name) => `\`${name}\``).join(', ');
  return [
    `is re-created under a new id, because ${names} can only be set at creation; the object with the id ${id} is deleted, and references to it then point to the new one`,
  ];
}
