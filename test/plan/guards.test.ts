import { describe, expect, it } from 'vitest';
import type { Document } from '../../src/model/document.ts';
import { plainSettings, type SourceSettings } from '../../src/model/sources/settings.ts';
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

/** The guards that trip when a source goes from one desired state to another. */
function from(first: readonly Document[], second: readonly Document[], options = {}): readonly string[] {
  return guardsOf(planOn(applyOn(office, 'a', first), 'a', second, options));
}

describe('guards', () => {
  it('E62 want an approval when a source states nothing any more', () => {
    expect(from(groups(1), [])).toEqual(['empty']);
    expect(from(groups(1), [], { allowEmpty: true })).toEqual([]);
    expect(guardsOf(planOn(office, 'a', []))).toEqual([]);
    expect(guardsOf(planOn(applyOn(office, 'b', groups(3)), 'a', []))).toEqual([]);
  });

  it('E63 catch all of a kind where the floor lets five pass, but not one of one', () => {
    expect(from([...groups(4), ...policies(6)], policies(6))).toEqual(['kind']);
    expect(from([...groups(1), ...policies(6)], policies(6))).toEqual([]);
  });

  it('E63, E64 let half of a kind pass, and not one more', () => {
    expect(from(groups(6), keep(groups(6), 3))).toEqual([]);
    expect(from(groups(7), keep(groups(7), 3))).toEqual(['kind']);
    expect(from(groups(3), keep(groups(3), 1))).toEqual([]);
  });

  it('E64 let five deletions pass in a small account, and not six', () => {
    expect(from(groups(12), keep(groups(12), 7))).toEqual([]);
    expect(from(groups(12), keep(groups(12), 6))).toEqual(['deletes']);
  });

  it('E64 let a fifth of what is owned pass, and not one more', () => {
    expect(from(groups(50), keep(groups(50), 40))).toEqual([]);
    expect(from(groups(50), keep(groups(50), 39))).toEqual(['deletes']);
    expect(from(groups(54), keep(groups(54), 44))).toEqual([]);
    expect(from(groups(54), keep(groups(54), 43))).toEqual(['deletes']);
  });

  it('E64 let two fifths of updates pass from ten owned objects on, and not one more', () => {
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

  it('count what the source owns and not what others do', () => {
    const state = applyOn(applyOn(office, 'b', policies(90)), 'a', groups(12));
    expect(guardsOf(planOn(state, 'a', keep(groups(12), 6)))).toEqual(['deletes']);
  });

  it('trip together', () => {
    expect(from(groups(8), [])).toEqual(['empty', 'deletes', 'kind']);
  });

  it('have the thresholds that their source is set to', () => {
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

  it('E64 count a share to the object, whatever its binary fraction', () => {
    const limits = { deletes: 0, deleteShare: 0.29, kindShare: 1, updateShare: 1 };
    const state = withModes(applyOn(office, 'a', groups(100)), { a: { limits } });
    expect(guardsOf(planOn(state, 'a', keep(groups(100), 71)))).toEqual([]);
    expect(guardsOf(planOn(state, 'a', keep(groups(100), 70)))).toEqual(['deletes']);
  });

  it('E74 bind an approval to the thresholds that it was given for', () => {
    const state = applyOn(office, 'a', groups(8));
    const digest = (settings: Partial<SourceSettings>) =>
      planned(planOn(withModes(state, { a: settings }), 'a', [])).plan.digest;
    const plain = digest({});
    expect(digest({ limits: { ...plainSettings.limits, deletes: 6 } })).not.toBe(plain);
    expect(digest({ allowEmpty: true })).not.toBe(plain);
    expect(digest({})).toBe(plain);
  });

  it('are listed with the users of the deleted objects', () => {
    const state = applyOn(office, 'a', [...groups(6), allow('uses', ['g000', 'g001'], ['g000'])]);
    const outcome = planOn(state, 'a', []);
    const { plan, next } = planned(outcome);
    const used = viewPlan(plan, state, next).changes.flatMap(({ key, usedBy }) => (usedBy ? [[key, usedBy]] : []));
    expect(used).toEqual([
      ['g000', ['policy: uses (source a)']],
      ['g001', ['policy: uses (source a)']],
    ]);
  });

  it('bind sources, not the API', () => {
    const state = applyOn(office, 'a', groups(1));
    const outcome = createOn(state, 'Group', { name: 'by hand' });
    expect(planned(outcome).plan.guards).toEqual([]);
  });
});

describe('protection', () => {
  const guarded = document('Group', 'vault', {}, { annotations: { 'heddle.dev/prevent-delete': 'true' } });
  const others = groups(3);

  it('E67 outlives the document that asked for it', () => {
    const state = applyOn(office, 'a', [guarded, ...others]);
    expect(objectOf(state, 'Group', 'vault').protected).toBe(true);
    expect(guardsOf(planOn(state, 'a', others))).toEqual(['protected']);
  });

  it('E68 is cleared in a revision of its own before the object may go', () => {
    const state = applyOn(office, 'a', [guarded, ...others]);
    const cleared = planOn(state, 'a', [document('Group', 'vault'), ...others]);
    expect([linesOf(cleared, state), guardsOf(cleared)]).toEqual([['restate Group/vault'], []]);
    expect(guardsOf(planOn(planned(cleared).next, 'a', others))).toEqual([]);
  });

  it('holds for the API too, also when no document states the object any more', () => {
    const found = office.with({ put: [group('g1')], remove: [] });
    const annotations = { 'heddle.dev/prevent-delete': 'true' };
    const state = applyOn(found, 'a', [document('Group', 'g1', {}, { annotations })]);
    expect(refusals(deleteOn(state, 'g1'))).toEqual(['object_protected Group/g1']);
    const released = applyOn(state, 'a', [], { allowEmpty: true });
    expect(problemsOf(deleteOn(released, 'g1'))[0]?.message).toContain('`heddle import Group id:g1` prints it');
    const cleared = applyOn(applyOn(released, 'b', [document('Group', 'g1')]), 'b', [], { allowEmpty: true });
    expect(refusals(deleteOn(cleared, 'g1'))).toEqual([]);
  });

  it('gives plans that differ only in protection different digests', () => {
    const digest = (documents: readonly Document[]) => planned(planOn(office, 'a', documents)).plan.digest;
    expect(digest([guarded])).not.toBe(digest([document('Group', 'vault')]));
  });

  it('of an object that another source owns is that source’s affair', () => {
    const state = applyOn(office, 'a', [guarded]);
    expect(objectOf(applyOn(state, 'b', [document('Group', 'vault')]), 'Group', 'vault').protected).toBe(true);
  });
});

describe('prune', () => {
  it('E65 is off when it is not asked for', () => {
    const state = applyOn(office, 'a', groups(9));
    const outcome = planOn(state, 'a', [], { prune: false });
    expect([linesOf(outcome, state), guardsOf(outcome)]).toEqual([[], []]);
  });

  it('is off for a source that is set to it, whatever a request says', () => {
    const state = withModes(applyOn(office, 'a', groups(9)), { a: { prune: false } });
    const outcome = planOn(state, 'a', [], { prune: true });
    expect([linesOf(outcome, state), guardsOf(outcome)]).toEqual([[], []]);
  });

  it('lets a source go empty that is set to it', () => {
    const state = withModes(applyOn(office, 'a', groups(2)), { a: { allowEmpty: true } });
    expect(guardsOf(planOn(state, 'a', []))).toEqual([]);
  });

  it('E65 never happens in a run of some kinds or labels', () => {
    const mine = { labels: { team: 'data' } };
    const state = applyOn(office, 'a', [...groups(2), ...policies(1)]);
    const now = [document('Group', 'new', {}, mine), allow('other', ['All'], ['All'])];
    const ofKind = planOn(state, 'a', now, { filter: { kinds: ['Group'] } });
    expect([linesOf(ofKind, state), guardsOf(ofKind)]).toEqual([['create Group/new'], []]);
    const labels = [{ label: 'team', is: 'in', values: ['data'] }] as const;
    expect(linesOf(planOn(state, 'a', now, { filter: { labels } }), state)).toEqual(['create Group/new']);
    expect(linesOf(planOn(state, 'a', [], { filter: { labels } }), state)).toEqual([]);
  });

  it('E65 tells a reference to what the filter leaves out from one to nothing', () => {
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

  it('E66 does not happen beside a broken document', () => {
    const state = applyOn(office, 'a', groups(2));
    expect(refusals(planOn(state, 'a', [document('Group', 'new', { nmae: 'x' })]))).toEqual([
      'field_unknown Group/new /spec/nmae',
    ]);
  });

  it('E69 hands an object over when the other source states it first', () => {
    const state = applyOn(applyOn(office, 'a', groups(2)), 'b', keep(groups(2), 1));
    const outcome = planOn(state, 'a', groups(2).slice(1));
    expect(linesOf(outcome, state)).toEqual(['release Group/g000']);
    expect(objectOf(planned(outcome).next, 'Group', 'g000')).toMatchObject({
      id: objectOf(state, 'Group', 'g000').id,
      owner: 'b',
    });
  });

  it('E69 moves between two sources that are reconciled the other way round', () => {
    const both = applyOn(applyOn(office, 'b', groups(1)), 'a', groups(1));
    const left = applyOn(both, 'a', []);
    expect(objectOf(left, 'Group', 'g000')).toMatchObject({
      id: objectOf(both, 'Group', 'g000').id,
      owner: 'b',
      declared: [{ source: 'b' }],
    });
  });

  it('E69 leaves what another source wants to that source, with its id and its values', () => {
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
    // It was the source's own, and goes with its document from now on.
    const next = planned(taken).next;
    expect(linesOf(planOn(next, 'b', [], { allowEmpty: true }), next)).toEqual(['delete Group/g000']);
  });

  it('E69 leaves what was only taken over as it was found', () => {
    const found = office.with({ put: [group('g1', ['p1'])], remove: [] });
    const state = applyOn(found, 'a', [document('Group', 'g1', { peers: ['p1'] })]);
    const left = applyOn(state, 'a', [], { claimed: [{ source: 'b', keys: ['Group/g1'], units: [] }] });
    const taken = applyOn(left, 'b', [document('Group', 'g1', { peers: ['p1'] })]);
    expect(taken.get('g1')).toMatchObject({ key: 'g1', declared: [{ source: 'b' }] });
    expect(taken.get('g1')?.owner).toBeUndefined();
  });

  it('E69 moves an object under another key when its new document says what it was called', () => {
    const state = applyOn(office, 'a', groups(1));
    const renamed = [document('Group', 'team', {}, { previousNames: ['g000'] })];
    expect(refusals(planOn(state, 'b', renamed))).toEqual(['rename_foreign Group/team /metadata/previousNames']);
    const outcome = planOn(state, 'b', renamed);
    const wants = outcome.ok ? [] : (outcome.claimed?.keys ?? []);
    const left = applyOn(state, 'a', [], { claimed: [{ source: 'b', keys: wants, units: [] }] });
    const moved = applyOn(left, 'b', renamed);
    expect(objectOf(moved, 'Group', 'team')).toMatchObject({ id: objectOf(state, 'Group', 'g000').id, owner: 'b' });
  });

  it('E72 deletes a group that somebody just joined, without leaving anything behind', () => {
    const first = applyOn(office, 'a', groups(2));
    const { id } = objectOf(first, 'Group', 'g000');
    const joined = planned(replaceOn(first, 'Group', id, { peers: ['p1'] })).next;
    const outcome = planOn(joined, 'a', groups(2).slice(1));
    expect(linesOf(outcome, joined)).toEqual(['delete Group/g000']);
    checkState(planned(outcome).next);
  });

  it('lets a peer keep its key when its document goes', () => {
    const keyed = office.with({ put: [{ ...peer('p4', '100.72.0.4'), key: 'laptop' }], remove: [] });
    const state = applyOn(keyed, 'a', [document('Peer', 'laptop', { ssh_enabled: true })]);
    expect(applyOn(state, 'a', [], { allowEmpty: true }).get('p4')?.key).toBe('laptop');
  });

  it('E70 keeps what an object of the API uses, says so, and goes on trying', () => {
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

  it('E70 keeps what a kept object uses in turn', () => {
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

  it('E70 keeps what the API put into an object that the source still states', () => {
    const route = document('Route', 'r', { network_id: 'r', network: '10.0.0.0/8', peer: 'p1', groups: ['g001'] });
    const first = applyOn(office, 'a', [...groups(2), route]);
    const [gone, stays] = [objectOf(first, 'Group', 'g000').id, objectOf(first, 'Group', 'g001').id];
    const state = planned(replaceOn(first, 'Route', objectOf(first, 'Route', 'r').id, { groups: [gone, stays] })).next;
    const outcome = planOn(state, 'a', [...groups(2).slice(1), route]);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['in_use g000']]);
  });

  it('deletes what an object that goes back to its owner stops using in the same plan', () => {
    const zone = (...names: readonly string[]) =>
      document('DNSZone', 'lan', { domain: 'lan.example.com', distribution_groups: names });
    const both = applyOn(applyOn(office, 'b', [zone('All')]), 'a', [...groups(2), zone('g000')]);
    expect(linesOf(planOn(both, 'a', groups(2).slice(1)), both)).toEqual([
      'update DNSZone/lan: distribution_groups[g000]',
      'delete Group/g000',
    ]);
  });

  it('deletes what a stated object stops using in the same plan', () => {
    const state = applyOn(office, 'a', [...groups(2), allow('p', ['g000'], ['g001'])]);
    expect(linesOf(planOn(state, 'a', [...groups(2).slice(1), allow('p', ['All'], ['g001'])]), state)).toEqual([
      'update Policy/p: rules[main]',
      'delete Group/g000',
    ]);
  });

  it('never touches what others made', () => {
    const state = planned(createOn(applyOn(office, 'b', groups(3)), 'Group', { name: 'by hand' })).next;
    expect(linesOf(planOn(state, 'a', policies(1)), state)).toEqual(['create Policy/p000']);
  });
});
