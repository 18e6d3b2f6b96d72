import type { JsonObject } from '../lib/json.ts';
import { equalJson } from '../lib/json.ts';
import { canonicalSpec, canonicalStated } from '../model/canonical.ts';
import type { Document } from '../model/document.ts';
import type { Fault } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Validator } from '../model/validate.ts';
import { type Desired, expandDocuments, problemAt } from './desired.ts';
import { placeFault } from './fault-place.ts';
import { type Edit, finishPlan } from './finish.ts';
import { trippedGuards } from './guard.ts';
import { changesSince } from './since.ts';
import { adoptAnnotation, type Matched, matchObjects } from './identity.ts';
import type { Move, Outcome } from './plan.ts';
import { pruneObjects } from './prune.ts';
import { type Names, resolveReferences } from './resolve.ts';
import { sourceOrigin, stateUnits, withSourceOrigins } from './state-units.ts';

/** What a source states, and how it wants it applied. */
export interface DocumentsInput {
  readonly snapshot: Snapshot;
  readonly validator: Validator;
  readonly source: string;
  readonly documents: readonly Document[];
  /**
   * The documents that were applied last, when this very snapshot is what applying them left. Only what changed since is
   * then looked at; the plan is the same as without.
   */
  readonly since?: readonly Document[];
  readonly prune: boolean;
  readonly allowEmpty: boolean;
  /** ISO 8601 time that new and changed objects carry. */
  readonly now: string;
  newId(): string;
}

/** The annotation that protects an object from deletion by sources. */
const protectAnnotation = 'heddle.dev/prevent-delete';

/** A matched object with its id, handed out before references are resolved. */
interface Target extends Matched {
  readonly id: string;
}

/**
 * Plans what leads from the snapshot to the documents of one source. Either a plan or every problem of the input.
 * A generator: it yields now and then, so that a large plan does not keep others from being answered.
 */
export function* planDocuments(input: DocumentsInput): Generator<undefined, Outcome> {
  const narrowed = input.since === undefined ? undefined : yield* planSince(input, input.since);
  return narrowed ?? (yield* planScope(input, { documents: input.documents, gone: input.snapshot.declaredBy(input.source) }));
}

/** The part of the account and of the input that a plan looks at. */
interface Scope {
  readonly documents: readonly Document[];
  /** Objects of the source that are released or deleted unless one of the documents states them. */
  readonly gone: readonly StoredObject[];
}

/** Plans only what changed since the last time; `undefined` when something left, which is for a plan of everything. */
function* planSince(input: DocumentsInput, since: readonly Document[]): Generator<undefined, Outcome | undefined> {
  const scope = changesSince(input.snapshot, input.source, since, input.documents);
  if (scope === undefined) return undefined;
  const outcome = yield* planScope(input, scope);
  return outcome.ok && outcome.plan.counts.delete === 0 ? outcome : undefined;
}

function* planScope(input: DocumentsInput, scope: Scope): Generator<undefined, Outcome> {
  const { snapshot } = input;
  const expanded = yield* expandDocuments(snapshot.registry, input.validator, scope.documents);
  const { matched, problems: matchProblems } = matchObjects(snapshot, expanded.desired, scope.gone);
  yield undefined;
  const targets = withIds(matched, input.newId);
  const kept = new Set(targets.map((target) => target.id));
  // Without prune, or with broken documents, nothing leaves.
  const enabled = input.prune && expanded.problems.length === 0;
  const pruned = pruneObjects({ snapshot, source: input.source, gone: enabled ? scope.gone.filter(({ id }) => !kept.has(id)) : [], stated: kept, now: input.now });
  const names = namesOf(snapshot, targets, expanded.broken, pruned.leaving);
  const problems: Problem[] = [...expanded.problems, ...matchProblems, ...doubleProblems(targets)];
  const found = yield* editTargets(input, targets, names);
  problems.push(...found.problems);
  if (problems.length > 0) return { ok: false, problems: sortProblems(problems) };
  yield undefined;
  return finishPlan({
    snapshot,
    edits: [...pruned.edits, ...found.edits],
    source: input.source,
    options: { prune: input.prune, allowEmpty: input.allowEmpty },
    warnings: sortProblems([...pruned.warnings, ...found.warnings]),
    moves: found.moves,
    locate: locateIn(targets),
    newId: input.newId,
    guards: (changes) =>
      trippedGuards({
        source: input.source,
        changes,
        owned: () => snapshot.declaredBy(input.source).filter((object) => object.owner === input.source),
        desired: input.documents.length,
        allowEmpty: input.allowEmpty || !input.prune,
      }),
  });
}

interface FoundEdits {
  readonly edits: readonly Edit[];
  readonly moves: readonly Move[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

function* editTargets(input: DocumentsInput, targets: readonly Target[], names: Names): Generator<undefined, FoundEdits> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const edits: Edit[] = [];
  const moves: Move[] = [];
  for (const [at, target] of targets.entries()) {
    const result = editTarget(input, target, names);
    problems.push(...result.problems);
    warnings.push(...result.warnings);
    if (result.edit !== undefined) edits.push(result.edit);
    if (result.move !== undefined) moves.push(result.move);
    if (at % 500 === 499) yield undefined;
  }
  return { edits, moves, problems, warnings };
}

/** New ids go out in the order of kind and key, whatever the order of the files. */
function withIds(matched: readonly Matched[], newId: () => string): readonly Target[] {
  const sorted = [...matched].sort((a, b) => compare(a.desired.kind.name, b.desired.kind.name) || compare(a.desired.key, b.desired.key));
  return sorted.map((item) => ({ ...item, id: item.existing?.id ?? newId() }));
}

function namesOf(snapshot: Snapshot, targets: readonly Target[], broken: ReadonlySet<string>, leaving: ReadonlySet<string>): Names {
  const ids = new Map(targets.map((target) => [`${target.desired.kind.name}/${target.desired.key}`, target.id]));
  return {
    snapshot,
    desired: (kind, key) => ids.get(`${kind}/${key}`),
    desiredKeys: (kind) => targets.filter((target) => target.desired.kind.name === kind).map((target) => target.desired.key),
    isBroken: (kind, key) => broken.has(`${kind}/${key}`),
    isLeaving: (id) => leaving.has(id),
  };
}

/** Inline and standalone children can state one object twice, which the documents' names do not show. */
function doubleProblems(targets: readonly Target[]): readonly Problem[] {
  return targets.flatMap((target, at) => {
    const before = targets[at - 1];
    if (before === undefined || before.desired.key !== target.desired.key || before.desired.kind !== target.desired.kind) return [];
    const { file, line } = before.desired.place;
    return [problemOf(target.desired, { code: 'object_duplicate', path: '', message: `${target.desired.kind.name} ${target.desired.key} is stated at ${file}:${line} already; remove one of the two` })];
  });
}

interface Edited {
  readonly edit?: Edit;
  readonly move?: Move;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

function editTarget(input: DocumentsInput, target: Target, names: Names): Edited {
  const { desired, existing } = target;
  const { registry } = input.snapshot;
  const resolved = resolveReferences(registry, desired.kind, desired.spec, names);
  const parent = parentId(desired, names);
  const canonical = canonicalStated(desired.kind, resolved.spec);
  const faults = [...resolved.faults, ...parent.faults, ...canonical.faults];
  const warnings = resolved.pending.map((fault) => problemOf(desired, { ...fault, code: 'reference_pending', message: `${fault.message}; it is applied when that object is there` }));
  if (faults.length > 0) return { problems: faults.map((fault) => problemOf(desired, fault)), warnings };
  if (resolved.waits) return { problems: [], warnings };
  const stated = parent.id === undefined ? canonical.spec : { ...canonical.spec, [desired.kind.parent?.field ?? '']: parent.id };
  if (existing === undefined) return { edit: { after: createObject(input, target, stated, parent.id), place: desired.place }, problems: [], warnings };
  return { ...updateObject(input, target, existing, stated), warnings };
}

function parentId(desired: Desired, names: Names): { readonly id?: string; readonly faults: readonly Fault[] } {
  const parent = desired.kind.parent;
  if (parent === undefined || desired.parent === undefined) return { faults: [] };
  const resolved = resolveReferences(names.snapshot.registry, { ...desired.kind }, { [parent.field]: desired.parent }, names);
  if (resolved.faults.length > 0) return { faults: resolved.faults };
  return { id: String(resolved.spec[parent.field]), faults: [] };
}

function createObject(input: DocumentsInput, target: Target, stated: JsonObject, parent: string | undefined): StoredObject {
  const { desired } = target;
  const spec = withSourceOrigins(desired.kind.spec, canonicalSpec(desired.kind, stated).spec, sourceOrigin);
  return {
    id: target.id,
    kind: desired.kind.name,
    ...(parent === undefined ? {} : { parent }),
    key: desired.key,
    name: String(spec[desired.kind.nameField] ?? desired.key),
    spec,
    derived: {},
    owner: input.source,
    protected: isProtected(desired),
    createdRevision: 0,
    updatedRevision: 0,
    createdAt: input.now,
    updatedAt: input.now,
    declared: [{ source: input.source, stated, file: desired.place.file, line: desired.place.line }],
  };
}

function updateObject(input: DocumentsInput, target: Target, existing: StoredObject, stated: JsonObject): Omit<Edited, 'warnings'> {
  const { desired } = target;
  const result = stateUnits(desired.kind.spec, existing, input.source, stated);
  if (result.conflicts.length > 0) {
    const problems = result.conflicts.map(({ path, source, file, line }) =>
      problemOf(desired, { code: 'unit_conflict', path: `/${path.split(/[.[]/)[0]}`, message: `${path} is stated with another value by the source ${source} at ${file}:${line}; agree on one value, or state it in one place only` }),
    );
    return { problems };
  }
  const before = existing.declared.find((declaration) => declaration.source === input.source);
  // A shared row of protection outlives its document for one revision: clearing it is a change of its own.
  const protection = existing.owner === input.source || existing.owner === undefined ? isProtected(desired) : existing.protected;
  const same = result.spec === existing.spec || equalJson(result.spec, existing.spec);
  const unchanged = same && before !== undefined && equalJson(before.stated, stated) && existing.key === desired.key && protection === existing.protected;
  if (unchanged) {
    const stays = before?.file === desired.place.file && before.line === desired.place.line;
    return { problems: [], ...(stays ? {} : { move: { object: existing, place: desired.place } }) };
  }
  if (target.adopted === 'by_name' && !same) return { problems: [differs(desired, existing)] };
  const after: StoredObject = {
    ...existing,
    key: desired.key,
    name: String(result.spec[desired.kind.nameField] ?? desired.key),
    spec: result.spec,
    protected: protection,
    updatedAt: same ? existing.updatedAt : input.now,
    declared: [
      ...existing.declared.filter((declaration) => declaration.source !== input.source),
      { source: input.source, stated, file: desired.place.file, line: desired.place.line },
    ].sort((a, b) => compare(a.source, b.source)),
  };
  return { edit: { before: existing, after, place: desired.place, resets: result.resets }, problems: [] };
}

function differs(desired: Desired, existing: StoredObject): Problem {
  const message = `${desired.kind.name} \`${existing.name}\` exists already (id ${existing.id}) and differs; take it with the annotation ${adoptAnnotation}: "id:${existing.id}", make the document equal, or choose another name`;
  return problemOf(desired, { code: 'object_exists', path: '', message });
}

function isProtected(desired: Desired): boolean {
  return desired.annotations[protectAnnotation] === 'true';
}

/** The problem of a fault in the canonical spec, placed where the input says it. */
function problemOf(desired: Desired, fault: Fault): Problem {
  return problemAt(desired.place, desired.pointer, { kind: desired.kind.name, metadata: { name: desired.key } }, fault);
}

function locateIn(targets: readonly Target[]): (object: StoredObject, fault: Fault) => Problem {
  let byId: Map<string, Target> | undefined;
  return (object, fault) => {
    byId ??= new Map(targets.map((target) => [target.id, target]));
    const target = byId.get(object.id);
    if (target === undefined) return { code: fault.code, kind: object.kind, key: object.key ?? object.name, message: fault.message };
    return problemOf(target.desired, placeFault(target.desired.kind.spec, object.spec, target.desired.spec, fault));
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
