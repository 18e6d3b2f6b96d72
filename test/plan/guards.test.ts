import { describe, expect, it } from 'vitest';
import type { Document } from '../../src/model/document.ts';
import { defaultSettings, type SourceSettings } from '../../src/model/sources/settings.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { group, peer } from '../kinds/objects.ts';
import { checkState } from './invariants.ts';
import {
  allow,
  applyOn,
  createOn,
  deleteOn,
  document,
  guardsOf,
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

const groups = (count: number, more = {}): readonly Document[] =>
  Array.from({ length: count }, (_, at) => document('Group', `g${String(at).padStart(3, '0')}`, more));
const policies = (count: number, more = {}): readonly Document[] =>
  Array.from({ length: count }, (_, at) => allow(`p${String(at).padStart(3, '0')}`, ['All'], ['All'], more));
const keep = (documents: readonly Document[], number: number) => documents.slice(0, number);

/** Returns the guards that stop a source on its way from one desired state to another. */
function from(first: readonly Document[], second: readonly Document[], options = {}): readonly string[] {
  return guardsOf(planOn(applyOn(office, 'a', first), 'a', second, options));
}

describe('guards', () => {
  it('E62 require an approval when a source no longer states anything', () => {
    expect(from(groups(1), [])).toEqual(['empty']);
    expect(from(groups(1), [], { allowEmpty: true })).toEqual([]);
    expect(guardsOf(planOn(office, 'a', []))).toEqual([]);
    expect(guardsOf(planOn(applyOn(office, 'b', groups(3)), 'a', []))).toEqual([]);
  });

  it('E63 stop the deletion of all objects of a kind even below the floor of five, but not of a single one', () => {
    expect(from([...groups(4), ...policies(6)], policies(6))).toEqual(['kind']);
    expect(from([...groups(1), ...policies(6)], policies(6))).toEqual([]);
  });

  it('E63, E64 allow the deletion of half of a kind, and not one more', () => {
    expect(from(groups(6), keep(groups(6), 3))).toEqual([]);
    expect(from(groups(7), keep(groups(7), 3))).toEqual(['kind']);
    expect(from(groups(3), keep(groups(3), 1))).toEqual([]);
  });

  it('E64 allow five deletions in a small account, and not six', () => {
    expect(from(groups(12), keep(groups(12), 7))).toEqual([]);
    expect(from(groups(12), keep(groups(12), 6))).toEqual(['deletes']);
  });

  it('E64 allow the deletion of a fifth of the owned objects, and not one more', () => {
    expect(from(groups(50), keep(groups(50), 40))).toEqual([]);
    expect(from(groups(50), keep(groups(50), 39))).toEqual(['deletes']);
    expect(from(groups(54), keep(groups(54), 44))).toEqual([]);
    expect(from(groups(54), keep(groups(54), 43))).toEqual(['deletes']);
  });

  it('E64 allow updates of two fifths from ten owned objects on, and not one more', () => {
    const change = (count: number, total: number) => [
      ...policies(total).slice(count),
      ...keep(policies(total, { enabled: false }), count),
    ];
    expect(from(policies(10), change(4, 10))).toEqual([]);
    expect(from(policies(10), change(5, 10))).toEqual(['updates']);
    expect(from(policies(9), change(9, 9))).toEqual([]);
    expect(from(policies(12), change(4, 12))).toEqual([]);
    expect(from(policies(12), change(5, 12))).toEqual(['updates']);
  });

  it('count only the objects that the source owns', () => {
    const state = applyOn(applyOn(office, 'b', policies(90)), 'a', groups(12));
    expect(guardsOf(planOn(state, 'a', keep(groups(12), 6)))).toEqual(['deletes']);
  });

  it('can trip together', () => {
    expect(from(groups(8), [])).toEqual(['empty', 'deletes', 'kind']);
  });

  it('use the thresholds that are set for their source', () => {
    const limits = { deletes: 1, deleteShare: 0.1, kindShare: 1, updateShare: 0.1 };
    const first = applyOn(office, 'a', [...groups(20), ...policies(20)]);
    const state = withModes(first, { a: { limits } });
    const without = (count: number) => [...groups(20).slice(count), ...policies(20)];
    expect(guardsOf(planOn(state, 'a', without(4)))).toEqual([]);
    expect(guardsOf(planOn(state, 'a', without(5)))).toEqual(['deletes']);
    expect(guardsOf(planOn(withModes(first, { b: { limits } }), 'a', without(5)))).toEqual([]);
    const changed = (count: number) => [
      ...groups(20),
      ...policies(20).slice(count),
      ...keep(policies(20, { enabled: false }), count),
    ];
    expect(guardsOf(planOn(state, 'a', changed(4)))).toEqual([]);
    expect(guardsOf(planOn(state, 'a', changed(5)))).toEqual(['updates']);
  });

  it('E64 compute a share exactly to the object, despite binary fractions', () => {
    const limits = { deletes: 0, deleteShare: 0.29, kindShare: 1, updateShare: 1 };
    const state = withModes(applyOn(office, 'a', groups(100)), { a: { limits } });
    expect(guardsOf(planOn(state, 'a', keep(groups(100), 71)))).toEqual([]);
    expect(guardsOf(planOn(state, 'a', keep(groups(100), 70)))).toEqual(['deletes']);
  });

  it('E74 bind an approval to the thresholds for which it was given', () => {
    const state = applyOn(office, 'a', groups(8));
    const digest = (settings: Partial<SourceSettings>) =>
      planned(planOn(withModes(state, { a: settings }), 'a', [])).plan.digest;
    const plain = digest({});
    expect(digest({ limits: { ...defaultSettings.limits, deletes: 6 } })).not.toBe(plain);
    expect(digest({ allowEmpty: true })).not.toBe(plain);
    expect(digest({})).toBe(plain);
  });

  it('are listed with the objects that use the deleted ones', () => {
    const state = applyOn(office, 'a', [...groups(6), allow('uses', ['g000', 'g001'], ['g000'])]);
    const outcome = planOn(state, 'a', []);
    const { plan, next } = planned(outcome);
    const used = viewPlan(plan, state, next).changes.flatMap(({ key, usedBy }) => (usedBy ? [[key, usedBy]] : []));
    expect(used).toEqual([
      ['g000', ['policy: uses (source a)']],
      ['g001', ['policy: uses (source a)']],
    ]);
  });

  it('apply to sources, not to the API', () => {
    const state = applyOn(office, 'a', groups(1));
    const outcome = createOn(state, 'Group', { name: 'by hand' });
    expect(planned(outcome).plan.guards).toEqual([]);
  });
});

describe('the protection against deletion', () => {
  const guarded = document('Group', 'vault', {}, { annotations: { 'heddle.dev/prevent-delete': 'true' } });
  const others = groups(3);

  it('E67 remains when the document that requested it is removed', () => {
    const state = applyOn(office, 'a', [guarded, ...others]);
    expect(objectOf(state, 'Group', 'vault').protected).toBe(true);
    expect(guardsOf(planOn(state, 'a', others))).toEqual(['protected']);
  });

  it('E68 must be cleared in a separate revision before the object can be deleted', () => {
    const state = applyOn(office, 'a', [guarded, ...others]);
    const cleared = planOn(state, 'a', [document('Group', 'vault'), ...others]);
    expect([linesOf(cleared, state), guardsOf(cleared)]).toEqual([['restate Group/vault'], []]);
    expect(guardsOf(planOn(planned(cleared).next, 'a', others))).toEqual([]);
  });

  it('also applies to the API, even when no document states the object any more', () => {
    const found = office.with({ put: [group('g1')], remove: [] });
    const annotations = { 'heddle.dev/prevent-delete': 'true' };
    const state = applyOn(found, 'a', [document('Group', 'g1', {}, { annotations })]);
    expect(refusals(deleteOn(state, 'g1'))).toEqual(['object_protected Group/g1']);
    const released = applyOn(state, 'a', [], { allowEmpty: true });
    expect(problemsOf(deleteOn(released, 'g1'))[0]?.message).toContain('`heddle import Group id:g1` prints it');
    const cleared = applyOn(applyOn(released, 'b', [document('Group', 'g1')]), 'b', [], { allowEmpty: true });
    expect(refusals(deleteOn(cleared, 'g1'))).toEqual([]);
  });

  it('changes the digest of a plan, even as the only difference', () => {
    const digest = (documents: readonly Document[]) => planned(planOn(office, 'a', documents)).plan.digest;
    expect(digest([guarded])).not.toBe(digest([document('Group', 'vault')]));
  });

  it('cannot be cleared by a source that does not own the object', () => {
    const state = applyOn(office, 'a', [guarded]);
    expect(objectOf(applyOn(state, 'b', [document('Group', 'vault')]), 'Group', 'vault').protected).toBe(true);
  });
});

describe('pruning', () => {
  it('E65 is off when it is not requested', () => {
    const state = applyOn(office, 'a', groups(9));
    const outcome = planOn(state, 'a', [], { prune: false });
    expect([linesOf(outcome, state), guardsOf(outcome)]).toEqual([[], []]);
  });

  it('is off for a source that disables it, whatever a request states', () => {
    const state = withModes(applyOn(office, 'a', groups(9)), { a: { prune: false } });
    const outcome = planOn(state, 'a', [], { prune: true });
    expect([linesOf(outcome, state), guardsOf(outcome)]).toEqual([[], []]);
  });

  it('lets a source with `allowEmpty` become empty without an approval', () => {
    const state = withModes(applyOn(office, 'a', groups(2)), { a: { allowEmpty: true } });
    expect(guardsOf(planOn(state, 'a', []))).toEqual([]);
  });

  it('E65 never happens in a run limited to some kinds or labels', () => {
    const mine = { labels: { team: 'data' } };
    const state = applyOn(office, 'a', [...groups(2), ...policies(1)]);
    const now = [document('Group', 'new', {}, mine), allow('other', ['All'], ['All'])];
    const ofKind = planOn(state, 'a', now, { filter: { kinds: ['Group'] } });
    expect([linesOf(ofKind, state), guardsOf(ofKind)]).toEqual([['create Group/new'], []]);
    const labels = [{ label: 'team', is: 'in', values: ['data'] }] as const;
    expect(linesOf(planOn(state, 'a', now, { filter: { labels } }), state)).toEqual(['create Group/new']);
    expect(linesOf(planOn(state, 'a', [], { filter: { labels } }), state)).toEqual([]);
  });

  it('E65 distinguishes a reference to an object left out by the filter from an unknown one', () => {
    const documents = [document('Group', 'devs'), allow('p', ['devs', 'ops'], ['All'])];
    const outcome = planOn(office, 'a', documents, { filter: { kinds: ['Policy'] } });
    expect(refusals(outcome)).toEqual([
      'reference_left_out Policy/p /spec/rules/0/sources/0',
      'reference_unknown Policy/p /spec/rules/0/sources/1',
    ]);
    const there = applyOn(office, 'a', documents.slice(0, 1));
    expect(refusals(planOn(there, 'a', documents.slice(0, 1), { filter: { kinds: ['Policie'] } }))).toEqual([
      'kind_unknown undefined/undefined',
    ]);
  });

  it('E66 does not happen while a document is invalid', () => {
    const state = applyOn(office, 'a', groups(2));
    expect(refusals(planOn(state, 'a', [document('Group', 'new', { nmae: 'x' })]))).toEqual([
      'field_unknown Group/new /spec/nmae',
    ]);
  });

  it('E69 hands an object over when the other source stated it first', () => {
    const state = applyOn(applyOn(office, 'a', groups(2)), 'b', keep(groups(2), 1));
    const outcome = planOn(state, 'a', groups(2).slice(1));
    expect(linesOf(outcome, state)).toEqual(['release Group/g000']);
    expect(objectOf(planned(outcome).next, 'Group', 'g000')).toMatchObject({
      id: objectOf(state, 'Group', 'g000').id,
      owner: 'b',
    });
  });

  it('E69 hands an object over between two sources that are reconciled in the opposite order', () => {
    const both = applyOn(applyOn(office, 'b', groups(1)), 'a', groups(1));
    const left = applyOn(both, 'a', []);
    expect(objectOf(left, 'Group', 'g000')).toMatchObject({
      id: objectOf(both, 'Group', 'g000').id,
      owner: 'b',
      declared: [{ source: 'b' }],
    });
  });

  it('E69 leaves an object claimed by another source to that source, with its id and values', () => {
    const first = applyOn(office, 'a', [document('Group', 'g000', { peers: ['p1'] }), ...groups(2).slice(1)]);
    const { id } = objectOf(first, 'Group', 'g000');
    const theirs = [document('Group', 'g000', { peers: ['p2'] })];
    const claimed = [{ source: 'b', keys: ['Group/g000'], units: [] }];
    const left = planOn(first, 'a', groups(2).slice(1), { claimed });
    expect([linesOf(left, first), warningsOf(left)]).toEqual([['release Group/g000'], ['object_handed_over g000']]);
    const between = planned(left).next;
    expect([...between.objects()].find((object) => object.id === id)?.owner).toBeUndefined();
    const taken = planOn(between, 'b', theirs);
    expect(linesOf(taken, between)).toEqual(['update Group/g000: peers[p2]']);
    expect(objectOf(planned(taken).next, 'Group', 'g000')).toMatchObject({
      id,
      owner: 'b',
      declared: [{ source: 'b' }],
    });
    // Source `a` created the object and did not adopt it, so source `b` now owns it, and the object is deleted with the
    // document of `b`.
    const next = planned(taken).next;
    expect(linesOf(planOn(next, 'b', [], { allowEmpty: true }), next)).toEqual(['delete Group/g000']);
  });

  it('E69 leaves an adopted object without an owner when another source takes it over', () => {
    const found = office.with({ put: [group('g1', ['p1'])], remove: [] });
    const state = applyOn(found, 'a', [document('Group', 'g1', { peers: ['p1'] })]);
    const left = applyOn(state, 'a', [], { claimed: [{ source: 'b', keys: ['Group/g1'], units: [] }] });
    const taken = applyOn(left, 'b', [document('Group', 'g1', { peers: ['p1'] })]);
    expect(taken.get('g1')).toMatchObject({ key: 'g1', declared: [{ source: 'b' }] });
    expect(taken.get('g1')?.owner).toBeUndefined();
  });

  it('E69 hands an object over under another key when its new document states `previousNames`', () => {
    const state = applyOn(office, 'a', groups(1));
    const renamed = [document('Group', 'team', {}, { previousNames: ['g000'] })];
    expect(refusals(planOn(state, 'b', renamed))).toEqual(['rename_foreign Group/team /metadata/previousNames']);
    const outcome = planOn(state, 'b', renamed);
    const wants = outcome.ok ? [] : (outcome.claimed?.keys ?? []);
    const left = applyOn(state, 'a', [], { claimed: [{ source: 'b', keys: wants, units: [] }] });
    const moved = applyOn(left, 'b', renamed);
    expect(objectOf(moved, 'Group', 'team')).toMatchObject({ id: objectOf(state, 'Group', 'g000').id, owner: 'b' });
  });

  it('E72 deletes a group that a peer just joined, without leaving anything behind', () => {
    const first = applyOn(office, 'a', groups(2));
    const { id } = objectOf(first, 'Group', 'g000');
    const joined = planned(replaceOn(first, 'Group', id, { peers: ['p1'] })).next;
    const outcome = planOn(joined, 'a', groups(2).slice(1));
    expect(linesOf(outcome, joined)).toEqual(['delete Group/g000']);
    checkState(planned(outcome).next);
  });

  it('keeps the key of a peer when its document is removed', () => {
    const keyed = office.with({ put: [{ ...peer('p4', '100.72.0.4'), key: 'laptop' }], remove: [] });
    const state = applyOn(keyed, 'a', [document('Peer', 'laptop', { ssh_enabled: true })]);
    expect(applyOn(state, 'a', [], { allowEmpty: true }).get('p4')?.key).toBe('laptop');
  });

  it('E70 keeps an object that the API uses, with a warning, and deletes it once it is unused', () => {
    const first = applyOn(office, 'a', groups(2));
    const { id } = objectOf(first, 'Group', 'g000');
    const rule = {
      name: 'r',
      enabled: true,
      action: 'accept',
      bidirectional: true,
      protocol: 'all',
      destinations: ['All'],
    };
    const body = { name: 'By hand', enabled: true, rules: [{ ...rule, sources: [id] }] };
    const created = createOn(first, 'Policy', body);
    const state = planned(created).next;
    const outcome = planOn(state, 'a', groups(2).slice(1));
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['in_use g000']]);
    const freed = planned(replaceOn(state, 'Policy', created.id, { rules: [{ ...rule, sources: ['All'] }] })).next;
    expect(linesOf(planOn(freed, 'a', groups(2).slice(1)), freed)).toEqual(['delete Group/g000']);
  });

  it('E70 also keeps the objects that a kept object uses', () => {
    const zone = (records: readonly object[]) =>
      document('DNSZone', 'lan', {
        domain: 'lan.example.com',
        distribution_groups: ['devs'],
        records: records as never,
      });
    const first = applyOn(office, 'a', [document('Group', 'devs'), zone([]), document('Group', 'rest')]);
    const record = { name: 'www.lan.example.com', type: 'A', content: '10.0.0.1', ttl: 60 };
    const state = planned(createOn(first, 'DNSRecord', record, objectOf(first, 'DNSZone', 'lan').id)).next;
    const outcome = planOn(state, 'a', [document('Group', 'rest')]);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['in_use lan', 'in_use devs']]);
  });

  it('E70 keeps an object that the API added to an object which the source still states', () => {
    const route = document('Route', 'r', { network_id: 'r', network: '10.0.0.0/8', peer: 'p1', groups: ['g001'] });
    const first = applyOn(office, 'a', [...groups(2), route]);
    const [gone, stays] = [objectOf(first, 'Group', 'g000').id, objectOf(first, 'Group', 'g001').id];
    const state = planned(replaceOn(first, 'Route', objectOf(first, 'Route', 'r').id, { groups: [gone, stays] })).next;
    const outcome = planOn(state, 'a', [...groups(2).slice(1), route]);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['in_use g000']]);
  });

  it('deletes in the same plan what an object returned to its owner stops using', () => {
    const zone = (...names: readonly string[]) =>
      document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: names });
    const both = applyOn(applyOn(office, 'b', [zone('All')]), 'a', [...groups(2), zone('g000')]);
    expect(linesOf(planOn(both, 'a', groups(2).slice(1)), both)).toEqual([
      'update DNSZone/lan: distribution_groups[g000]',
      'delete Group/g000',
    ]);
  });

  it('deletes in the same plan what a stated object stops using', () => {
    const state = applyOn(office, 'a', [...groups(2), allow('p', ['g000'], ['g001'])]);
    expect(linesOf(planOn(state, 'a', [...groups(2).slice(1), allow('p', ['All'], ['g001'])]), state)).toEqual([
      'update Policy/p: rules[main]',
      'delete Group/g000',
    ]);
  });

  it('never deletes objects of other sources or of the API', () => {
    const state = planned(createOn(applyOn(office, 'b', groups(3)), 'Group', { name: 'by hand' })).next;
    expect(linesOf(planOn(state, 'a', policies(1)), state)).toEqual(['create Policy/p000']);
  });
});
