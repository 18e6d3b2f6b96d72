import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { originsOf, withMemberEdits } from '../../src/model/state/members.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planDetach } from '../../src/plan/ownership/detach.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { group, peersIn } from '../kinds/objects.ts';
import {
  applyOn,
  document,
  idsOn,
  linesOf,
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
const policy = (spec: JsonObject = {}, file = 'a.yaml') => document('Policy', 'p', { rules, ...spec }, { file });
const devs = (spec: JsonObject = {}, word?: string) =>
  document('Group', 'devs', spec, word === undefined ? {} : { annotations: { 'heddle.dev/membership': word } });
const peersOf = (state: Snapshot, key = 'devs') => peersIn(objectOf(state, 'Group', key));
const statedBy = (state: Snapshot, source: string) =>
  objectOf(state, 'Policy', 'p').declared.find((item) => item.source === source)?.stated;
const joins = (state: Snapshot, id: string, peers: readonly string[]) =>
  planned(replaceOn(state, 'Group', id, { peers })).next;

/** Returns the state after enrolment has added a peer to the group. */
function enrolled(state: Snapshot, id: string, peer: string): Snapshot {
  const before = state.get(id);
  if (before === undefined) throw new Error(`there is no ${id}`);
  const origins = [...new Set([...originsOf(before, 'peers', peer), 'enrolment'])].sort();
  return state.with({ put: [withMemberEdits(before, 'peers', [[peer, origins]])], remove: [] }, state.revision + 1);
}

describe('the membership of a group', () => {
  it('E52 keeps a peer from enrolment when the source that also stated it withdraws it', () => {
    const applied = applyOn(office, 'a', [devs({ peers: ['p1', 'p2'] })]);
    const state = enrolled(applied, objectOf(applied, 'Group', 'devs').id, 'p1');
    const outcome = planOn(state, 'a', [devs({ peers: [] })]);
    expect(linesOf(outcome, state)).toEqual(['update Group/devs: peers[p1] peers[p2]']);
    expect(peersOf(planned(outcome).next)).toEqual({ p1: ['enrolment'] });
  });

  it.each([
    ['by its annotation', devs({ peers: ['p1'] }, 'exclusive'), {}],
    ['by the setting of the source', devs({ peers: ['p1'] }), { membership: 'exclusive' }],
  ] as const)(
    'E47 that is exclusive %s removes peers from the API and enrolment, and the plan lists them',
    (_, claimed, settings) => {
      const first = withModes(applyOn(office, 'a', [devs({ peers: ['p1'] })]), { a: settings });
      const { id } = objectOf(first, 'Group', 'devs');
      const state = enrolled(joins(first, id, ['p1', 'p2']), id, 'p3');
      const outcome = planOn(state, 'a', [claimed]);
      expect(linesOf(outcome, state)).toEqual(['update Group/devs: peers[p2] peers[p3]']);
      const { next } = planned(outcome);
      expect(peersOf(next)).toEqual({ p1: ['source'] });
      expect(linesOf(planOn(next, 'a', [claimed]), next)).toEqual([]);
      expect(refusals(replaceOn(next, 'Group', id, { peers: ['p1', 'p2'] }))).toEqual([
        'managed_field Group/devs /peers',
      ]);
      const later = enrolled(next, id, 'p2');
      expect(linesOf(planOn(later, 'a', [claimed]), later)).toEqual(['update Group/devs: peers[p2]']);
      expect(linesOf(replaceOn(later, 'Group', id, { peers: ['p1'] }), later)).toEqual([
        'update Group/devs: peers[p2]',
      ]);
    },
  );

  it('E47 that is exclusive keeps peers that another source states', () => {
    const both = applyOn(applyOn(office, 'a', [devs({ peers: ['p1'] })]), 'b', [devs({ peers: ['p2'] })]);
    const state = applyOn(both, 'a', [devs({ peers: ['p1'] }, 'exclusive')]);
    expect(peersOf(state)).toEqual({ p1: ['source'], p2: ['source'] });
    expect(peersOf(applyOn(state, 'b', [devs()]))).toEqual({ p1: ['source'] });
  });

  it('E47 is unchanged if the document lists no members, even if the source is set to `exclusive`', () => {
    const state = withModes(office.with({ put: [group('g1', ['p1'])], remove: [] }), {
      a: { membership: 'exclusive' },
    });
    const next = applyOn(state, 'a', [document('Group', 'g1')]);
    expect([peersOf(next, 'g1'), objectOf(next, 'Group', 'g1').declared[0]?.exclusive]).toEqual([
      { p1: ['api'] },
      undefined,
    ]);
  });

  it('E47 is not exclusive if the annotation is `additive`, even if the source is set to `exclusive`', () => {
    const state = withModes(applyOn(office, 'a', [devs({ peers: ['p1'] }, 'exclusive')]), {
      a: { membership: 'exclusive' },
    });
    const next = applyOn(state, 'a', [devs({ peers: ['p1'] }, 'additive')]);
    expect(peersOf(joins(next, objectOf(next, 'Group', 'devs').id, ['p1', 'p3']))).toEqual({
      p1: ['source'],
      p3: ['api'],
    });
  });

  it.each([
    ['an unknown word', devs({}, 'exclusiv'), 'write "additive" or "exclusive"'],
    [
      'a kind without members',
      document('Policy', 'p', { rules }, { annotations: { 'heddle.dev/membership': 'exclusive' } }),
      'has no members',
    ],
  ])('refuses the membership annotation for %s', (_, wrong, reported) => {
    const outcome = planOn(office, 'a', [wrong]);
    expect(problemsOf(outcome)).toMatchObject([{ code: 'annotation_invalid', path: '/metadata/annotations' }]);
    expect(problemsOf(outcome)[0]?.message).toContain(reported);
  });
});

describe('a source that plans with `force`', () => {
  const contradicted = applyOn(office, 'a', [policy({ enabled: false, description: 'of a' })]);
  const wants = policy({ enabled: true }, 'b.yaml');

  it('E50 takes a unit from another source, which then gets a conflict and does not take it back', () => {
    expect(refusals(planOn(contradicted, 'b', [wants]))).toEqual(['unit_conflict Policy/p /spec/enabled']);
    const outcome = planOn(contradicted, 'b', [wants], { force: true });
    expect(linesOf(outcome, contradicted)).toEqual(['update Policy/p: enabled']);
    expect(planned(outcome).plan.warnings).toMatchObject([
      { code: 'unit_taken', key: 'p', message: expect.stringContaining('takes enabled from the source a') },
    ]);
    const { next } = planned(outcome);
    expect([statedBy(next, 'a'), statedBy(next, 'b')]).toMatchObject([{ description: 'of a' }, { enabled: true }]);
    expect(Object.keys(statedBy(next, 'a') ?? {})).not.toContain('enabled');
    const again = planOn(next, 'a', [policy({ enabled: false, description: 'of a' })]);
    expect(refusals(again)).toEqual(['unit_conflict Policy/p /spec/enabled']);
    expect(problemsOf(again)[0]?.message).toContain('source b at b.yaml:1');
  });

  it('E50 has another digest than without `force`, and plans nothing the second time', () => {
    const equal = applyOn(office, 'a', [policy({ enabled: true })]);
    const plans = [false, true].map((force) => planned(planOn(equal, 'b', [wants], { force })).plan.digest);
    expect(plans[0]).not.toBe(plans[1]);
    const { next } = planned(planOn(contradicted, 'b', [wants], { force: true }));
    expect(linesOf(planOn(next, 'b', [wants], { force: true }), next)).toEqual([]);
  });

  it('E50 takes one entry of a keyed list and leaves the others', () => {
    const two = [...rules, { ...rules[0], name: 'other' }];
    const state = applyOn(office, 'a', [document('Policy', 'p', { rules: two })]);
    const changed = [{ ...rules[0], protocol: 'udp' }];
    const { next } = planned(planOn(state, 'b', [document('Policy', 'p', { rules: changed })], { force: true }));
    expect(statedBy(next, 'a')).toMatchObject({ rules: [{ name: 'other' }] });
  });
});

describe('a detached source', () => {
  const detach = (state: Snapshot, source: string): PlanOutcome =>
    planDetach({ snapshot: state, source, newId: idsOn(state) });

  it('E61 leaves its objects with their values and keys, and requests may change them', () => {
    const state = applyOn(office, 'a', [policy({ enabled: false }), devs({ peers: ['p1'] })]);
    const outcome = detach(state, 'a');
    expect(linesOf(outcome, state)).toEqual(['release Group/devs', 'release Policy/p']);
    const { next } = planned(outcome);
    const { id, owner, declared, key, spec } = objectOf(next, 'Policy', 'p');
    expect([owner, declared, key, spec['enabled'], next.declaredBy('a')]).toEqual([undefined, [], 'p', false, []]);
    expect(peersOf(next)).toEqual({ p1: ['api'] });
    expect(linesOf(replaceOn(next, 'Policy', id, { enabled: true }), next)).toEqual(['update Policy/p: enabled']);
    expect(linesOf(detach(next, 'a'), next)).toEqual([]);
  });

  it('claims the same objects again with the same documents', () => {
    const documents = [policy({ enabled: false }), devs({ name: 'Developers', peers: ['p1'] })];
    const state = applyOn(office, 'a', documents);
    const { next } = planned(detach(state, 'a'));
    expect(linesOf(planOn(next, 'a', documents), next)).toEqual(['claim Group/devs', 'claim Policy/p']);
  });

  it('leaves unchanged what other sources state', () => {
    const both = applyOn(applyOn(office, 'a', [devs({ peers: ['p1', 'p2'] })]), 'b', [devs({ peers: ['p2'] })]);
    const { next } = planned(detach(both, 'a'));
    expect([peersOf(next), objectOf(next, 'Group', 'devs').declared.map(({ source }) => source)]).toEqual([
      { p1: ['api'], p2: ['source'] },
      ['b'],
    ]);
    expect(linesOf(planOn(next, 'b', []), next)).toEqual(['release Group/devs']);
  });
});

describe('a conflict between two sources', () => {
  const expectedOf = (outcome: PlanOutcome, source: string) =>
    outcome.ok || outcome.claimed === undefined ? [] : [{ source, ...outcome.claimed }];
  const on = policy({ enabled: true }, 'b.yaml');
  const off = policy({ enabled: false });
  const state = applyOn(office, 'a', [off]);
  const refused = planOn(state, 'b', [on]);

  it('E45 is recorded as a claim, and the other source is refused with the position of the claim', () => {
    const claimed = expectedOf(refused, 'b');
    expect(claimed).toMatchObject([
      {
        source: 'b',
        keys: ['Policy/p'],
        units: [{ kind: 'Policy', key: 'p', path: 'enabled', file: 'b.yaml', line: 1 }],
      },
    ]);
    const on = applyOn(state, 'a', [policy({})]);
    const back = planOn(on, 'a', [off], { claimed });
    expect(refusals(back)).toEqual(['unit_conflict Policy/p /spec/enabled']);
    expect(problemsOf(back)[0]?.message).toContain('source b at b.yaml:1');
  });

  it('E45 does not stop a plan that changes nothing, of the source with the value or of a third source', () => {
    const claimed = expectedOf(refused, 'b');
    for (const options of [{ claimed }, { claimed, since: [off] }])
      expect(refusals(planOn(state, 'a', [off], options))).toEqual([]);
    expect(linesOf(planOn(state, 'c', [policy({ enabled: false }, 'c.yaml')], { claimed }), state)).toEqual([
      'claim Policy/p',
    ]);
  });

  it('E45 applies to a third source too, but not to the claiming source or one that took the unit from it', () => {
    const [claim] = expectedOf(refused, 'b');
    if (claim === undefined) throw new Error('nothing is claimed');
    const claimed = [claim];
    const free = applyOn(state, 'a', [policy({})]);
    expect(refusals(planOn(free, 'c', [policy({ enabled: false }, 'c.yaml')], { claimed }))).toEqual([
      'unit_conflict Policy/p /spec/enabled',
    ]);
    const evicted = [{ kind: 'Policy', key: 'p', path: 'enabled', by: 'c' }];
    const lost = [{ ...claim, evicted }];
    expect(refusals(planOn(free, 'c', [policy({ enabled: false }, 'c.yaml')], { claimed: lost }))).toEqual([]);
    expect(refusals(planOn(office, 'b', [on], { claimed }))).toEqual([]);
  });

  it('E45 ends when the first source states the value of the second', () => {
    const claimed = expectedOf(refused, 'b');
    const agreed = planOn(state, 'a', [policy({ enabled: true })], { claimed });
    expect(linesOf(agreed, state)).toEqual(['update Policy/p: enabled']);
    const { next } = planned(agreed);
    expect(linesOf(planOn(next, 'b', [on]), next)).toEqual(['claim Policy/p']);
  });

  it('E45 ends when the first source withdraws its value, which is kept until the second is applied', () => {
    const claimed = expectedOf(refused, 'b');
    const withdrawn = planOn(state, 'a', [policy({})], { claimed });
    expect(linesOf(withdrawn, state)).toEqual(['restate Policy/p']);
    const { next } = planned(withdrawn);
    expect(objectOf(next, 'Policy', 'p').spec['enabled']).toBe(false);
    expect(linesOf(planOn(next, 'b', [on]), next)).toEqual(['update Policy/p: enabled']);
  });

  it('E45 ends when the second source agrees or withdraws', () => {
    for (const spec of [{ enabled: false }, {}]) {
      const outcome = planOn(state, 'b', [policy(spec, 'b.yaml')], { claimed: expectedOf(refused, 'b') });
      expect(refusals(outcome)).toEqual([]);
    }
  });

  it('E45 remains for a deleted object until a source creates it with the claimed value', () => {
    const gone = applyOn(state, 'a', [], { allowEmpty: true });
    const claimed = expectedOf(refused, 'b');
    expect(refusals(planOn(gone, 'c', [policy({ enabled: false }, 'c.yaml')], { claimed }))).toEqual([
      'unit_conflict Policy/p /spec/enabled',
    ]);
    expect(linesOf(planOn(gone, 'c', [policy({ enabled: true }, 'c.yaml')], { claimed }), gone)).toEqual([
      'create Policy/p',
    ]);
  });

  it('E45 is ignored while the claiming source is suspended, and by a source that plans with `force`', () => {
    const claimed = expectedOf(refused, 'b');
    expect(refusals(planOn(withModes(state, { b: { suspended: true } }), 'a', [off], { claimed }))).toEqual([]);
    expect(refusals(planOn(state, 'a', [off], { claimed, force: true }))).toEqual([]);
  });

  it('E45 compares references to objects that are not created yet by key', () => {
    const rule = (key: string) => [{ ...rules[0], sources: [key] }];
    const mine = planOn(state, 'b', [document('Group', 'new'), document('Policy', 'p', { rules: rule('new') })]);
    const claimed = expectedOf(mine, 'b');
    const agreed = [document('Group', 'new'), document('Policy', 'p', { rules: rule('new'), enabled: false })];
    expect(refusals(planOn(state, 'a', agreed, { claimed, ids: 'other' }))).toEqual([]);
  });
});

describe('a unit that a source claims', () => {
  it('E49 is listed as claimed if no source stated it and its value changes', () => {
    const first = applyOn(office, 'a', [policy({})]);
    const { id } = objectOf(first, 'Policy', 'p');
    const state = planned(replaceOn(first, 'Policy', id, { description: 'by hand' })).next;
    const outcome = planOn(state, 'a', [policy({ description: 'by file', enabled: true })]);
    expect(planned(outcome).plan.changes.map(({ claimed }) => claimed)).toEqual([['description']]);
    expect(warningsOf(outcome)).toEqual([]);
  });
});
