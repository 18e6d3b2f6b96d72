import { equalJson } from '../../lib/json.ts';
import type { Problem } from '../../model/problem.ts';
import type { ChangeView, ClaimView, PlanView, UnitView } from '../../operations/config/plan.ts';
import { shorten } from './describe.ts';
import type { ObjectView } from './view.ts';

/** Effect of a revision on one object since a plan was made. */
export interface Touch {
  readonly revision: number;
  /** Name of the user or source that made the revision. */
  readonly by: string;
  readonly action: string;
  readonly kind: string;
  readonly id: string;
  readonly key?: string;
  readonly name: string;
  /** Paths of the changed units, with names instead of ids in brackets. */
  readonly paths: readonly string[];
}

/** The plan that the same input gives now, or the problems that prevent one. */
export type Fresh =
  | { readonly ok: true; readonly plan: PlanView }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Maximum number of differences in the list. */
const maxDifferences = 100;

/**
 * Explains how a stored plan differs from a new one, by object and unit, and who caused the differences. `touches` are
 * the changes since the plan was made, newest first. Never returns an empty list.
 */
export function explainStale(saved: PlanView, fresh: Fresh, touches: readonly Touch[]): readonly Problem[] {
  const found = fresh.ok ? compare(saved, fresh.plan, touches) : [...fresh.problems, ...touchProblems(touches)];
  if (found.length === 0) {
    const renewed = recreated(touches);
    if (renewed.length > 0) return renewed.slice(0, maxDifferences);
    const message = `the owner or the protection of what the plan changes is different now${attribution(touches[0])}`;
    return [{ code: 'plan_stale', message }];
  }
  if (found.length <= maxDifferences) return found;
  return [
    ...found.slice(0, maxDifferences),
    { code: 'plan_stale', message: `and ${found.length - maxDifferences} more differences` },
  ];
}

/**
 * Reports objects that were deleted and created again under the same name. References to that name now mean the new
 * objects, although the plan looks the same.
 */
function recreated(touches: readonly Touch[]): readonly Problem[] {
  const gone = new Map(touches.filter(({ action }) => action === 'delete').map((touch) => [identity(touch), touch]));
  return touches.flatMap((touch) => {
    const was = touch.action === 'create' ? gone.get(identity(touch)) : undefined;
    if (was === undefined || was.id === touch.id) return [];
    return [
      stale(touch, `is now another object with that name (id ${touch.id}, before ${was.id})${attribution(touch)}`),
    ];
  });
}

/** Explains that the account has moved on from the revision that the plan requires. */
export function explainMoved(base: number, now: number, touches: readonly Touch[]): readonly Problem[] {
  const message = `the account is at revision ${now}, and the plan requires revision ${base}, on which it was made`;
  return [{ code: 'plan_stale', message }, ...touchProblems(touches)];
}

function compare(saved: PlanView, fresh: PlanView, touches: readonly Touch[]): readonly Problem[] {
  const before = new Map(saved.changes.map((change) => [identity(change), change]));
  const now = new Map(fresh.changes.map((change) => [identity(change), change]));
  const names = [...new Set([...before.keys(), ...now.keys()])];
  return [
    ...names.flatMap((name) => compareChange(before.get(name), now.get(name), touches)),
    ...compareClaims(saved.claims, fresh.claims, touches),
    ...compareGuards(saved, fresh),
  ];
}

function identity({ kind, key, name }: Pick<ObjectView, 'kind' | 'key' | 'name'>): string {
  return `${kind}/${key ?? name}`;
}

const needless: Readonly<Record<ChangeView['action'], string>> = {
  create: 'was to be created and already exists',
  update: 'was to be changed and already has the planned values',
  delete: 'was to be deleted and would not be deleted any more',
};

const passive = { create: 'created', update: 'changed', delete: 'deleted' } as const;

function compareChange(
  saved: ChangeView | undefined,
  fresh: ChangeView | undefined,
  touches: readonly Touch[],
): readonly Problem[] {
  if (saved === undefined && fresh === undefined) return [];
  if (saved === undefined) return fresh === undefined ? [] : [added(fresh, touches)];
  const whole = latest(saved, touches);
  if (fresh === undefined) return [stale(saved, `${needless[saved.action]}${attribution(whole)}`)];
  if (saved.action !== fresh.action) {
    const message = `was to be ${passive[saved.action]} and would now be ${passive[fresh.action]}`;
    return [stale(fresh, `${message}${attribution(latest(fresh, touches) ?? whole)}`)];
  }
  if (saved.id !== fresh.id && saved.action !== 'create')
    return [
      stale(fresh, `is now another object with that name (id ${fresh.id}, before ${saved.id})${attribution(whole)}`),
    ];
  return compareUnits(saved, fresh, touches);
}

function added(fresh: ChangeView, touches: readonly Touch[]): Problem {
  const units = fresh.action === 'update' ? ` (${fresh.units.slice(0, 5).map(describeUnitChange).join(', ')})` : '';
  const message = `would now be ${passive[fresh.action]} as well${units}`;
  return stale(fresh, `${message}${attribution(latest(fresh, touches))}`);
}

function describeUnitChange({ path, before, after }: UnitView): string {
  if (before === undefined) return `+${path}`;
  return after === undefined ? `-${path}` : `${path} ${shorten(before)} → ${shorten(after)}`;
}

function compareUnits(saved: ChangeView, fresh: ChangeView, touches: readonly Touch[]): readonly Problem[] {
  const before = new Map(saved.units.map((unit) => [unit.path, unit]));
  const now = new Map(fresh.units.map((unit) => [unit.path, unit]));
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((path) => {
    const message = compareUnit(before.get(path), now.get(path));
    if (message === undefined) return [];
    return [stale(fresh, `\`${path}\` ${message}${attribution(latest(fresh, touches, path))}`)];
  });
}

function compareUnit(saved: UnitView | undefined, fresh: UnitView | undefined): string | undefined {
  if (saved === undefined)
    return fresh === undefined ? undefined : `would now change as well: ${describeUnitChange(fresh)}`;
  if (fresh === undefined) return 'already has the planned value';
  if (!equalJson(saved.before, fresh.before))
    return `is ${shown(fresh.before)} now and was ${shown(saved.before)} when the plan was made`;
  if (!equalJson(saved.after, fresh.after))
    return `would become ${shown(fresh.after)} now and was to become ${shown(saved.after)}`;
  return undefined;
}

function shown(value: UnitView['before']): string {
  return value === undefined ? 'absent' : shorten(value);
}

function compareClaims(
  saved: readonly ClaimView[],
  fresh: readonly ClaimView[],
  touches: readonly Touch[],
): readonly Problem[] {
  const byObject = (claims: readonly ClaimView[]) => new Map(claims.map((claim) => [identity(claim), claim]));
  const [before, now] = [byObject(saved), byObject(fresh)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [old, current] = [before.get(name), now.get(name)];
    const claim = current ?? old;
    if (claim === undefined || old?.action === current?.action) return [];
    return [stale(claim, `has other claims than when the plan was made${attribution(latest(claim, touches))}`)];
  });
}

function compareGuards(saved: PlanView, fresh: PlanView): readonly Problem[] {
  const known = new Set(saved.guards.map(({ message }) => message));
  const still = new Set(fresh.guards.map(({ guard }) => guard));
  return [
    ...fresh.guards
      .filter(({ message }) => !known.has(message))
      .map((guard) => staleGuard(guard, 'a guard would now report')),
    ...saved.guards
      .filter(({ guard }) => !still.has(guard))
      .map((guard) => staleGuard(guard, 'a guard no longer reports')),
  ];
}

function staleGuard({ kind, key, message }: PlanView['guards'][number], change: string): Problem {
  return {
    ...{ code: 'plan_stale', message: `${change}: ${message}` },
    ...(kind === undefined ? {} : { kind }),
    ...(key === undefined ? {} : { key }),
  };
}

function stale({ kind, key, name, file, line }: ObjectView, message: string): Problem {
  return {
    ...{ code: 'plan_stale', kind, key: key ?? name, message: `${kind} ${key ?? name}: ${message}` },
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}

/** Returns the newest change of an object, or of one of its units if `path` is given. */
function latest(object: ObjectView, touches: readonly Touch[], path?: string): Touch | undefined {
  const own = touches.filter(
    (touch) =>
      touch.id === object.id ||
      (touch.kind === object.kind && (touch.key ?? touch.name) === (object.key ?? object.name)),
  );
  // The creation of an object has no paths.
  return own.find((touch) => path === undefined || touch.action === 'create' || touch.paths.includes(path)) ?? own[0];
}

const verbs: Readonly<Record<string, string>> = { create: 'created it', delete: 'deleted it', update: 'changed it' };

function attribution(touch: Touch | undefined): string {
  if (touch === undefined) return '';
  return `; ${touch.by} ${verbs[touch.action] ?? 'changed the claims on it'} in revision ${touch.revision}`;
}

/** Lists all changes since the plan was made, for when it is unknown which of them matter. */
function touchProblems(touches: readonly Touch[]): readonly Problem[] {
  const shownTouches = touches.slice(0, 20).map(
    ({ revision, by, action, kind, key, name }): Problem => ({
      ...{ code: 'changed_since', kind, key: key ?? name },
      message: `in revision ${revision} ${by} ${passive[action as ChangeView['action']] ?? 'claimed or released'} ${kind} ${key ?? name}`,
    }),
  );
  const more = touches.length - shownTouches.length;
  return more > 0 ? [...shownTouches, { code: 'changed_since', message: `and ${more} more changes` }] : shownTouches;
}
