import type { Document } from '../../model/document.ts';
import { type Problem, sortProblems } from '../../model/problem.ts';
import { aliasIndex } from '../../model/state/facets.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { trippedGuards } from '../checks/guard.ts';
import { checkEditsInSteps, type Edit, type FinishInput, finishInSteps } from '../finish.ts';
import { toAccountEdits } from '../keyed-account.ts';
import { optionsAsJson, type PlanOptions } from '../options.ts';
import { gatherClaims } from '../ownership/claims-of-others.ts';
import { type Change, isEmptyPlan, type Plan, type PlanOutcome, type RefusedPlan, type TrippedGuard } from '../plan.ts';
import { hiddenGuards } from './hidden-files.ts';
import { likelyRenameWarnings } from './likely-rename.ts';
import { pruneObjects } from './prune.ts';
import { diffDocuments, type Part, type PlanningInput, pruneInputOf, resolveDocuments } from './resolve-documents.ts';
import { changesSince } from './since.ts';
import type { DocumentsInput, MatchedDocument } from './stated-object.ts';
import { claimedKeys, createFaultLocator, statedObjectsAfter } from './targets.ts';

/**
 * Plans the changes from the snapshot to the documents of one source. Returns a plan, or all problems of the input.
 * Yields regularly, so that a large plan does not block other requests.
 */
export function* planDocuments(given: DocumentsInput): Generator<undefined, PlanOutcome> {
  const input = withClaims(given);
  // Claims of other sources may contradict unchanged documents, so then everything is planned.
  const since = input.contest.isEmpty && input.filter === undefined ? input.since : undefined;
  const narrowed = since === undefined ? undefined : yield* planSince(input, since);
  return narrowed ?? (yield* planPart(input, everything(input)));
}

/** The state that results from documents, or all problems of the input. */
export type CheckOutcome = { readonly ok: true; readonly next: Snapshot } | RefusedPlan;

/** Checks the documents of one source like `planDocuments`, for callers that need no plan. */
export function* checkDocuments(given: DocumentsInput): Generator<undefined, CheckOutcome> {
  const input = withClaims(given);
  const edited = yield* editPart(input, everything(input));
  return edited.ok ? yield* checkEditsInSteps(edited.input) : edited;
}

function withClaims(input: DocumentsInput): PlanningInput {
  return { ...input, contest: gatherClaims(input.snapshot, input.source, input.claimed) };
}

function everything(input: PlanningInput): Part {
  return { documents: input.documents, gone: declaredOutsideHeldFiles(input) };
}

/** Returns the objects that the source states, except those stated in files that are held back. */
function declaredOutsideHeldFiles({ snapshot, source, heldFiles }: PlanningInput): readonly StoredObject[] {
  const declared = snapshot.declaredBy(source);
  if (heldFiles === undefined) return declared;
  return declared.filter((object) => !object.declared.some((by) => by.source === source && heldFiles.has(by.file)));
}

/**
 * Plans only the changes since the last time. Returns `undefined` when everything must be planned: when an object is
 * deleted, or gets a name by which references may mean another object.
 */
function* planSince(input: PlanningInput, since: readonly Document[]): Generator<undefined, PlanOutcome | undefined> {
  const part = changesSince(input.snapshot, input.source, since, input.documents);
  if (part === undefined) return undefined;
  const outcome = yield* planPart(input, part);
  if (!outcome.ok || outcome.plan.counts.delete > 0) return undefined;
  return outcome.plan.changes.some((change) => takesName(input.snapshot, change)) ? undefined : outcome;
}

/**
 * Whether an object gets a key or name that another object has or had. References in unchanged documents may then mean
 * another object.
 */
function takesName(snapshot: Snapshot, { before, after }: Change): boolean {
  if (after === undefined || (before?.key === after.key && before?.name === after.name)) return false;
  const { kind, id, key = after.name, name } = after;
  return [key, name].some((text) =>
    [
      snapshot.findByKey(kind, text),
      ...snapshot.lookUp(kind, aliasIndex, text),
      ...snapshot.lookUp(kind, 'name', text),
    ].some((other) => other !== undefined && other.id !== id),
  );
}

function* planPart(input: PlanningInput, part: Part): Generator<undefined, PlanOutcome> {
  const { snapshot: account, source } = input;
  const edited = yield* editPart(input, part);
  if (!edited.ok) return edited;
  const outcome = yield* finishInSteps(edited.input);
  if (!outcome.ok) return { ...outcome, claimed: edited.claimed };
  const { plan } = outcome;
  const renames = likelyRenameWarnings(account.registry, source, plan.changes);
  const warnings = renames.length === 0 ? plan.warnings : sortProblems([...plan.warnings, ...renames]);
  const guards = [...plan.guards, ...alwaysGuard(account, plan, source)];
  return clearRollbackMark({ ...outcome, plan: { ...plan, warnings, guards } }, source);
}

/** The edits that documents make, as input for the plan. */
interface EditedPart {
  readonly ok: true;
  readonly input: FinishInput;
  /** Claims that cannot be applied if the edits break a rule. */
  readonly claimed: NonNullable<RefusedPlan['claimed']>;
}

function* editPart(input: PlanningInput, part: Part): Generator<undefined, EditedPart | RefusedPlan> {
  const { snapshot: account, source } = input;
  const { resolved, found } = yield* diffDocuments(input, yield* resolveDocuments(input, part));
  const { base, targets, options } = resolved;
  const problems = [...resolved.problems, ...found.problems];
  const foreign = new Set(
    resolved.problems.filter(({ code }) => code === 'source_foreign').map(({ kind, key }) => `${kind}/${key}`),
  );
  const keys = [...resolved.claimed, ...claimedKeys(source, targets)].filter((name) => !foreign.has(name));
  const claimed = { keys, units: found.claimedUnits };
  if (problems.length > 0) {
    const rules = yield* brokenRules(input, targets, toAccountEdits(account, base, found.edits));
    return { ok: false, problems: sortProblems([...problems, ...rules]), claimed };
  }
  yield undefined;
  const pruned = yield* pruneObjects(pruneInputOf(input, resolved, statedObjectsAfter(targets, found.edits)));
  yield undefined;
  const edited = {
    snapshot: account,
    edits: toAccountEdits(account, base, [...pruned.edits, ...found.edits]),
    source,
    options: optionsAsJson(options),
    warnings: sortProblems([...pruned.warnings, ...resolved.warnings, ...found.warnings]),
    moves: found.moves,
    locate: createFaultLocator(targets),
    newId: input.newId,
    now: input.now,
    ...(input.planEnvironment === undefined ? {} : { planEnvironment: input.planEnvironment }),
    ...(input.actor === undefined ? {} : { actor: input.actor }),
    guards: (changes: readonly Change[]) => guardsOf(input, options, changes),
    alsoUsedBy: input.alsoUsedBy,
  };
  return { ok: true, input: edited, claimed };
}

/** Returns the guard of a source that requires an approval for every change. */
function alwaysGuard(state: Snapshot, plan: Plan, source: string): readonly TrippedGuard[] {
  if (state.settingsOf(source).approval !== 'always' || isEmptyPlan(plan)) return [];
  return [{ guard: 'always', message: `every change of ${source} needs an approval` }];
}

function* guardsOf(
  { snapshot, source, documents, heldFiles, rules = [] }: PlanningInput,
  options: PlanOptions,
  changes: readonly Change[],
): Generator<undefined, readonly TrippedGuard[]> {
  const tripped = trippedGuards({
    source,
    changes,
    owned: () => snapshot.declaredBy(source).filter((object) => object.owner === source),
    desiredCount: documents.length + (heldFiles?.size ?? 0),
    allowEmpty: options.allowEmpty || !options.prune,
    limits: options.limits,
  });
  const stated = () => snapshot.declaredBy(source);
  const hidden = yield* hiddenGuards({ source, rules, changes, documents, stated });
  return [...rolledBackGuard(snapshot, source, changes), ...hidden, ...tripped];
}

/** Codes of problems that depend on values or objects which the documents with faults might change. */
const uncertainCodePattern = /^(reference|object)_|_(taken|overlaps)$/;

/**
 * When some documents have faults: returns the rules that the other documents certainly break, so that one refusal
 * reports them too.
 */
function* brokenRules(
  { snapshot, source, now, newId, planEnvironment, actor }: DocumentsInput,
  targets: readonly MatchedDocument[],
  edits: readonly Edit[],
): Generator<undefined, readonly Problem[]> {
  const outcome = yield* checkEditsInSteps({
    ...{ snapshot, edits, source, now, newId, locate: createFaultLocator(targets) },
    ...(planEnvironment === undefined ? {} : { planEnvironment }),
    ...(actor === undefined ? {} : { actor }),
  });
  return outcome.ok ? [] : outcome.problems.filter(({ code }) => !uncertainCodePattern.test(code));
}

/** Returns the guard for documents that change what a rollback restored. They need an approval once. */
function rolledBackGuard(snapshot: Snapshot, source: string, changes: readonly Change[]): readonly TrippedGuard[] {
  const { rolledBack } = snapshot.settingsOf(source);
  if (rolledBack === undefined || changes.length === 0) return [];
  const message = `revision ${rolledBack} rolled ${source} back, and this plan changes it again`;
  return [{ guard: 'rollback', message }];
}

/**
 * Clears the rollback mark of a source when its plan has changes. Later plans of the source need no approval for it.
 */
function clearRollbackMark(outcome: PlanOutcome, source: string): PlanOutcome {
  if (!outcome.ok || isEmptyPlan(outcome.plan)) return outcome;
  const { rolledBack, ...settings } = outcome.next.settingsOf(source);
  if (rolledBack === undefined) return outcome;
  return { ...outcome, next: outcome.next.withSettings(new Map([...outcome.next.settings(), [source, settings]])) };
}
