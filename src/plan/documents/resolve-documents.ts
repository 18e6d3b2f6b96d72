import type { Kind } from '../../model/declare/kind.ts';
import { createIdAssigner } from '../../model/declare/wire-id.ts';
import type { Document } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { createStoredFinder } from '../../model/schema/validation/stored-values.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { createComparison } from '../digest.ts';
import { type KeyedAccount, withKeys } from '../keyed-account.ts';
import { effectiveOptions, type PlanOptions } from '../options.ts';
import { type DesiredObject, expandDocuments } from './desired.ts';
import { filterProblems, isSelected } from './filter.ts';
import { foreignOwnerProblems } from './foreign-owner.ts';
import { matchObjects } from './identity.ts';
import { createReferenceTargets, type UnavailableTargets } from './names.ts';
import { type PruneInput, pruneObjects } from './prune.ts';
import { planRenames, type Renames } from './rename.ts';
import { assignNewIds, withNewReferences } from './replace.ts';
import { createOutsideScopeCheck, createReferenceRule, scopeProblems } from './scope.ts';
import type { MatchedDocument, Planning } from './stated-object.ts';
import { createTargetDigest, duplicateProblems, editTargets, type TargetEdits, withIds } from './targets.ts';

/** Input of a plan, without the members that are computed from its targets. */
export type PlanningInput = Omit<Planning, 'digest' | 'moved'>;

/** The documents and objects that a plan considers: all of the source, or only the changed ones. */
export interface Part {
  readonly documents: readonly Document[];
  /** Objects of the source that are released or deleted unless one of the documents states them. */
  readonly gone: readonly StoredObject[];
}

/** The objects that the documents refer to, resolved before the specs of the documents are read. */
export interface ResolvedDocuments {
  readonly options: PlanOptions;
  /** The account, with the keys that the documents use. */
  readonly base: KeyedAccount;
  readonly targets: readonly MatchedDocument[];
  /** Objects that no document states any more and that the source may release or delete. */
  readonly gone: readonly StoredObject[];
  readonly notThere: Omit<UnavailableTargets, 'leaving' | 'refusal' | 'isSettled'>;
  /** `Kind/key` of objects that the source tries to rename although another source owns them. */
  readonly claimed: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  newId(kind: Kind): string;
}

/** Matches the documents with stored objects, and gives ids to new ones. */
export function* resolveDocuments(input: PlanningInput, part: Part): Generator<undefined, ResolvedDocuments> {
  const { snapshot: account, source } = input;
  const options = effectiveOptions(input, account.settingsOf(source));
  const { filter = {} } = options;
  const documents = part.documents.filter((document) => isSelected(filter, document));
  const expanded = yield* expandDocuments(account.registry, input.validator, documents, createStoredFinder(account));
  const renames = yield* planRenames({ snapshot: account, source, documents, allDocuments: input.documents });
  const base = withKeys(account, renames.keys);
  const { snapshot } = base;
  const before = part.gone.map((object) => snapshot.get(object.id) ?? object);
  const desired = expanded.desired.map((item) => withoutBlocked(item, renames));
  yield undefined;
  const matches = yield* matchObjects({
    snapshot,
    source,
    desired,
    before,
    adopt: options.adopt,
    former: renames.former,
  });
  yield undefined;
  const newId = createIdAssigner((kind) => snapshot.lastNumber(kind), input.newId);
  const targets = yield* withIds(matches.matched, newId);
  yield undefined;
  const kept = new Set(targets.map(({ id }) => id));
  const foreign = input.force === true ? [] : foreignOwnerProblems({ account, source, targets });
  // Without prune, or with broken documents, no object is released or deleted.
  const enabled = options.prune && expanded.problems.length === 0;
  const isWhole = documents.length === part.documents.length;
  return {
    ...{ options, base, targets, newId, claimed: renames.claimed },
    gone: enabled ? before.filter(({ id }) => !kept.has(id) && !renames.held.has(id)) : [],
    notThere: {
      broken: expanded.broken,
      leftOut: isWhole ? [] : part.documents.filter((document) => !isSelected(filter, document)),
    },
    problems: [
      ...[...filterProblems(account.registry, filter), ...expanded.problems, ...renames.problems],
      ...[...matches.problems, ...duplicateProblems(targets), ...scopeProblems({ account, source, targets })],
      ...(input.isManualApply === true ? foreign : []),
    ],
    warnings: [...renames.warnings, ...matches.warnings, ...(input.isManualApply === true ? [] : foreign)],
  };
}

/** Drops previous names that are still the key of another object, so that they are not recorded as former keys. */
function withoutBlocked(item: DesiredObject, { blocked }: Renames): DesiredObject {
  if (item.aliases === undefined || blocked.size === 0) return item;
  return { ...item, aliases: item.aliases.filter((name) => !blocked.has(`${item.kind.name}/${name}`)) };
}

/** Resolved documents with what they change. */
export interface DocumentsDiff {
  readonly resolved: ResolvedDocuments;
  readonly found: TargetEdits;
}

/**
 * Computes the edits of the documents. Computes them a second time when some objects have to be re-created and
 * `allowReplace` permits it.
 */
export function* diffDocuments(input: PlanningInput, resolved: ResolvedDocuments): Generator<undefined, DocumentsDiff> {
  const first = yield* diff(input, resolved);
  const recreated = first.found.replaceableIds;
  if (!resolved.options.allowReplace || recreated.size === 0) return first;
  const targets = assignNewIds(resolved.targets, recreated, resolved.newId);
  const base = withNewReferences(resolved.base, targets, input.now);
  const refreshed = targets.map((target) => withExisting(target, base));
  return yield* diff(input, {
    ...resolved,
    base,
    targets: refreshed,
    gone: resolved.gone.map((object) => base.snapshot.get(object.id) ?? object),
  });
}

function withExisting(target: MatchedDocument, { snapshot }: KeyedAccount): MatchedDocument {
  const existing = target.existing === undefined ? undefined : snapshot.get(target.existing.id);
  return existing === undefined ? target : { ...target, existing };
}

function* diff(input: PlanningInput, resolved: ResolvedDocuments): Generator<undefined, DocumentsDiff> {
  const { base, targets, notThere } = resolved;
  const stated = new Map(targets.map((target) => [target.id, undefined]));
  const { leaving } = yield* pruneObjects(pruneInputOf(input, resolved, stated));
  const refusal = createReferenceRule({ account: input.snapshot, source: input.source, targets });
  const isSettled = createNameRule(input);
  const names = createReferenceTargets(base.snapshot, targets, { ...notThere, leaving, refusal, isSettled });
  const { snapshot, moved } = base;
  const found = yield* editTargets(
    {
      ...input,
      snapshot,
      moved,
      digest: createTargetDigest(createComparison(snapshot.account, input.planEnvironment), targets),
    },
    targets,
    names,
  );
  return { resolved, found };
}

/**
 * Returns the rule by which an object keeps its name although another name is stated: objects that the source seeded,
 * and objects that the source only observes and whose stated name has not changed.
 */
function createNameRule({ snapshot, source }: PlanningInput): UnavailableTargets['isSettled'] {
  const { conflictMode } = snapshot.settingsOf(source);
  return ({ kind, declared }, name) => {
    const mine = declared.find((declaration) => declaration.source === source);
    if (conflictMode === 'seed') return mine !== undefined;
    return conflictMode === 'observe' && mine?.stated[snapshot.registry.get(kind).nameField] === name;
  };
}

/** Returns the input for pruning. `stated` contains the objects that the source states after the plan. */
export function pruneInputOf(
  input: PlanningInput,
  { base, gone }: ResolvedDocuments,
  stated: PruneInput['stated'],
): PruneInput {
  const { source, now, contest } = input;
  const isOutside = createOutsideScopeCheck(input.snapshot, source);
  return {
    snapshot: base.snapshot,
    source,
    gone,
    stated,
    now,
    claimantOf: contest.claimantOf,
    isOutsideScope: isOutside,
  };
}
