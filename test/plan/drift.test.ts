import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { withMemberEdits } from '../../src/model/state/members.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { driftOf, objectStatus, type PlanFindings } from '../../src/plan/ownership/drift.ts';
import { group } from '../kinds/objects.ts';
import { applyOn, breakGlass, document, now, objectOf, office, planned, replaceOn, withModes } from './steps.ts';

const rules = [{ name: 'main', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }];
const policy = (spec: JsonObject = {}) => document('Policy', 'p', { rules, ...spec }, { file: 'p.yaml', line: 9 });
const devs = (peers: readonly string[], word = 'additive') =>
  document('Group', 'devs', { peers }, { file: 'g.yaml', annotations: { 'heddle.dev/membership': word } });
const put = (state: Snapshot, change: JsonObject, more = {}, kind = 'Policy', key = 'p') =>
  planned(replaceOn(state, kind, objectOf(state, kind, key).id, change, more)).next;
const drifts = (state: Snapshot, source?: string, at = now) =>
  driftOf(state, at, source).map(
    ({ object, path, by, because }) =>
      `${by.source} ${by.file}:${by.line} ${object.kind}/${object.key} ${path} ${because.why}`,
  );
const statusOf = (state: Snapshot, kind = 'Policy', key = 'p', found?: PlanFindings) =>
  objectStatus(state, objectOf(state, kind, key), now, found);

const correcting = withModes(office, { a: { conflictMode: 'correct' }, b: { conflictMode: 'observe' } });
const state = applyOn(correcting, 'a', [policy({ enabled: false }), devs(['p1', 'p2'])]);

describe('drift', () => {
  it('E115 is empty while everything is as stated', () => {
    expect(drifts(state)).toEqual([]);
    expect([statusOf(state), statusOf(state, 'Group', 'devs'), statusOf(state, 'Group', 'All')]).toEqual([
      'InSync',
      'InSync',
      'Unmanaged',
    ]);
  });

  it('E115 contains every unit that was changed, with the position that states it', () => {
    const changed = put(
      put(state, { enabled: true, description: 'free' }),
      { peers: ['p2', 'p3'] },
      {},
      'Group',
      'devs',
    );
    expect(drifts(changed)).toEqual(['a g.yaml:1 Group/devs peers[p1] api', 'a p.yaml:9 Policy/p enabled api']);
    expect(driftOf(changed, now)[1]).toMatchObject({ stated: false, effective: true });
    expect([statusOf(changed), drifts(changed, 'b'), drifts(changed, 'a').length]).toEqual(['Drifted', [], 2]);
  });

  it('E115 lists a unit that two sources state once, and for each of them when filtered by that source', () => {
    const both = applyOn(state, 'b', [policy({ enabled: false })]);
    const changed = put(both, { enabled: true });
    expect(drifts(changed)).toEqual(['a p.yaml:9 Policy/p enabled api']);
    expect(drifts(changed, 'b')).toEqual(['b p.yaml:9 Policy/p enabled api']);
  });

  it('E54 shows an override with its end and its author', () => {
    const held = put(state, { enabled: true }, { breakGlass: breakGlass('14:00') });
    expect(drifts(held)).toEqual(['a p.yaml:9 Policy/p enabled override']);
    expect(driftOf(held, now)[0]?.because).toMatchObject({
      override: { by: { name: 'Ana' }, until: '2026-03-01T14:00:00.000Z' },
    });
    expect(statusOf(held)).toBe('Overridden');
    expect(drifts(held, 'a', '2026-03-01T14:00:00.000Z')).toEqual(['a p.yaml:9 Policy/p enabled api']);
  });

  it('E59 shows a restrictive value that stays although a source states another one', () => {
    const user = document('User', 'ci', { role: 'user', is_service_user: true, is_blocked: false });
    const blocked = put(applyOn(correcting, 'a', [user]), { is_blocked: true }, {}, 'User', 'ci');
    expect([drifts(blocked), statusOf(blocked, 'User', 'ci')]).toEqual([
      ['a user.yaml:1 User/ci is_blocked failsafe'],
      'Overridden',
    ]);
  });

  it('shows a stated reference to a deleted object as pending', () => {
    const { id, ...rest } = objectOf(state, 'Group', 'devs');
    const without = state.with({ put: [withMemberEdits({ id, ...rest }, 'peers', [['p2', []]])], remove: ['p2'] });
    expect([drifts(without), objectOf(without, 'Group', 'devs').id]).toEqual([
      ['a g.yaml:1 Group/devs peers[p2] pending'],
      id,
    ]);
  });

  it('E47 contains every member that an exclusive group should not have', () => {
    const closed = applyOn(correcting, 'a', [devs(['p1'], 'exclusive')]);
    const joined = put(closed, { peers: ['p1', 'p3'] }, {}, 'Group', 'devs');
    expect(drifts(joined)).toEqual(['a g.yaml:1 Group/devs peers[p3] api']);
    expect(driftOf(joined, now)[0]).not.toHaveProperty('stated');
    const other = applyOn(joined, 'b', [devs(['p3'])]);
    expect(drifts(other)).toEqual([]);
  });
});

describe('the status of an object', () => {
  it('is Conflicted first, then Blocked, and Drifted while changes are pending', () => {
    const found = {
      conflicted: new Set(['Policy/p']),
      blocked: new Set(['Policy/p', 'Group/devs']),
      pending: new Set<string>(),
    };
    expect([statusOf(state, 'Policy', 'p', found), statusOf(state, 'Group', 'devs', found)]).toEqual([
      'Conflicted',
      'Blocked',
    ]);
    const pending = {
      ...found,
      conflicted: new Set<string>(),
      blocked: new Set<string>(),
      pending: new Set(['Policy/p']),
    };
    expect(statusOf(state, 'Policy', 'p', pending)).toBe('Drifted');
  });

  it('is Unmanaged when no document ever stated the object', () => {
    const free = office.with({ put: [group('g1', ['p1'])], remove: [] });
    expect(statusOf(free, 'Group', 'g1')).toBe('Unmanaged');
  });
});
