import { describe, expect, it } from 'vitest';
import { defineKind } from '../../src/model/declare/kind.ts';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import type { Document } from '../../src/model/document.ts';
import { integer, ref, refs, string } from '../../src/model/schema/field.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { checkPlan, checkState } from './invariants.ts';
import {
  applyOn,
  document,
  guardsOf,
  linesOf,
  objectOf,
  office,
  planned,
  planOn,
  problemsOf,
  refusals,
  withModes,
} from './steps.ts';

const name = string({ doc: 'Name.', required: true });
const base = { module: 'test', document: { allowed: true }, example: {} } as const;
const team = defineKind({
  ...base,
  name: 'Team',
  doc: 'A team.',
  spec: { name, seat: string({ doc: 'Seat.', access: 'createOnly' }), note: string({ doc: 'Note.', default: '' }) },
  uniques: { name: { value: ({ name }) => name, path: '/name', message: (value) => `${value} already exists` } },
});
const table = defineKind({
  ...base,
  name: 'Table',
  doc: 'A table of a team.',
  parent: { kind: 'Team', field: 'team' },
  spec: { team: ref('Team', { doc: 'Team.', required: true }), number: integer({ doc: 'Number.', required: true }) },
  nameField: 'number',
  naturalKey: ({ number }) => String(number),
});
const rule = defineKind({
  ...base,
  name: 'Rule',
  doc: 'A rule between teams.',
  spec: { name, from: refs('Team', { doc: 'From.' }), to: refs('Team', { doc: 'To.' }) },
});
const registry = createRegistry([team, table, rule]);

const devs = (seat: string, more = {}) => document('Team', 'devs', { seat }, more);
const ops = document('Team', 'ops');
const access = document('Rule', 'access', { from: ['devs', 'ops'], to: ['devs'] });
const stated = (seat: string): readonly Document[] => [devs(seat), ops, access];
const first = applyOn(emptySnapshot(registry, 'acc'), 'a', stated('Lisbon'));
const old = objectOf(first, 'Team', 'devs');
const replacing = { allowReplace: true };

const actionsOf = (outcome: PlanOutcome) =>
  planned(outcome).plan.changes.map(({ action, before, after }) => `${action} ${(after ?? before)?.key}`);
const teamsOf = (state: Snapshot, key: string) => {
  const { from, to } = objectOf(state, 'Rule', key).spec as { from: string[]; to: string[] };
  return [from, to];
};

describe('a change of a create-only field', () => {
  it('is refused without `--allow-replace`, and the message names this option', () => {
    const outcome = planOn(first, 'a', stated('Porto'));
    expect(refusals(outcome)).toEqual(['field_fixed Team/devs /spec/seat']);
    expect(problemsOf(outcome)[0]?.message).toContain('--allow-replace');
  });

  it('E89 creates the new object, updates the objects that refer to it, then deletes the old one', () => {
    const outcome = planOn(first, 'a', stated('Porto'), replacing);
    expect(actionsOf(outcome)).toEqual(['create devs', 'update access', 'delete devs']);
    const { plan, next } = planned(outcome);
    const made = objectOf(next, 'Team', 'devs');
    expect(made).toMatchObject({ owner: 'a', spec: { seat: 'Porto' }, declared: [{ source: 'a' }] });
    expect(made.id).not.toBe(old.id);
    const { id: opsId } = objectOf(next, 'Team', 'ops');
    expect(teamsOf(next, 'access')).toEqual([[made.id, opsId].sort(), [made.id]]);
    checkState(next);
    checkPlan(plan, first, next);
    expect(linesOf(planOn(next, 'a', stated('Porto')), next)).toEqual([]);
  });

  it('E27 is shown as a create with a new id that names the replaced object', () => {
    const outcome = planOn(first, 'a', stated('Porto'), replacing);
    const { plan, next } = planned(outcome);
    const [create, update] = viewPlan(plan, first, next).changes;
    expect(create).toMatchObject({ action: 'create', key: 'devs', replaces: old.id });
    expect(create?.risks[0]).toContain(`\`seat\``);
    expect(update?.units.map(({ path }) => path).sort()).toEqual([
      `from[devs (id ${old.id})]`,
      'from[devs]',
      `to[devs (id ${old.id})]`,
      'to[devs]',
    ]);
  });

  it('E75 counts as a delete for guards, also for the guard `protected`', () => {
    const teams = (seat: string) =>
      Array.from({ length: 8 }, (_, at) => document('Team', `t${at}`, { seat, name: `Team ${at}` }));
    const state = applyOn(emptySnapshot(registry, 'acc'), 'a', teams('Lisbon'));
    expect(guardsOf(planOn(state, 'a', teams('Porto'), replacing))).toEqual(['deletes', 'kind']);
    const guarded = { annotations: { 'heddle.dev/prevent-delete': 'true' } };
    const safe = applyOn(first, 'a', [devs('Lisbon', guarded), ops, access]);
    const outcome = planOn(safe, 'a', [devs('Porto', guarded), ops, access], replacing);
    expect(guardsOf(outcome)).toContain('protected');
  });

  it('keeps the children, the references of other sources and the values set by the API', () => {
    const theirs = [
      document('Table', 'one', { team: 'devs', number: 1 }),
      document('Rule', 'theirs', { from: ['ops'], to: ['devs'] }),
    ];
    const shared = applyOn(first, 'b', theirs);
    const state = shared.with({ put: [{ ...old, spec: { ...old.spec, note: 'set by hand' } }], remove: [] });
    const outcome = planOn(state, 'a', stated('Porto'), replacing);
    const { next } = planned(outcome);
    const made = objectOf(next, 'Team', 'devs');
    expect(made.spec['note']).toBe('set by hand');
    expect(objectOf(next, 'Table', 'devs/1')).toMatchObject({ parent: made.id, declared: [{ source: 'b' }] });
    expect(teamsOf(next, 'theirs')[1]).toEqual([made.id]);
    checkState(next);
    expect(linesOf(planOn(next, 'b', theirs), next)).toEqual([]);
    expect(linesOf(planOn(next, 'a', stated('Porto')), next)).toEqual([]);
  });

  it('can be combined with a rename in one plan', () => {
    const renamed = [document('Team', 'developers', { seat: 'Porto' }, { previousNames: ['devs'] }), ops];
    const follows = document('Rule', 'access', { from: ['developers', 'ops'], to: ['developers'] });
    const outcome = planOn(first, 'a', [...renamed, follows], replacing);
    expect(actionsOf(outcome)).toEqual(['create developers', 'update access', 'delete devs']);
    checkState(planned(outcome).next);
  });

  it('replaces the object even if the source has `prune: false`', () => {
    const state = withModes(first, { a: { prune: false } });
    expect(actionsOf(planOn(state, 'a', stated('Porto'), replacing))).toEqual([
      'create devs',
      'update access',
      'delete devs',
    ]);
  });

  it('is refused for a source that does not own the object', () => {
    const state = applyOn(first, 'b', [document('Team', 'devs', { name: 'devs' })]);
    const outcome = planOn(state, 'b', [document('Team', 'devs', { name: 'devs', seat: 'Porto' })], replacing);
    expect(refusals(outcome).map((text) => text.split(' ')[0])).toEqual(['field_fixed', 'unit_conflict']);
    const silent = applyOn(applyOn(emptySnapshot(registry, 'acc'), 'a', [ops]), 'b', [ops]);
    const seated = planOn(silent, 'b', [document('Team', 'ops', { seat: 'Porto' })], replacing);
    expect(refusals(seated)).toEqual(['field_fixed Team/ops /spec/seat']);
  });

  it('has a digest that depends on `allowReplace`, but not on the new ids', () => {
    const digest = (options = {}) => planned(planOn(first, 'a', stated('Lisbon'), options)).plan.digest;
    expect(digest(replacing)).not.toBe(digest());
    const [one, two] = ['x', 'y'].map(
      (ids) => planned(planOn(first, 'a', stated('Porto'), { ...replacing, ids })).plan,
    );
    expect(one?.digest).toBe(two?.digest);
  });
});

describe('a setup key', () => {
  const planEnvironment = { ...emptyEnvironment, random: (bytes: number) => new Uint8Array(bytes) };
  const key = (days: number) => [document('SetupKey', 'lab', { type: 'reusable', expires_in: days * 86_400 })];

  it('E38 is not replaced because time has passed', () => {
    const state = applyOn(office, 'a', key(7), { planEnvironment });
    const later = { ...replacing, planEnvironment, now: '2026-03-02T10:00:00.000Z' };
    expect(linesOf(planOn(state, 'a', key(7), later), state)).toEqual([]);
  });

  it('is replaced by a key with a new id when its lifetime changes', () => {
    const state = applyOn(office, 'a', key(7), { planEnvironment });
    const outcome = planOn(state, 'a', key(30), { ...replacing, planEnvironment });
    expect(actionsOf(outcome)).toEqual(['create lab', 'delete lab']);
    const { plan, next } = planned(outcome);
    expect(objectOf(next, 'SetupKey', 'lab').id).toBe('setupkey-2');
    expect(plan.outputs.size).toBe(1);
  });
});
