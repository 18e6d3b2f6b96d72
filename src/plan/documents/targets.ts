import { mapInSteps, shouldYield, sortInSteps } from '../../lib/steps.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import { type Problem, takeFaults } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { ReferenceTargets } from '../checks/resolve.ts';
import type { Comparison } from '../digest.ts';
import type { Edit } from '../finish.ts';
import { type ClaimedUnit, claimDigest } from '../ownership/claims-of-others.ts';
import type { DeclarationMove } from '../plan.ts';
import { problemOf } from './desired.ts';
import type { MatchedObject } from './identity.ts';
import { locateFault } from './locate-fault.ts';
import { editTarget, type MatchedDocument, type Planning } from './stated-object.ts';

/**
 * Assigns new ids in the order of kind and key, whatever the order of the files. Targets with the same kind and key are
 * ordered by file and line. Yields now and then.
 */
export function* withIds(
  matched: readonly MatchedObject[],
  newId: (kind: Kind) => string,
): Generator<undefined, readonly MatchedDocument[]> {
  const sorted = yield* sortInSteps(
    matched,
    ({ desired: a }, { desired: b }) =>
      compare(a.kind.name, b.kind.name) ||
      compare(a.key, b.key) ||
      compare(a.position.file, b.position.file) ||
      a.position.line - b.position.line,
  );
  return yield* mapInSteps(sorted, (item) => ({ ...item, id: item.existing?.id ?? newId(item.desired.kind) }));
}

/**
 * Reports objects that are stated twice. Inline and standalone children can state the same object although no two
 * documents have the same name. Expects the targets in the order of `withIds`.
 */
export function duplicateProblems(targets: readonly MatchedDocument[]): readonly Problem[] {
  return targets.flatMap((target, at) => {
    const before = targets[at - 1];
    if (
      before === undefined ||
      before.desired.key !== target.desired.key ||
      before.desired.kind !== target.desired.kind
    )
      return [];
    const { file, line } = before.desired.position;
    return [
      problemOf(target.desired, {
        code: 'object_duplicate',
        path: '',
        message: `${target.desired.kind.name} ${target.desired.key} is already stated at ${file}:${line}; remove one of the two`,
      }),
    ];
  });
}

/** Combined effect of all documents of a plan. */
export interface TargetEdits {
  readonly edits: readonly Edit[];
  readonly moves: readonly DeclarationMove[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly claimedUnits: readonly ClaimedUnit[];
  /** Ids of the objects that would have to be re-created and whose documents may re-create them. */
  readonly replaceableIds: ReadonlySet<string>;
}

/** Computes the effect of each document in turn. Yields now and then. */
export function* editTargets(
  input: Planning,
  targets: readonly MatchedDocument[],
  names: ReferenceTargets,
): Generator<undefined, TargetEdits> {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const edits: Edit[] = [];
  const moves: DeclarationMove[] = [];
  const claimedUnits: ClaimedUnit[] = [];
  const fixed = new Set<string>();
  for (const [at, target] of targets.entries()) {
    const result = yield* editTarget(input, target, names);
    // Not `push(...many)`: a document may have more faults than the call stack has room for.
    for (const problem of takeFaults(result.problems, problems.length)) problems.push(problem);
    for (const warning of takeFaults(result.warnings, warnings.length)) warnings.push(warning);
    if (result.edit !== undefined) edits.push(result.edit);
    if (result.gone !== undefined) edits.push({ before: result.gone });
    if (result.replaceable === true) fixed.add(target.id);
    if (result.move !== undefined) moves.push(result.move);
    for (const want of result.claimedUnits ?? []) claimedUnits.push(want);
    if (shouldYield(at)) yield undefined;
  }
  return { edits, moves, problems, warnings, claimedUnits, replaceableIds: fixed };
}

/** Returns the objects that the source states after the edits, by id. */
export function statedObjectsAfter(
  targets: readonly MatchedDocument[],
  edits: readonly Edit[],
): ReadonlyMap<string, StoredObject | undefined> {
  const stated = new Map(targets.map(({ id, existing }) => [id, existing]));
  for (const { after } of edits) if (after !== undefined) stated.set(after.id, after);
  return stated;
}

/** Returns `Kind/key` of the stored objects that the source states now and did not state before. */
export function claimedKeys(source: string, targets: readonly MatchedDocument[]): readonly string[] {
  const fresh = targets.filter(({ existing }) => existing?.declared.every((item) => item.source !== source) === true);
  return fresh.map(({ desired }) => `${desired.kind.name}/${desired.key}`);
}

/**
 * Returns the digest function of a plan. In digests, objects that the plan creates are named by kind and key instead of
 * by their new id, which differs from plan to plan.
 */
export function createTargetDigest(compare: Comparison, targets: readonly MatchedDocument[]): Planning['digest'] {
  let created: Map<string, string> | undefined;
  return (kind, object, path, value) => {
    created ??= new Map(
      targets
        .filter(({ existing }) => existing === undefined)
        .map(({ id, desired }) => [id, `@${desired.kind.name}/${desired.key}`]),
    );
    return claimDigest(compare.unit(kind.spec, object, path, value), created);
  };
}

/** Returns a function that turns a fault of an object into a problem at its position in the documents. */
export function createFaultLocator(
  targets: readonly MatchedDocument[],
): (object: StoredObject, fault: Fault) => Problem {
  let byId: Map<string, MatchedDocument> | undefined;
  return (object, fault) => {
    byId ??= new Map(targets.flatMap((target) => [target.id, target.replaces ?? target.id].map((id) => [id, target])));
    const target = byId.get(object.id);
    if (target === undefined)
      return { code: fault.code, kind: object.kind, key: object.key ?? object.name, message: fault.message };
    return problemOf(target.desired, locateFault(target.desired.kind.spec, object.spec, target.desired.spec, fault));
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
