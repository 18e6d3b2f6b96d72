import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planExpiry } from '../../src/plan/ownership/expiry.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { peersIn } from '../kinds/objects.ts';
import { checkPlan, checkState } from './invariants.ts';
import {
  applyOn,
  breakGlass,
  createOn,
  deleteOn,
  document,
  idsOn,
  linesOf,
  now,
  objectOf,
  office,
  planned,
  planOn,
  problemsOf,
  refusals,
  replaceOn,
  warningsOf,
  withModes,
} from './steps.ts';

const rules = [{ name: 'main', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }];
const policy = (spec: JsonObject = {}) => document('Policy', 'p', { rules, ...spec }, { file: 'p.yaml', line: 9 });
const devs = (peers: readonly string[], word = 'additive') =>
  document('Group', 'devs', { peers }, { annotations: { 'heddle.dev/membership': word } });
const glass = breakGlass('14:00');
const later = '2026-03-01T14:00:00.000Z';
const put = (state: Snapshot, change: JsonObject, more = {}, kind = 'Policy', key = 'p') =>
  replaceOn(state, kind, objectOf(state, kind, key).id, change, more);
const overridden = (state: Snapshot, change: JsonObject, kind = 'Policy', key = 'p') =>
  planned(put(state, change, { breakGlass: glass }, kind, key)).next;
const overridesOf = (state: Snapshot, kind = 'Policy', key = 'p') => objectOf(state, kind, key).overrides;
const expire = (state: Snapshot, at = later): PlanOutcome =>
  planExpiry({ snapshot: state, now: at, newId: idsOn(state) });
const enabledIn = (state: Snapshot) => objectOf(state, 'Policy', 'p').spec['enabled'];

const state = applyOn(office, 'a', [policy({ enabled: false }), devs(['p1', 'p2'])]);

describe('a break-glass request', () => {
  it('E54 overrides a value that a source states, recording who, why and until when', () => {
    const outcome = put(state, { enabled: true, description: 'free' }, { breakGlass: glass });
    expect(linesOf(outcome, state)).toEqual(['update Policy/p: description enabled']);
    expect(overridesOf(planned(outcome).next)).toEqual([{ path: 'enabled', ...glass }]);
  });

  it('overrides members and entries individually', () => {
    const next = overridden(state, { peers: ['p1', 'p3'] }, 'Group', 'devs');
    expect(overridesOf(next, 'Group', 'devs')?.map(({ path }) => path)).toEqual(['peers[p2]']);
    const [main] = objectOf(state, 'Policy', 'p').spec['rules'] as readonly JsonObject[];
    const changed = overridden(state, { rules: [{ ...main, enabled: false }] });
    expect(overridesOf(changed)?.map(({ path }) => path)).toEqual(['rules[main]']);
  });

  it('creates no override for a value that no source states, or for one that restricts', () => {
    expect(overridesOf(overridden(state, { description: 'free' }))).toBeUndefined();
    const user = document('User', 'ci', { role: 'user', is_service_user: true, is_blocked: false });
    const users = applyOn(office, 'a', [user]);
    const blocked = put(users, { is_blocked: true }, { breakGlass: glass }, 'User', 'ci');
    expect(refusals(blocked)).toEqual([]);
    expect(overridesOf(planned(blocked).next, 'User', 'ci')).toBeUndefined();
  });

  it('E58 is refused as a delete, with a message that it only sets values aside', () => {
    const outcome = deleteOn(state, objectOf(state, 'Policy', 'p').id, { breakGlass: glass });
    expect(problemsOf(outcome)[0]?.message).toContain('an override changes values, it does not delete objects');
  });

  it('extends an override when repeated; setting the stated value ends it', () => {
    const first = overridden(state, { enabled: true });
    const longer = put(first, {}, { breakGlass: breakGlass('18:00', '2026-03-01T12:00:00.000Z') });
    expect(linesOf(longer, first)).toEqual(['override Policy/p']);
    expect(overridesOf(planned(longer).next)).toMatchObject([
      { path: 'enabled', since: '2026-03-01T12:00:00.000Z', until: '2026-03-01T18:00:00.000Z' },
    ]);
    expect(refusals(put(first, { description: 'free' }))).toEqual([]);
    expect(overridesOf(planned(put(first, { description: 'free' })).next)).toHaveLength(1);
    const back = put(first, { enabled: false });
    expect([linesOf(back, first), overridesOf(planned(back).next)]).toEqual([['update Policy/p: enabled'], undefined]);
  });

  it('keeps its value against a source with the conflict mode `correct`', () => {
    const correcting = withModes(state, { a: { conflictMode: 'correct' } });
    const next = overridden(correcting, { enabled: true });
    expect(linesOf(planOn(next, 'a', [policy({ enabled: false }), devs(['p1', 'p2'])]), next)).toEqual([]);
    const without = planned(
      put(next, { rules: objectOf(next, 'Policy', 'p').spec['rules'] ?? [], enabled: false }),
    ).next;
    expect(overridesOf(without)).toBeUndefined();
  });
});

describe('an override', () => {
  const held = overridden(overridden(state, { enabled: true }), { peers: ['p1'] }, 'Group', 'devs');
  const documents = [policy({ enabled: false }), devs(['p1', 'p2'])];

  it('E56 is kept until it ends, with a warning in the plan, even if the document changes the same unit', () => {
    const outcome = planOn(held, 'a', documents);
    expect([linesOf(outcome, held), warningsOf(outcome)]).toEqual([[], ['unit_overridden devs', 'unit_overridden p']]);
    expect(planned(outcome).plan.warnings[1]?.message).toContain(
      'overridden until 2026-03-01T14:00:00.000Z by Ana (incident 4711)',
    );
    const rule = [{ ...rules[0], protocol: 'udp' }];
    const both = overridden(held, {
      rules: [{ ...(objectOf(held, 'Policy', 'p').spec['rules'] as [JsonObject])[0], enabled: false }],
    });
    const changed = planOn(both, 'a', [policy({ rules: rule, enabled: false }), devs(['p1', 'p2'])]);
    expect(linesOf(changed, both)).toEqual(['restate Policy/p']);
    const { next } = planned(expire(planned(changed).next));
    expect((objectOf(next, 'Policy', 'p').spec['rules'] as readonly JsonObject[])[0]).toMatchObject({
      protocol: 'udp',
      enabled: true,
    });
  });

  it('E57 that ends during an apply is judged by the time of the apply', () => {
    for (const [at, lines] of [
      ['2026-03-01T13:59:59.999Z', []],
      [later, ['update Group/devs: peers[p2]', 'update Policy/p: enabled']],
    ] as const) {
      const outcome = planOn(held, 'a', documents, { now: at });
      expect(linesOf(outcome, held)).toEqual(lines);
      const { next } = planned(outcome);
      expect(overridesOf(next) === undefined).toBe(lines.length > 0);
      expect(linesOf(planOn(next, 'a', documents, { now: at }), next)).toEqual([]);
    }
  });

  it('is kept when its unit is no longer stated; at its end the unit returns to its default', () => {
    const closed = overridden(applyOn(office, 'a', [policy({ description: 'stated' })]), { description: 'held' });
    const outcome = planOn(closed, 'a', [policy({})]);
    expect(linesOf(outcome, closed)).toEqual(['restate Policy/p']);
    const { next } = planned(expire(planned(outcome).next));
    expect(objectOf(next, 'Policy', 'p').spec['description']).toBe('');
  });

  it('is unchanged when another source states other units', () => {
    const other = document('Policy', 'p', { rules, description: 'of b' });
    const next = applyOn(held, 'b', [other], { now: later });
    expect([enabledIn(next), overridesOf(next)]).toEqual([true, overridesOf(held)]);
  });

  it('E50 is kept when another source takes the unit by force', () => {
    const taken = planOn(held, 'b', [policy({ enabled: true, description: 'b' })], { force: true });
    const { next } = planned(expire(planned(taken).next));
    expect(enabledIn(next)).toBe(true);
  });

  it('is removed with the last source that states its unit', () => {
    const emptied = applyOn(held, 'a', [], { allowEmpty: true });
    expect(emptied.findByKey('Policy', 'p')).toBeUndefined();
    const { owner: _, key: __, ...withoutOwner } = objectOf(state, 'Policy', 'p');
    const adopted = applyOn(
      office.with({
        put: [{ ...withoutOwner, declared: [] }],
        remove: [],
      }),
      'a',
      [policy({ enabled: false })],
    );
    const next = applyOn(overridden(adopted, { enabled: true }), 'a', [], { allowEmpty: true });
    expect([enabledIn(next), overridesOf(next)]).toEqual([true, undefined]);
  });
});

describe('the expiry of overrides', () => {
  it('restores the stated values in one step, and only those of overrides that have ended', () => {
    const held = overridden(overridden(state, { enabled: true }), { peers: ['p1', 'p3'] }, 'Group', 'devs');
    const short = planned(put(held, { description: 'x', enabled: true }, {})).next;
    expect(linesOf(expire(short, now), short)).toEqual([]);
    const outcome = expire(short);
    expect(linesOf(outcome, short)).toEqual(['update Group/devs: peers[p2]', 'update Policy/p: enabled']);
    const { plan, next } = planned(outcome);
    checkPlan(plan, short, next);
    checkState(next);
    expect([enabledIn(next), peersIn(objectOf(next, 'Group', 'devs')), overridesOf(next)]).toEqual([
      false,
      { p1: ['source'], p2: ['source'], p3: ['api'] },
      undefined,
    ]);
    expect(linesOf(expire(next), next)).toEqual([]);
  });

  it('removes a peer that the override added to an exclusive group', () => {
    const closed = applyOn(office, 'a', [devs(['p1'], 'exclusive')]);
    const next = overridden(closed, { peers: ['p1', 'p3'] }, 'Group', 'devs');
    expect(linesOf(planOn(next, 'a', [devs(['p1'], 'exclusive')]), next)).toEqual([]);
    expect(linesOf(expire(next), next)).toEqual(['update Group/devs: peers[p3]']);
    const opened = applyOn(next, 'a', [devs(['p1'])]);
    expect(linesOf(expire(opened), opened)).toEqual(['override Group/devs']);
  });

  it('restores a stated restriction; setting it earlier by request removes the override', () => {
    const user = document('User', 'ci', { role: 'user', is_service_user: true, is_blocked: true });
    const users = applyOn(office, 'a', [user]);
    const freed = overridden(users, { is_blocked: false }, 'User', 'ci');
    expect(overridesOf(freed, 'User', 'ci')).toHaveLength(1);
    const cut = planned(put(freed, { is_blocked: true }, {}, 'User', 'ci')).next;
    expect(overridesOf(cut, 'User', 'ci')).toBeUndefined();
    expect(linesOf(expire(freed), freed)).toEqual(['update User/ci: is_blocked']);
  });

  it('E57 keeps a value that cannot be restored, with a warning, and restores the others', () => {
    const made = planned(createOn(office, 'Group', { name: 'temporary' })).next;
    const named = [{ ...rules[0], sources: ['name:temporary'] }];
    const two = document('Policy', 'q', { rules, enabled: false });
    const stated = applyOn(made, 'a', [document('Policy', 'p', { rules: named }), two]);
    const [main] = objectOf(stated, 'Policy', 'p').spec['rules'] as readonly JsonObject[];
    const everyone = [objectOf(stated, 'Group', 'All').id];
    const held = overridden(stated, { rules: [{ ...main, sources: everyone }] });
    const both = overridden(held, { enabled: true }, 'Policy', 'q');
    const gone = planned(deleteOn(both, objectOf(both, 'Group', 'temporary').id)).next;
    const outcome = expire(gone);
    expect(linesOf(outcome, gone)).toEqual(['update Policy/q: enabled', 'override Policy/p']);
    expect(warningsOf(outcome)).toEqual(['override_stays p']);
    expect(overridesOf(planned(outcome).next)).toBeUndefined();
  });
});
