import type { Json } from '../lib/json.ts';
import type { Document } from '../model/document.ts';
import { type Fault, type Kind, statesOnly } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { createIdGiver } from '../model/wire-id.ts';
import { contestOf, type WantedUnit, wantedDigest } from './contested.ts';
import { expandDocuments } from './desired.ts';
import { placeFault } from './fault-place.ts';
import { filterProblems, isSelected } from './filter.ts';
import { type Edit, finishPlan } from './finish.ts';
import { trippedGuards } from './guard.ts';
import { type Matched, matchObjects } from './identity.ts';
import { optionsAsJson, optionsOf } from './options.ts';
import type { Move, Outcome } from './plan.ts';
import { pruneObjects } from './prune.ts';
import type { Names } from './resolve.ts';
import { rolledBackGuard, settleRollback } from './rolled-back.ts';
import { changesSince } from './since.ts';
import { type DocumentsInput, editTarget, type Planning, problemOf, type Target } from './stated-object.ts';
import { labelOf } from './view.ts';

/**
 * Plans what leads from the snapshot to the documents of one source. Either a plan or every problem of the input.
 * A generator: it yields now and then, so that a large plan does not keep others from being answered.
 */
export function* planDocuments(given: DocumentsInput): Generator<undefined, Outcome> {
  const input = { ...given, contest: contestOf(given.snapshot, given.source, given.wanted) };
  // What others want may contradict documents that did not change.
  const since = input.contest.isEmpty && input.filter === undefined ? input.since : undefined;
  const narrowed = since === undefined ? undefined : yield* planSince(input, since);
  return (
    narrowed ?? (yield* planScope(input, { documents: input.documents, gone: input.snapshot.declaredBy(input.source) }))
  );
}

type Contested = Omit<Planning, 'digest'>;

/** The part of the account and of the input that a plan looks at. */
interface Scope {
  readonly documents: readonly Document[];
  /** Objects of the source that are released or deleted unless one of the documents states them. */
  readonly gone: readonly StoredObject[];
}

/** Plans only what changed since the last time; `undefined` when something left, which is for a plan of everything. */
function* planSince(input: Contested, since: readonly Document[]): Generator<undefined, Outcome | undefined> {
  const scope = changesSince(input.snapshot, input.source, since, input.documents);
  if (scope === undefined) return undefined;
  const outcome = yield* planScope(input, scope);
  return outcome.ok && outcome.plan.counts.delete === 0 ? outcome : undefined;
}

function* planScope(input: Contested, scope: Scope): Generator<undefined, Outcome> {
  const { snapshot } = input;
  const options = optionsOf(input, snapshot.settingsOf(input.source));
  const { filter = {} } = options;
  const documents = scope.documents.filter((document) => isSelected(filter, document));
  const expanded = yield* expandDocuments(snapshot.registry, input.validator, documents);
  const { matched, problems: matchProblems } = matchObjects(snapshot, expanded.desired, scope.gone, options.adopt);
  yield undefined;
  const targets = withIds(
    matched,
    createIdGiver((kind) => snapshot.lastNumber(kind), input.newId),
  );
  const kept = new Map(targets.map((target) => [target.id, undefined]));
  // Without prune, or with broken documents, nothing leaves.
  const enabled = options.prune && expanded.problems.length === 0;
  const gone = enabled ? scope.gone.filter(({ id }) => !kept.has(id)) : [];
  const prune = { snapshot, source: input.source, gone, now: input.now };
  const leaving = pruneObjects({ ...prune, stated: kept }).leaving;
  const leftOut =
    scope.documents.length === documents.length
      ? []
      : scope.documents.filter((document) => !isSelected(filter, document));
  const names = namesOf(snapshot, targets, { broken: expanded.broken, leaving, leftOut });
  const unknown = filterProblems(snapshot.registry, filter);
  const problems: Problem[] = [...unknown, ...expanded.problems, ...matchProblems, ...doubleProblems(targets)];
  const found = yield* editTargets({ ...input, digest: digestAmong(targets) }, targets, names);
  problems.push(...found.problems);
  const wanted = { keys: wantedKeys(input.source, targets), units: found.wants };
  if (problems.length > 0)
    return { ok: false, problems: sortProblems([...problems, ...brokenRules(input, targets, found.edits)]), wanted };
  yield undefined;
  const pruned = pruneObjects({ ...prune, stated: afterwards(targets, found.edits) });
  const outcome = finishPlan({
    snapshot,
    edits: [...pruned.edits, ...found.edits],
    source: input.source,
    options: optionsAsJson(options),
    warnings: sortProblems([...pruned.warnings, ...found.warnings]),
    moves: found.moves,
    locate: locateIn(targets),
    newId: input.newId,
    now: input.now,
    ...(input.means === undefined ? {} : { means: input.means }),
    ...(input.actor === undefined ? {} : { actor: input.actor }),
    guards: (changes) => [
      ...rolledBackGuard(snapshot, input.source, changes),
      ...trippedGuards({
        source: input.source,
        changes,
        owned: () => snapshot.declaredBy(input.source).filter((object) => object.owner === input.source),
        desired: input.documents.length,
        allowEmpty: options.allowEmpty || !options.prune,
        limits: options.limits,
      }),
    ],
  });
  return outcome.ok ? settleRollback(outcome, input.source) : { ...outcome, wanted };
}

/** `Kind/key` of the stored objects that the source states and did not state before. */
function wantedKeys(source: string, targets: readonly Target[]): readonly string[] {
  const fresh = targets.filter(({ existing }) => existing?.declared.every((item) => item.source !== source) === true);
  return fresh.map(({ desired }) => `${desired.kind.name}/${desired.key}`);
}

/** Values of this plan name what it makes by kind and key. */
function digestAmong(targets: readonly Target[]): (value: Json) => string {
  let created: Map<string, string> | undefined;
  return (value) => {
    created ??= new Map(
      targets
        .filter(({ existing }) => existing === undefined)
        .map(({ id, desired }) => [id, `@${desired.kind.name}/${desired.key}`]),
    );
    return wantedDigest(value, created);
  };
}

/** What depends on values and objects that the broken documents might change. */
const unsure = /^(reference|object)_|_(taken|overlaps)$/;

/** Beside broken documents: the rules that the others break for certain, so that these are not told only later. */
function brokenRules(
  { snapshot, source, now, newId, means, actor }: DocumentsInput,
  targets: readonly Target[],
  edits: readonly Edit[],
): readonly Problem[] {
  const outcome = finishPlan({
    ...{ snapshot, edits, source, now, newId, locate: locateIn(targets) },
    ...(means === undefined ? {} : { means }),
    ...(actor === undefined ? {} : { actor }),
  });
  return outcome.ok ? [] : outcome.problems.filter(({ code }) => !unsure.test(code));
}

/** What the source states, by id, as it will be. */
function afterwards(targets: readonly Target[], edits: readonly Edit[]): ReadonlyMap<string, StoredObject | undefined> {
  const stated = new Map(targets.map(({ id, existing }) => [id, existing]));
  for (const { after } of edits) if (after !== undefined) stated.set(after.id, after);
  return stated;
}

interface FoundEdits {
  readonly edits: readonly Edit[];
  readonly moves: readonly Move[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly wants: readonly WantedUnit[];
}

function* editTargets(input: Planning, targets: readonly Target[], names: Names): Generator<undefined, FoundEdits> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const edits: Edit[] = [];
  const moves: Move[] = [];
  const wants: WantedUnit[] = [];
  for (const [at, target] of targets.entries()) {
    const result = editTarget(input, target, names);
    problems.push(...result.problems);
    warnings.push(...result.warnings);
    if (result.edit !== undefined) edits.push(result.edit);
    if (result.move !== undefined) moves.push(result.move);
    if (result.wants !== undefined) wants.push(...result.wants);
    if (at % 500 === 499) yield undefined;
  }
  return { edits, moves, problems, warnings, wants };
}

/** New ids go out in the order of kind and key, whatever the order of the files. What is stated twice follows by place. */
function withIds(matched: readonly Matched[], newId: (kind: Kind) => string): readonly Target[] {
  const sorted = [...matched].sort(
    ({ desired: a }, { desired: b }) =>
      compare(a.kind.name, b.kind.name) ||
      compare(a.key, b.key) ||
      compare(a.place.file, b.place.file) ||
      a.place.line - b.place.line,
  );
  return sorted.map((item) => ({ ...item, id: item.existing?.id ?? newId(item.desired.kind) }));
}

interface NotThere {
  readonly broken: ReadonlySet<string>;
  readonly leaving: ReadonlySet<string>;
  readonly leftOut: readonly Document[];
}

function namesOf(snapshot: Snapshot, targets: readonly Target[], { broken, leaving, leftOut }: NotThere): Names {
  // What documents only state is not there because a document says so.
  const there = targets.filter(({ desired, existing }) => existing !== undefined || !statesOnly(desired.kind));
  const ids = new Map(there.map((target) => [`${target.desired.kind.name}/${target.desired.key}`, target.id]));
  return {
    snapshot,
    desired: (kind, key) => ids.get(`${kind}/${key}`),
    desiredKeys: (kind) =>
      targets.filter((target) => target.desired.kind.name === kind).map((target) => target.desired.key),
    isBroken: (kind, key) => broken.has(`${kind}/${key}`),
    isLeftOut: (kind, key) => leftOut.some((document) => document.kind === kind && document.metadata.name === key),
    isLeaving: (id) => leaving.has(id),
    label: (id) => labelOf(snapshot.get(id)) ?? targets.find((target) => target.id === id)?.desired.key,
  };
}

/** Inline and standalone children can state one object twice, which the documents' names do not show. */
function doubleProblems(targets: readonly Target[]): readonly Problem[] {
  return targets.flatMap((target, at) => {
    const before = targets[at - 1];
    if (
      before === undefined ||
      before.desired.key !== target.desired.key ||
      before.desired.kind !== target.desired.kind
    )
      return [];
    const { file, line } = before.desired.place;
    return [
      problemOf(target.desired, {
        code: 'object_duplicate',
        path: '',
        message: `${target.desired.kind.name} ${target.desired.key} is stated at ${file}:${line} already; remove one of the two`,
      }),
    ];
  });
}

function locateIn(targets: readonly Target[]): (object: StoredObject, fault: Fault) => Problem {
  let byId: Map<string, Target> | undefined;
  return (object, fault) => {
    byId ??= new Map(targets.map((target) => [target.id, target]));
    const target = byId.get(object.id);
    if (target === undefined)
      return { code: fault.code, kind: object.kind, key: object.key ?? object.name, message: fault.message };
    return problemOf(target.desired, placeFault(target.desired.kind.spec, object.spec, target.desired.spec, fault));
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
