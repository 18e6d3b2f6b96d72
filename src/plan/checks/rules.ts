import { nearestAll } from '../../lib/nearest.ts';
import { shouldYield } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import { nounOf } from '../../model/declare/kind-noun.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import type { Edition } from '../../model/edition.ts';
import { type Problem, sortProblems, takeFaults } from '../../model/problem.ts';
import type { Fields } from '../../model/schema/field.ts';
import { changedReferences, facetsOf, parentField, type Reference } from '../../model/state/facets.ts';
import { completeSpec } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type Change, subjectOf } from '../plan.ts';
import { rightFaults } from './authorize.ts';
import { describeAllReferrers, type Referrers } from './referrers.ts';

/** Converts a fault of an object to a problem with the position of its input. */
export type FaultLocator = (object: StoredObject, fault: Fault) => Problem;

/** A step from one snapshot to the next. */
export interface StepInput {
  readonly before: Snapshot;
  readonly next: Snapshot;
  readonly changes: readonly Change[];
  readonly edition: Edition;
  /** Codes of rules that are not checked. Absent: none. */
  readonly uncheckedRules?: PlanEnvironment['uncheckedRules'] | undefined;
  readonly actor?: Actor | undefined;
  /** By object id: descriptions of users of the object that are not objects themselves. */
  readonly alsoUsedBy?: ReadonlyMap<string, readonly string[]> | undefined;
  /** True when the step restores an earlier state. */
  readonly rollback?: true | undefined;
}

/** Returns every rule that a step breaks. Checks only what changes. Yields regularly. */
export function* checkRules(step: StepInput, locate: FaultLocator): Generator<undefined, readonly Problem[]> {
  const { before, next, changes, edition } = step;
  const left = findRemainingLinks(changes, next);
  const problems: Problem[] = [];
  for (const [at, change] of changes.entries()) {
    if (shouldYield(at)) yield undefined;
    const kind = before.registry.get(subjectOf(change).kind);
    const faults = [
      ...refusalFaults(kind, change),
      ...(change.internal === true ? [] : rightFaults(before, step.actor, kind, change.action)),
      ...editionFaults(kind, change, edition),
      ...mutationFaults(kind, change, step),
      ...(change.after === undefined ? [] : objectFaults(kind, change, change.after, { next, remainingLinks: left })),
    ];
    const checked = faults.filter(({ code }) => step.uncheckedRules?.has(code) !== true);
    for (const fault of takeFaults(checked, problems.length)) problems.push(locate(subjectOf(change), fault));
    if (change.action === 'delete') problems.push(...deleteProblems(kind, subjectOf(change), next, step.alsoUsedBy));
  }
  return sortProblems(problems);
}

function refusalFaults(kind: Kind, change: Change): readonly Fault[] {
  if (change.before === undefined || change.action === 'create' || change.internal === true) return [];
  const reason = kind.refuse?.(change.before, change.action);
  return reason === undefined ? [] : [{ code: `${change.action}_refused`, path: '', message: reason }];
}

function mutationFaults(kind: Kind, change: Change, { before, next, actor, rollback }: StepInput): readonly Fault[] {
  if (kind.checkMutation === undefined || change.internal === true) return [];
  const { before: was, after: is } = change;
  const mutation = {
    ...(was === undefined ? {} : { before: was }),
    ...(is === undefined ? {} : { after: is }),
    ...(actor === undefined ? {} : { actor }),
    ...(rollback === undefined ? {} : { rollback }),
  };
  return kind.checkMutation(mutation, before, next);
}

/** Returns faults for features of the hosted edition that are switched on in another edition. */
function editionFaults(kind: Kind, { action, units, after }: Change, edition: Edition): readonly Fault[] {
  if (edition === 'hosted' || after === undefined) return [];
  const message = 'exists in the hosted edition only, and this server runs the self-hosted one';
  if (kind.edition === 'hosted' && action === 'create')
    return [{ code: 'edition_required', path: '', message: `${kind.name} ${message}` }];
  return units
    .filter(({ path, after: value }) => value === true && isHostedOnly(kind.spec, path))
    .map(({ path }) => ({
      code: 'edition_required',
      path: `/${path.replaceAll('.', '/')}`,
      message: `\`${path}: true\` ${message}; leave it \`false\``,
    }));
}

function isHostedOnly(fields: Fields, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const field = fields[name];
  if (rest.length > 0 && field?.type === 'object') return isHostedOnly(field.fields, rest.join('.'));
  return field?.hostedOnly === true;
}

/** State after a step. `remainingLinks`: by object, its remaining references to objects that the step deletes. */
interface StepResult {
  readonly next: Snapshot;
  readonly remainingLinks: ReadonlyMap<string, readonly Link[]>;
}

type Link = Pick<Reference, 'field' | 'to'>;

function objectFaults(kind: Kind, change: Change, after: StoredObject, outcome: StepResult): readonly Fault[] {
  const { next } = outcome;
  // The spec conforms to the fields, so it has the shape that the rules expect. An unchanged spec was checked when it
  // was written.
  const own = change.units.length === 0 ? [] : (kind.check?.(completeSpec(after)) ?? []);
  return [
    ...own,
    ...uniqueFaults(kind, after, next),
    ...danglingFaults(change.before, after, outcome),
    ...(own.length === 0 ? (kind.checkState?.(after, next) ?? []) : []),
  ];
}

function uniqueFaults(kind: Kind, object: StoredObject, next: Snapshot): readonly Fault[] {
  const faults: Fault[] = [];
  for (const { rule, value } of facetsOf(next.registry, object).keys) {
    const holder = next.findByUnique(kind.name, rule, value);
    if (holder === undefined || holder.id === object.id) continue;
    const unique = kind.uniques[rule];
    const message = unique === undefined ? takenKey(kind, rule, value) : unique.message(value);
    faults.push({ code: 'value_taken', path: unique?.path ?? '', message: `${message}${holderHint(holder)}` });
  }
  return faults;
}

function takenKey(kind: Kind, rule: string, value: string): string {
  if (rule === 'single') return `a ${kind.name} already exists, and there can be only one; change or delete it`;
  return `the key ${value} is taken by another ${kind.name}; choose another one`;
}

function holderHint(holder: StoredObject): string {
  if (holder.owner !== undefined) return ` (it belongs to the source ${holder.owner})`;
  return '';
}

/** Returns faults for references to objects that this step deletes. Unchanged members are not checked one by one. */
function danglingFaults(
  was: StoredObject | undefined,
  object: StoredObject,
  { next, remainingLinks }: StepResult,
): readonly Fault[] {
  const { links } = facetsOf(next.registry, object);
  const { added } = changedReferences(next.registry, was, object);
  const dangling = [...links, ...added].filter(({ to }) => next.get(to) === undefined);
  const named = new Set(
    [...dangling, ...(remainingLinks.get(object.id) ?? [])].map(({ field, to }) => `${field}\n${to}`),
  );
  return [...named].map((link) => {
    const [field = '', to = ''] = link.split('\n');
    return {
      code: 'reference_deleted',
      path: `/${field.split('.')[0]}`,
      message: `refers to ${to}, which does not exist any more; remove the reference`,
    };
  });
}

function findRemainingLinks(changes: readonly Change[], next: Snapshot): StepResult['remainingLinks'] {
  const left = new Map<string, Link[]>();
  for (const { action, before } of changes) {
    if (action !== 'delete' || before === undefined) continue;
    for (const { from, field } of next.referrersOf(before.id)) {
      const list = left.get(from.id) ?? [];
      left.set(from.id, list);
      list.push({ field, to: before.id });
    }
  }
  return left;
}

const inUseCodes = { linked: 'object_linked', in_use: 'object_in_use', precondition: 'object_required' } as const;

function deleteProblems(
  kind: Kind,
  object: StoredObject,
  next: Snapshot,
  alsoUsedBy: StepInput['alsoUsedBy'],
): readonly Problem[] {
  const others = alsoUsedBy?.get(object.id) ?? [];
  const referrers = next
    .referrersOf(object.id)
    .filter(({ from, field }) => field !== parentField || next.registry.get(from.kind).parent?.holds === true);
  const users = (kind.usedBy?.(object, next) ?? []).map((from) => ({ from }));
  if (referrers.length + users.length + others.length === 0) return [];
  // The label of a referrer may contain the name of its parent, which may be the deleted object, so that object is put
  // back for the labels.
  const named = next.with({ put: [object], remove: [] });
  const list = [...describeAllReferrers(named, [...referrers, ...users]), ...others];
  return [
    {
      code: inUseCodes[inUseReason(kind, referrers)],
      kind: kind.name,
      key: object.key ?? object.name,
      message: `${nounOf(kind.name)} has been linked to ${list.join(', ')}; remove it there first`,
      usedBy: list,
    },
  ];
}

/**
 * Returns the reason why a delete is refused. A special reason of the kind applies only when all referrers share it.
 */
function inUseReason(kind: Kind, referrers: Referrers): keyof typeof inUseCodes {
  const { inUse = 'in_use' } = kind;
  if (typeof inUse === 'string') return inUse;
  const reasons = new Set(referrers.map(({ from }) => inUse[from.kind] ?? 'in_use'));
  const [only = 'in_use', ...others] = reasons;
  return others.length === 0 ? only : 'in_use';
}

/** Returns the problem of a reference that names no object, with up to three similar names. */
export function unknownReferenceFault(
  text: string,
  kind: string,
  names: Iterable<string>,
): { readonly code: 'reference_unknown'; readonly message: string } {
  const near = nearestAll(text, names, 3);
  const hint =
    near.length === 0
      ? `there is no ${kind} of that name`
      : `did you mean ${near.map((name) => `\`${name}\``).join(' or ')}?`;
  return { code: 'reference_unknown', message: `unknown ${kind} \`${text}\`; ${hint}` };
}
