import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import type { ConflictMode } from '../../src/model/sources/settings.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { loosensRestriction } from '../../src/plan/ownership/failsafe.ts';
import { peersIn, registry } from '../kinds/objects.ts';
import {
  applyOn,
  createOn,
  deleteOn,
  document,
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
const policy = (spec: JsonObject = {}) => document('Policy', 'p', { rules, ...spec }, { file: 'p.yaml', line: 9 });
const devs = (spec: JsonObject = {}, annotations = {}) => document('Group', 'devs', spec, { annotations });
const modes = (...named: readonly (readonly [source: string, mode: ConflictMode])[]) =>
  withModes(office, Object.fromEntries(named.map(([source, conflictMode]) => [source, { conflictMode }])));
const put = (state: Snapshot, change: JsonObject, kind = 'Policy', key = 'p') =>
  replaceOn(state, kind, objectOf(state, kind, key).id, change);
const written = (state: Snapshot, change: JsonObject, kind = 'Policy', key = 'p') =>
  planned(put(state, change, kind, key)).next;
const enabledIn = (state: Snapshot) => objectOf(state, 'Policy', 'p').spec['enabled'];

describe('the conflict mode `guard`', () => {
  const state = applyOn(modes(['a', 'guard']), 'a', [policy({ enabled: false })]);

  it('E54 refuses a change of a stated value, with the source and its position', () => {
    expect(problemsOf(put(state, { enabled: true, description: 'free' }))).toMatchObject([
      { code: 'managed_field', kind: 'Policy', key: 'p', path: '/enabled', source: 'a', file: 'p.yaml', line: 9 },
    ]);
  });

  it('E61 refuses a change of a stated value even while the source is suspended', () => {
    const suspended = withModes(state, { a: { suspended: true } });
    expect(refusals(put(suspended, { enabled: true }))).toEqual(['managed_field Policy/p /enabled']);
  });

  it('refuses a change when only one of two sources that state the value has this mode', () => {
    const both = applyOn(withModes(state, { b: { conflictMode: 'correct' } }), 'b', [policy({ enabled: false })]);
    expect(refusals(put(both, { enabled: true }))).toEqual(['managed_field Policy/p /enabled']);
  });

  it('E60 lets the API take a name that a document adopts later', () => {
    const taken = planned(createOn(state, 'Group', { name: 'devs' })).next;
    expect(linesOf(planOn(taken, 'a', [policy({ enabled: false }), devs()]), taken)).toEqual(['claim Group/devs']);
  });
});

describe('the conflict mode `correct`', () => {
  const documents = [policy({ enabled: false }), devs({ peers: ['p1'] })];
  const state = applyOn(modes(['a', 'correct']), 'a', documents);

  it('allows a change and undoes it at the next reconcile', () => {
    const changed = written(written(state, { enabled: true }), { peers: ['p2'] }, 'Group', 'devs');
    expect(enabledIn(changed)).toBe(true);
    const outcome = planOn(changed, 'a', documents);
    expect(linesOf(outcome, changed)).toEqual(['update Group/devs: peers[p1]', 'update Policy/p: enabled']);
    const { next } = planned(outcome);
    expect([enabledIn(next), peersIn(objectOf(next, 'Group', 'devs'))]).toEqual([
      false,
      { p1: ['source'], p2: ['api'] },
    ]);
  });

  it('E58 allows a delete and creates the object again', () => {
    const { id } = objectOf(state, 'Policy', 'p');
    const gone = planned(deleteOn(state, id)).next;
    expect(linesOf(planOn(gone, 'a', documents), gone)).toEqual(['create Policy/p']);
    const both = applyOn(state, 'b', [policy({})]);
    expect(refusals(deleteOn(both, id))).toEqual(['managed_field Policy/p']);
  });

  it('E47 removes members that were added to an exclusive group', () => {
    const expected = [devs({ peers: ['p1'] }, { 'heddle.dev/membership': 'exclusive' })];
    const closed = applyOn(modes(['a', 'correct']), 'a', expected);
    const joined = written(closed, { peers: ['p1', 'p2'] }, 'Group', 'devs');
    expect(linesOf(planOn(joined, 'a', expected), joined)).toEqual(['update Group/devs: peers[p2]']);
  });
});

describe('the conflict mode `observe`', () => {
  const documents = [policy({ enabled: false, description: 'one' }), devs({ peers: ['p1'] })];
  const state = applyOn(modes(['a', 'observe']), 'a', documents);
  const changed = written(written(state, { enabled: true }), { peers: ['p2'] }, 'Group', 'devs');

  it('allows a change, keeps it and warns about the drift', () => {
    const outcome = planOn(changed, 'a', documents);
    expect(linesOf(outcome, changed)).toEqual([]);
    expect(warningsOf(outcome)).toEqual(['unit_drifted devs', 'unit_drifted p']);
  });

  it('keeps a change when the document changes another unit, and applies the document when it changes that one', () => {
    const other = planOn(changed, 'a', [policy({ enabled: false, description: 'two' }), devs({ peers: ['p1'] })]);
    expect(linesOf(other, changed)).toEqual(['update Policy/p: description']);
    const { next } = planned(other);
    const back = planOn(next, 'a', [policy({ description: 'two' }), devs({ peers: ['p1', 'p3'] })]);
    expect(linesOf(back, next)).toEqual(['update Group/devs: peers[p3]', 'restate Policy/p']);
    const stated = planOn(planned(back).next, 'a', [policy({ description: 'two', enabled: false })], { prune: false });
    expect(linesOf(stated, planned(back).next)).toEqual(['update Policy/p: enabled']);
  });

  it('E47 keeps members that others added to an exclusive group, until its document changes', () => {
    const closed = (peers: readonly string[]) => [devs({ peers }, { 'heddle.dev/membership': 'exclusive' })];
    const first = applyOn(modes(['a', 'observe']), 'a', closed(['p1']));
    const joined = written(first, { peers: ['p1', 'p2'] }, 'Group', 'devs');
    const outcome = planOn(joined, 'a', closed(['p1']));
    expect([linesOf(outcome, joined), warningsOf(outcome)]).toEqual([[], ['unit_drifted devs']]);
    expect(linesOf(planOn(joined, 'a', closed(['p1', 'p3'])), joined)).toEqual([
      'update Group/devs: peers[p2] peers[p3]',
    ]);
  });

  it('E58 refuses a delete, which would not last', () => {
    expect(refusals(deleteOn(state, objectOf(state, 'Policy', 'p').id))).toEqual(['managed_field Policy/p']);
  });
});

describe('the conflict mode `seed`', () => {
  const documents = [policy({ enabled: false }), devs({ peers: ['p1'] })];

  it('sets values at creation and states nothing afterwards', () => {
    const state = applyOn(modes(['a', 'seed']), 'a', documents);
    const { spec, declared, owner } = objectOf(state, 'Policy', 'p');
    expect([spec['enabled'], declared, owner]).toEqual([
      false,
      [{ source: 'a', stated: {}, file: 'p.yaml', line: 9 }],
      'a',
    ]);
    expect(peersIn(objectOf(state, 'Group', 'devs'))).toEqual({ p1: ['api'] });
    expect(linesOf(planOn(state, 'a', documents), state)).toEqual([]);
    const changed = written(written(state, { enabled: true }), { peers: ['p2'] }, 'Group', 'devs');
    expect(linesOf(planOn(changed, 'a', [policy({ enabled: false, description: 'new' }), devs()]), changed)).toEqual(
      [],
    );
    expect(linesOf(planOn(changed, 'b', [policy({ enabled: false })]), changed)).toEqual(['update Policy/p: enabled']);
  });

  it('keeps the values that the source stated before', () => {
    const state = withModes(applyOn(office, 'a', documents), { a: { conflictMode: 'seed' } });
    const outcome = planOn(state, 'a', documents);
    expect(linesOf(outcome, state)).toEqual(['restate Group/devs', 'restate Policy/p']);
    const { next } = planned(outcome);
    expect([enabledIn(next), peersIn(objectOf(next, 'Group', 'devs'))]).toEqual([false, { p1: ['api'] }]);
    expect(linesOf(planOn(next, 'a', []), next)).toEqual(['delete Group/devs', 'delete Policy/p']);
  });
});

describe('a restrictive value', () => {
  const key = (spec: JsonObject) =>
    document('SetupKey', 'ci', { type: 'reusable', expires_in: 86400, ...spec }, { file: 'keys.yaml' });
  const body = { auto_groups: [] };
  const revokedIn = (state: Snapshot) => objectOf(state, 'SetupKey', 'ci').spec['revoked'];
  const planEnvironment = { ...emptyEnvironment, random: (bytes: number) => new Uint8Array(bytes) };
  const stating = applyOn(office, 'a', [key({ revoked: false })], { planEnvironment });

  it('E59 is never refused, and is kept by a document that states the opposite', () => {
    const cut = written(stating, { ...body, revoked: true }, 'SetupKey', 'ci');
    expect(revokedIn(cut)).toBe(true);
    const outcome = planOn(cut, 'a', [key({ revoked: false })]);
    expect([linesOf(outcome, cut), warningsOf(outcome)]).toEqual([[], ['unit_overridden ci']]);
    expect(linesOf(put(cut, { ...body, revoked: false }, 'SetupKey', 'ci'), cut)).toEqual([
      'update SetupKey/ci: revoked',
    ]);
  });

  it('E59 is kept when a document no longer states it, or states the opposite', () => {
    const revoked = applyOn(office, 'a', [key({ revoked: true })], { planEnvironment });
    for (const spec of [{}, { revoked: false }]) {
      const outcome = planOn(revoked, 'a', [key(spec)]);
      expect([linesOf(outcome, revoked), warningsOf(outcome)]).toEqual([
        ['restate SetupKey/ci'],
        ['unit_overridden ci'],
      ]);
      const { next } = planned(outcome);
      expect([revokedIn(next), linesOf(planOn(next, 'a', [key(spec)]), next)]).toEqual([true, []]);
      expect(revokedIn(written(next, { ...body, revoked: false }, 'SetupKey', 'ci'))).toBe(false);
    }
  });

  it('E59 is set by a document even if the API set the opposite', () => {
    expect(linesOf(planOn(stating, 'a', [key({ revoked: true })]), stating)).toEqual(['update SetupKey/ci: revoked']);
    const state = applyOn(stating, 'a', [key({ revoked: true })]);
    expect(refusals(put(state, { ...body, revoked: false }, 'SetupKey', 'ci'))).toEqual([
      'managed_field SetupKey/ci /revoked',
    ]);
  });

  it('is distinguished from a value that loosens, for callers that undo changes', () => {
    const of = (name: string) => registry.get(name);
    expect([
      loosensRestriction(of('SetupKey'), 'revoked', true, false),
      loosensRestriction(of('SetupKey'), 'revoked', false, true),
      loosensRestriction(of('SetupKey'), 'revoked', true, true),
      loosensRestriction(of('SetupKey'), 'auto_groups[g]', true, undefined),
      loosensRestriction(of('User'), 'is_blocked', true, undefined),
      loosensRestriction(of('Account'), 'settings.extra.peer_approval_enabled', true, false),
    ]).toEqual([true, false, false, false, true, false]);
  });
});
