import { mapInSteps } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import type { PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { type Problem, sortProblems } from '../../model/problem.ts';
import { defaultSettings } from '../../model/sources/settings.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { trippedGuards } from '../checks/guard.ts';
import { type Edit, finishInSteps } from '../finish.ts';
import { type Change, type Claim, type Plan, type PlanOutcome, subjectOf, type TrippedGuard } from '../plan.ts';
import { checkRollback } from './checks.ts';
import { removeCreated, restoreDeleted } from './gone.ts';
import { type ObjectRollback, objectProblem, type RollbackTarget, restoreChanged } from './object.ts';
import { changedPairs, includesSource, isNeverRolledBack, type ObjectPair, type RollbackScope } from './scope.ts';

/** Input of `planRollback`. */
export interface RollbackInput {
  /** Present state of the account. */
  readonly snapshot: Snapshot;
  /** Former state of the account, which is to be restored. */
  readonly past: Snapshot;
  readonly scope: RollbackScope;
  /** Time of the rollback, in ISO 8601. */
  readonly now: string;
  newId(): string;
  readonly planEnvironment?: PlanEnvironment;
  readonly actor?: Actor;
  /** Uses of objects by something other than an object, such as invites: texts by id of the used object. */
  readonly alsoUsedBy?: ReadonlyMap<string, readonly string[]> | undefined;
}

/**
 * Plans the changes that restore a former state: deleted objects return with their ids, and units and declarations get
 * their former values. The plan passes guards like any other plan, and is refused as a whole. Restrictions are never
 * undone and credentials are never restored; the plan lists them as warnings. Applying it also suspends the sources
 * that it touches.
 */
export function* planRollback(input: RollbackInput): Generator<undefined, PlanOutcome> {
  const { snapshot, past, scope, now } = input;
  const way: RollbackTarget = { scope, revision: past.revision, now };
  const parts: ObjectRollback[] = [];
  for (const [at, pair] of changedPairs(past, snapshot, scope).entries()) {
    parts.push(rollBackObject(way, snapshot, pair));
    if (at % 500 === 499) yield undefined;
  }
  const checked = checkRollback(
    past,
    snapshot,
    parts.flatMap(({ edit }) => edit ?? []),
  );
  yield undefined;
  const warnings = [...parts.flatMap((part) => part.warnings), ...checked.warnings];
  const outcome = yield* finishRollback(input, checked.edits, warnings);
  const taken = outcome.ok ? takenKeyProblems(snapshot, outcome.plan, outcome.next) : [];
  const problems = [...parts.flatMap((part) => part.problems), ...checked.problems, ...taken];
  if (problems.length > 0 || !outcome.ok) {
    const broken = outcome.ok ? [] : outcome.problems;
    return { ok: false, problems: sortProblems([...problems, ...unreported(problems, broken)]) };
  }
  return withSuspensions(input, outcome.plan, outcome.next);
}

function rollBackObject(way: RollbackTarget, { registry }: Snapshot, { was, is }: ObjectPair): ObjectRollback {
  const object = is ?? was;
  const nothing = { problems: [], warnings: [] };
  if (object === undefined) return nothing;
  const kind = registry.get(object.kind);
  if (isNeverRolledBack(kind, object)) return nothing;
  if (is === undefined) return restoreDeleted(way, kind, object);
  return was === undefined ? removeCreated(way, kind, is) : restoreChanged(way, kind, was, is);
}

/**
 * Returns a problem for each restored key that another object has now. Only the key of these objects changes, so no
 * rule checks them.
 */
function takenKeyProblems(snapshot: Snapshot, { claims }: Plan, next: Snapshot): readonly Problem[] {
  return claims.flatMap(({ before, after }) => {
    const { kind, key } = after;
    if (key === undefined || key === before.key) return [];
    const holder = snapshot.findByKey(kind, key);
    if (holder === undefined || holder.id === after.id || next.get(holder.id)?.key !== key) return [];
    const by = holder.owner === undefined ? '' : ` of the source ${holder.owner}`;
    return [
      objectProblem(
        after,
        'value_taken',
        `the key \`${key}\` now belongs to another ${kind}${by}; rename or remove that object first`,
      ),
    ];
  });
}

/** Drops problems that repeat a reported problem of the same object under the code of a rule. */
function unreported(reported: readonly Problem[], found: readonly Problem[]): readonly Problem[] {
  const known = new Set(reported.map(({ code, kind, key }) => `${equivalentCodes[code] ?? code} ${kind} ${key}`));
  return found.filter(({ code, kind, key }) => !known.has(`${code} ${kind} ${key}`));
}

const equivalentCodes: Readonly<Record<string, string>> = { reference_missing: 'reference_deleted' };

function* finishRollback(
  input: RollbackInput,
  edits: readonly Edit[],
  warnings: readonly Problem[],
): Generator<undefined, PlanOutcome> {
  const { snapshot, past, scope, now, newId, planEnvironment, actor } = input;
  const { source } = onlySource(scope);
  return yield* finishInSteps({
    snapshot,
    edits,
    ...(source === undefined ? {} : { source }),
    rollback: true,
    options: { rollback: String(past.revision), scope },
    warnings: sortProblems(warnings),
    locate: (object, { code, path, message }) => ({
      ...objectProblem(object, code, message),
      ...(path === '' ? {} : { path }),
    }),
    newId,
    now,
    ...(planEnvironment === undefined ? {} : { planEnvironment }),
    ...(actor === undefined ? {} : { actor }),
    guards: (changes) => guardsOf(input, changes),
    alsoUsedBy: input.alsoUsedBy,
  });
}

function onlySource(scope: RollbackScope): { readonly source?: string } {
  return scope.startsWith('source:') ? { source: scope.slice('source:'.length) } : {};
}

/** Applies the guards of each source whose objects change, as if its documents caused the changes. */
function* guardsOf(
  { snapshot, past }: RollbackInput,
  changes: readonly Change[],
): Generator<undefined, readonly TrippedGuard[]> {
  const byOwner = Map.groupBy(changes, ({ before, after }) => (before ?? after)?.owner);
  const tripped = yield* mapInSteps([...byOwner], ([owner, list]) =>
    trippedGuards({
      source: owner ?? 'the API',
      changes: list,
      owned: () => ownedBy(snapshot, owner),
      desiredCount: owner === undefined ? 1 : past.declaredBy(owner).length,
      allowEmpty: false,
      limits: owner === undefined ? defaultSettings.limits : snapshot.settingsOf(owner).limits,
    }),
  );
  return tripped.flat();
}

function ownedBy(state: Snapshot, owner: string | undefined): readonly StoredObject[] {
  const objects = owner === undefined ? [...state.objects()] : state.declaredBy(owner);
  return objects.filter(
    (object) => object.owner === owner && !isNeverRolledBack(state.registry.get(object.kind), object),
  );
}

/**
 * Adds the warnings about new generated values to the plan, and suspends the sources in scope that it touches, because
 * they would otherwise change the restored objects again.
 */
function withSuspensions({ past, scope }: RollbackInput, plan: Plan, next: Snapshot): PlanOutcome {
  const touched = [...plan.changes, ...plan.claims].flatMap((change) => sourcesOf(change));
  const suspends = [...new Set(touched)].filter((source) => includesSource(scope, source)).sort();
  const warnings = sortProblems([...plan.warnings, ...renewedValueWarnings(plan)]);
  const rollback = { revision: past.revision, scope, suspends };
  const settings = suspends.map(
    (source) => [source, { ...next.settingsOf(source), suspended: true, rolledBack: next.revision }] as const,
  );
  return {
    ok: true,
    plan: { ...plan, warnings, rollback },
    next: next.withSettings(new Map([...next.settings(), ...settings])),
  };
}

function sourcesOf({ before, after }: Change | Claim): readonly string[] {
  return [before, after].flatMap((object) =>
    object === undefined ? [] : [object.owner ?? [], object.declared.map(({ source }) => source)].flat(),
  );
}

/** Returns a warning for each value that the server generates anew for a restored object. */
function renewedValueWarnings({ changes, outputs }: Plan): readonly Problem[] {
  return changes.flatMap((change) => {
    const object = subjectOf(change);
    return Object.keys(outputs.get(object.id) ?? {}).map((name) => {
      const message = `${object.kind} ${object.key ?? object.name} is restored with a new ${name}, shown when the plan is applied; the former one does not work any more`;
      return objectProblem(object, 'credential_new', message);
    });
  });
}
