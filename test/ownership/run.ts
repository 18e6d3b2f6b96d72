import { type ChangeRow, changeRows, replay } from '../../src/db/commit/history.ts';
import { equalJson, type Json } from '../../src/lib/json.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import type { PendingClaim } from '../../src/plan/ownership/claims-of-others.ts';
import { isEmptyPlan, type Plan, type PlanOutcome } from '../../src/plan/plan.ts';
import * as acting from './acting.ts';
import * as model from './model.ts';
import { type Act, keys, type Sequence, sources } from './sequence.ts';

/** An account and its model. */
interface Run {
  readonly sequence: Sequence;
  state: Snapshot;
  world: model.World;
  now: number;
  /** Claims of refused sources, as the plans report them. */
  claimed: PendingClaim[];
  /** Claims of refused sources, as the model has them. */
  readonly bodies: Map<string, model.Refused>;
  /** Latest documents of each source, whether they were applied or refused. */
  readonly latest: Map<string, ReadonlyMap<string, model.Said>>;
  /** States before each step. `plans` contains the plan of each step. */
  readonly past: Snapshot[];
  readonly plans: Plan[];
}

/** Performs all acts on an account and on the model, which must agree after every act. Returns the account. */
export function play(sequence: Sequence): Snapshot {
  const run: Run = {
    ...{ sequence, state: acting.newAccount(sequence.modes), world: new Map(), now: 0, claimed: [] },
    ...{ bodies: new Map(), latest: new Map(), past: [], plans: [] },
  };
  const first = run.state;
  for (const act of sequence.acts) {
    perform(run, act);
    agree(run, act);
  }
  settle(run);
  replayed(run, first);
  return run.state;
}

function perform(run: Run, act: Act): void {
  if (act.does === 'apply') applyBoth(run, act.source, act.said, act.force);
  else if (act.does === 'replace') replaceBoth(run, act);
  else if (act.does === 'create') createBoth(run, act.key, act.units);
  else if (act.does === 'delete') deleteBoth(run, act.key);
  else if (act.does === 'enrol') enrolBoth(run, act.key, act.person);
  else if (act.does === 'detach') detachBoth(run, act.source);
  else if (act.does === 'rollback') rollBack(run, act.back);
  else if (act.does === 'wait') {
    run.now += act.minutes;
    if (act.expire) expireBoth(run);
  }
}

function applyBoth(run: Run, source: string, said: ReadonlyMap<string, model.Said>, force: boolean): void {
  run.latest.set(source, said);
  const documents = acting.documentsOf(said);
  const { state, now, claimed } = run;
  const outcome = acting.applyTo(state, source, documents, { force, now, claimed });
  const refused = model.apply(run.world, source, said, howOf(run, source, force));
  same(outcome.ok, refused === undefined, `whether ${source} is applied`);
  run.claimed = claimed.filter((one) => one.source !== source);
  run.bodies.delete(source);
  if (!outcome.ok) {
    if (outcome.claimed !== undefined) run.claimed.push({ source, ...outcome.claimed });
    if (refused !== undefined) run.bodies.set(source, refused);
    return;
  }
  step(run, outcome);
  // Documents that changed nothing the first time change nothing the second time.
  if (isEmptyPlan(outcome.plan)) return;
  const again = acting.applyTo(run.state, source, documents, { force, now, claimed });
  same(isQuiet(again), true, `that planning after applying ${source} is empty`);
}

function howOf({ sequence, bodies, now }: Run, source: string, force: boolean): model.How {
  const claimed = [...bodies].filter(([other]) => other !== source).map(([, refused]) => refused);
  return { mode: sequence.modes.get(source) ?? 'guard', force, now, claimed };
}

function isQuiet(outcome: PlanOutcome): boolean {
  return outcome.ok && isEmptyPlan(outcome.plan);
}

function replaceBoth(run: Run, { key, change, glass }: Extract<Act, { readonly does: 'replace' }>): void {
  const thing = run.world.get(key);
  const object = acting.thingIn(run.state, key);
  if (thing === undefined || object === undefined) return;
  const { now } = run;
  const body = acting.bodyOf(thing.units, change);
  const outcome = acting.replaceIn(run.state, object.id, body, now, glass === undefined ? undefined : now + glass);
  const until = glass === undefined ? undefined : { now, end: now + glass };
  const isAllowed = model.replace(thing, change, run.sequence.modes, until);
  same(outcome.ok, isAllowed, 'whether the change is allowed');
  if (outcome.ok) step(run, outcome);
}

function createBoth(run: Run, key: string, change: ReadonlyMap<string, model.Value | undefined>): void {
  if (run.world.has(key)) return;
  const units = new Map([...change].flatMap(([path, value]) => (value === undefined ? [] : [[path, value] as const])));
  const outcome = acting.createIn(run.state, key, acting.bodyOf(units, new Map()), run.now);
  same(outcome.ok, true, 'that a thing is made');
  if (outcome.ok) step(run, outcome);
  run.world.set(key, model.made(units));
}

function deleteBoth(run: Run, key: string): void {
  const thing = run.world.get(key);
  const object = acting.thingIn(run.state, key);
  if (thing === undefined || object === undefined) return;
  const outcome = acting.deleteIn(run.state, object.id, run.now);
  same(outcome.ok, model.mayDelete(thing, run.sequence.modes), 'whether the delete is allowed');
  if (!outcome.ok) return;
  step(run, outcome);
  run.world.delete(key);
}

function enrolBoth(run: Run, key: string, person: string): void {
  const object = acting.thingIn(run.state, key);
  if (object === undefined) return;
  const outcome = acting.joined(run.state, object.id, person);
  if (outcome.ok) step(run, outcome);
  model.enrol(run.world.get(key) as model.Thing, person);
}

function expireBoth(run: Run): void {
  const outcome = acting.expireIn(run.state, run.now);
  same(outcome.ok, true, 'that overrides end');
  if (outcome.ok) step(run, outcome);
  model.expire(run.world, run.now);
  same(isQuiet(acting.expireIn(run.state, run.now)), true, 'that overrides end once');
}

function detachBoth(run: Run, source: string): void {
  const outcome = acting.detachIn(run.state, source);
  same(outcome.ok, true, 'that a source is detached');
  if (outcome.ok) step(run, outcome);
  model.detach(run.world, source);
  run.claimed = run.claimed.filter((one) => one.source !== source);
  run.bodies.delete(source);
  run.latest.delete(source);
}

/**
 * Rolls back the account. The model does not cover rollbacks: it takes over the restored state and continues from
 * there. Checks that no restriction is undone, and that overrides stay.
 */
function rollBack(run: Run, back: number): void {
  const past = run.past.at(-1 - back);
  if (past === undefined) return;
  const outcome = acting.rollBackIn(run.state, past, run.now);
  if (!outcome.ok) return;
  const before = run.world;
  const { sequence, state } = run;
  step(run, outcome);
  run.state = run.state.withSettings(state.settings());
  run.world = acting.worldOf(run.state);
  for (const [key, { units, held }] of before) {
    const after = run.world.get(key);
    // A thing that replaced another thing of the same name inherits none of its restrictions and overrides.
    if (after === undefined || acting.thingIn(state, key)?.id !== acting.thingIn(run.state, key)?.id) continue;
    same(units.get('cut') === true && after.units.get('cut') !== true, false, `a restriction of ${key} is undone`);
    for (const [path, until] of held)
      if (until > run.now) same(String(units.get(path)), String(after.units.get(path)), `${path}, which is held`);
  }
  const again = acting.rollBackIn(run.state, past, run.now);
  same(isQuiet(again), true, `that a rollback is done once (${sequence.acts.length} acts)`);
}

/** Moves the account to the state after a plan, and records the plan for its history. */
function step(run: Run, { plan, next }: Extract<PlanOutcome, { readonly ok: true }>): void {
  run.past.push(run.state);
  run.plans.push(plan);
  run.state = next;
}

/** Checks that values, ownership, origins and overrides equal those of the model. */
function agree({ state, world }: Run, act: Act): void {
  const lines = keys.flatMap((key) => {
    const thing = world.get(key);
    return thing === undefined ? [] : [lineOfThing(key, thing)];
  });
  same(acting.linesOfState(state), lines.join('\n'), `the account after ${act.does}`);
}

function lineOfThing(key: string, { keyed, owner, units, declared, held }: model.Thing): string {
  const flat = (all: model.Units) =>
    [...all]
      .map(([path, value]) => `${path}=${value}`)
      .sort()
      .join(' ');
  const said = [...declared].map(([source, one]) => `${source}${one.exclusive ? '!' : ''}(${flat(one.units)})`);
  const until = [...held].map(([path, end]) => `${path}<${acting.timeAt(end)}`);
  return acting.lineOf(key, keyed, owner, flat(units), said, until);
}

/**
 * Reconciles all sources repeatedly with their latest documents. After a few rounds nothing may change any more:
 * refused sources stay refused, and no two sources undo each other's changes.
 */
function settle(run: Run): void {
  for (let rounds = 0; rounds <= sources.length; rounds++) {
    const { state, claimed } = run;
    for (const source of sources) {
      const said = run.latest.get(source);
      if (said !== undefined) applyBoth(run, source, said, false);
    }
    if (run.state === state || acting.linesOfState(run.state) === acting.linesOfState(state)) {
      if (sameBodies(run.claimed, claimed)) return;
    }
  }
  throw new Error(`the sources do not come to rest: ${acting.linesOfState(run.state)}`);
}

function sameBodies(now: readonly PendingClaim[], before: readonly PendingClaim[]): boolean {
  const text = (all: readonly PendingClaim[]) =>
    JSON.stringify([...all].sort((a, b) => (a.source < b.source ? -1 : 1)));
  return text(now) === text(before);
}

/** Checks that replaying the history of the account from its beginning gives its current state. */
function replayed({ plans, state }: Run, first: Snapshot): void {
  const actor = { type: 'system', id: 'sys', name: 'system' } as const;
  const rows = plans.flatMap((plan) =>
    changeRows({ revision: plan.base + 1, plan, actor, requestId: 'r', at: acting.timeAt(0), events: [] }),
  );
  // The rows have exactly the shape in which they are read back, as `interleavings.ts` of the plans and `on-store.ts`
  // show.
  const again = replay(first, rows as unknown as readonly ChangeRow[], state.revision);
  const things = (of: Snapshot) => of.ofKind('Thing') as unknown as Json;
  same(equalJson(things(again), things(state)), true, 'what replaying its history gives');
}

/** Compares two values without the test runner, whose assertions take longer than a plan. */
function same(actual: string | boolean, expected: string | boolean, what: string): void {
  if (actual === expected) return;
  throw new Error(`account and model differ in ${what}:\naccount: ${actual}\nmodel:   ${expected}`);
}
