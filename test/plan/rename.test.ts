import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { group } from '../kinds/objects.ts';
import { checkState } from './invariants.ts';
import {
  allow,
  applyOn,
  document,
  linesOf,
  objectOf,
  office,
  planned,
  planOn,
  problemsOf,
  refusals,
  warningsOf,
} from './steps.ts';

const devs = (name: string, previousNames?: readonly string[], spec: JsonObject = {}) =>
  document('Group', name, { name: 'Developers', ...spec }, previousNames === undefined ? {} : { previousNames });

const zone = (name: string, records: readonly JsonObject[], previousNames: readonly string[] = []) =>
  document('DNSZone', name, { domain: 'lan.example.com', distribution_groups: ['All'], records }, { previousNames });
const www = (content = '10.0.0.1') => ({ name: 'www.lan.example.com', type: 'A', content, ttl: 60 });

const first = applyOn(office, 'a', [devs('devs')]);
const { id } = objectOf(first, 'Group', 'devs');

describe('a rename', () => {
  it('E82 keeps the object, and is one change together with a change of its content', () => {
    const renamed = planOn(first, 'a', [devs('developers', ['devs'])]);
    expect(linesOf(renamed, first)).toEqual(['update Group/developers: ']);
    expect(planned(renamed).plan.counts).toEqual({ create: 0, update: 1, delete: 0, claims: 0 });
    const both = planOn(first, 'a', [devs('developers', ['devs'], { peers: ['p1'] })]);
    expect(linesOf(both, first)).toEqual(['update Group/developers: peers[p1]']);
    expect(objectOf(planned(both).next, 'Group', 'developers')).toMatchObject({ id, key: 'developers', owner: 'a' });
  });

  it('is one update for a group that 50 policies use, by its old or its new name', () => {
    const policies = (name: string) => Array.from({ length: 50 }, (_, at) => allow(`p${at}`, [name], ['All']));
    const state = applyOn(office, 'a', [devs('devs'), ...policies('devs')]);
    const renamed = [devs('developers', ['devs']), ...policies('developers')];
    expect(linesOf(planOn(state, 'a', renamed), state)).toEqual(['update Group/developers: ']);
    const part = planOn(state, 'a', [devs('developers', ['devs']), ...policies('devs')]);
    expect(linesOf(part, state)).toEqual(['update Group/developers: ']);
    expect(new Set(warningsOf(part).map((text) => text.split(' ')[0]))).toEqual(new Set(['reference_renamed']));
  });

  it('can be stated by an annotation, at which problems are then reported', () => {
    const annotations = { 'heddle.dev/previous-names': 'devs' };
    const renamed = (name: string) => document('Group', name, { name }, { previousNames: ['devs'], annotations });
    const outcome = planOn(first, 'a', [renamed('developers')]);
    expect(linesOf(outcome, first)).toEqual(['update Group/developers: name']);
    const path = '/metadata/annotations/heddle.dev~1previous-names';
    const twice = planOn(first, 'a', [renamed('developers'), renamed('programmers')]);
    expect(problemsOf(twice)).toContainEqual(expect.objectContaining({ code: 'rename_claimed_twice', path }));
  });

  it('E83 is not planned when only the file is renamed: the plan lists a move', () => {
    const moved = { ...devs('devs'), position: { ...devs('devs').position, file: 'other.yaml' } };
    const outcome = planOn(first, 'a', [moved]);
    expect([linesOf(outcome, first), planned(outcome).plan.moves.length]).toEqual([[], 1]);
  });

  it('E84 may remain in the document forever', () => {
    const stated = [devs('developers', ['devs'])];
    const state = applyOn(first, 'a', stated);
    expect(linesOf(planOn(state, 'a', stated), state)).toEqual([]);
    const other = applyOn(state, 'b', [document('Group', 'devs', { name: 'Other' })]);
    expect([linesOf(planOn(other, 'a', stated), other), warningsOf(planOn(other, 'a', stated))]).toEqual([[], []]);
    const fresh = applyOn(office, 'a', stated);
    expect(linesOf(planOn(fresh, 'a', stated), fresh)).toEqual([]);
  });

  it('E84 changes nothing if the object never had the previous name', () => {
    const stated = [devs('devs', ['engineers'])];
    const state = applyOn(first, 'a', stated);
    expect(objectOf(state, 'Group', 'devs').id).toBe(id);
    expect(linesOf(planOn(state, 'a', stated), state)).toEqual([]);
    // A new object may then take that name.
    const later = [...stated, document('Group', 'engineers')];
    const both = applyOn(state, 'a', later);
    expect(linesOf(planOn(both, 'a', later), both)).toEqual([]);
  });

  it('follows chains of previous names', () => {
    const state = applyOn(first, 'a', [devs('c', ['b', 'devs'])]);
    expect(objectOf(state, 'Group', 'c').id).toBe(id);
    const skipped = applyOn(applyOn(first, 'a', [devs('b', ['devs'])]), 'a', [devs('c', ['devs'])]);
    expect(objectOf(skipped, 'Group', 'c')).toMatchObject({ id, aliases: ['devs', 'b'] });
  });

  it('can be reverted, and keeps the object', () => {
    const state = applyOn(first, 'a', [devs('developers', ['devs'])]);
    const back = planOn(state, 'a', [devs('devs')]);
    expect(linesOf(back, state)).toEqual(['update Group/devs: ']);
    expect(objectOf(planned(back).next, 'Group', 'devs')).toMatchObject({ id, aliases: ['developers'] });
  });

  it('E85 swaps two objects if each document has the other as previous name, and only once', () => {
    const two = [document('Group', 'one', { peers: ['p1'] }), document('Group', 'two', { peers: ['p2'] })];
    const state = applyOn(office, 'a', two);
    const [one, two_] = [objectOf(state, 'Group', 'one').id, objectOf(state, 'Group', 'two').id];
    const swapped = [
      document('Group', 'one', { name: 'two', peers: ['p2'] }, { previousNames: ['two'] }),
      document('Group', 'two', { name: 'one', peers: ['p1'] }, { previousNames: ['one'] }),
    ];
    const outcome = planOn(state, 'a', swapped);
    expect(linesOf(outcome, state)).toEqual(['update Group/one: ', 'update Group/two: ']);
    const { next } = planned(outcome);
    expect([objectOf(next, 'Group', 'one').id, objectOf(next, 'Group', 'two').id]).toEqual([two_, one]);
    expect(linesOf(planOn(next, 'a', swapped), next)).toEqual([]);
    checkState(next);
  });

  it('is refused if the previous name still has a document', () => {
    const outcome = planOn(first, 'a', [devs('devs'), devs('developers', ['devs'], { name: 'x' })]);
    expect(refusals(outcome)).toEqual(['rename_still_stated Group/developers /metadata/previousNames']);
    expect(problemsOf(outcome)[0]?.message).toContain('group.yaml:1');
  });

  it('is refused as a rotation of three names, which is ambiguous', () => {
    const state = applyOn(office, 'a', [document('Group', 'x'), document('Group', 'y'), document('Group', 'z')]);
    const turned = [
      document('Group', 'x', {}, { previousNames: ['y'] }),
      document('Group', 'y', {}, { previousNames: ['z'] }),
      document('Group', 'z', {}, { previousNames: ['x'] }),
    ];
    expect(refusals(planOn(state, 'a', turned))).toEqual([
      'rename_still_stated Group/x /metadata/previousNames',
      'rename_still_stated Group/y /metadata/previousNames',
      'rename_still_stated Group/z /metadata/previousNames',
    ]);
  });

  it('is refused at both documents if two of them claim one previous name', () => {
    const outcome = planOn(first, 'a', [devs('x', ['devs']), devs('y', ['devs'], { name: 'y' })]);
    expect(refusals(outcome)).toEqual([
      'rename_claimed_twice Group/x /metadata/previousNames',
      'rename_claimed_twice Group/y /metadata/previousNames',
    ]);
  });

  it('is refused if two previous names are separate objects', () => {
    const state = applyOn(first, 'a', [devs('devs'), document('Group', 'engineers')]);
    expect(refusals(planOn(state, 'a', [devs('all-devs', ['devs', 'engineers'])]))).toEqual([
      'rename_ambiguous Group/all-devs /metadata/previousNames',
    ]);
  });

  it('changes and deletes nothing, with a warning, while both names are objects', () => {
    const state = applyOn(first, 'a', [devs('devs'), document('Group', 'developers')]);
    const stated = [document('Group', 'developers', {}, { previousNames: ['devs'] })];
    const outcome = planOn(state, 'a', stated);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['rename_blocked developers']]);
    const decided = planOn(state, 'a', [document('Group', 'developers')]);
    expect(linesOf(decided, state)).toEqual(['delete Group/devs']);
  });

  it('E86 to the name of an unmanaged object is refused for the display name, not for the key', () => {
    const state = first.with({
      put: [group('g7', [], { name: 'developers', spec: { name: 'developers' } })],
      remove: [],
    });
    const taken = planOn(state, 'a', [devs('developers', ['devs'], { name: 'developers' })]);
    expect(refusals(taken)).toEqual(['value_taken Group/developers /spec/name']);
    expect(linesOf(planOn(state, 'a', [devs('developers', ['devs'])]), state)).toEqual(['update Group/developers: ']);
  });

  it('E87 is followed by references of other sources, with a warning', () => {
    const rule = [allow('p', ['devs'], ['All'])];
    const used = applyOn(first, 'b', rule);
    const state = applyOn(used, 'a', [devs('developers', ['devs'])]);
    const outcome = planOn(state, 'b', rule);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([[], ['reference_renamed p']]);
    expect(planned(outcome).plan.warnings[0]?.message).toContain('`developers`');
    // Another group with that display name does not become the referenced object.
    const named = state.with({ put: [group('g7', [], { name: 'devs' })], remove: [] });
    expect(linesOf(planOn(named, 'b', rule), named)).toEqual([]);
  });

  it('E87 is followed by another source that states the object, with a warning', () => {
    const shared = [devs('devs')];
    const state = applyOn(applyOn(first, 'b', shared), 'a', [devs('developers', ['devs'])]);
    const outcome = planOn(state, 'b', [...shared, allow('p', ['devs'], ['All'])]);
    expect([linesOf(outcome, state), warningsOf(outcome)]).toEqual([
      ['create Policy/p'],
      ['object_renamed devs', 'reference_renamed p'],
    ]);
    expect(refusals(planOn(state, 'b', [devs('engineers', ['developers'])]))).toEqual([
      'rename_foreign Group/engineers /metadata/previousNames',
    ]);
  });

  it('E88 that changes only the case of the display name is an update of the name', () => {
    const state = applyOn(office, 'a', [document('Group', 'devs', { name: 'devs' })]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'devs', { name: 'Devs' })]), state)).toEqual([
      'update Group/devs: name',
    ]);
  });

  it.each([
    ['the account', document('Account', 'account', {}, { previousNames: ['main'] })],
    ['a peer', document('Peer', 'p1', {}, { previousNames: ['laptop'] })],
    ['a record', document('DNSRecord', 'www', { zone: 'lan', ...www() }, { previousNames: ['web'] })],
  ])('is refused for %s, as its document cannot choose its key', (_, stated) => {
    const codes = refusals(planOn(office, 'a', [stated])).map((text) => text.split(' ')[0]);
    expect(codes).toContain('rename_needless');
  });
});

describe('the children of a renamed object', () => {
  const state = applyOn(office, 'a', [zone('lan', [www(), www('10.0.0.2')])]);

  it('get new keys and keep their ids, with one update of the zone', () => {
    const outcome = planOn(state, 'a', [zone('home', [www(), www('10.0.0.2')], ['lan'])]);
    expect(linesOf(outcome, state)).toEqual([
      'update DNSZone/home: name',
      'restate DNSRecord/home/www.lan.example.com/A/10.0.0.1',
      'restate DNSRecord/home/www.lan.example.com/A/10.0.0.2',
    ]);
    const { next } = planned(outcome);
    const ids = (snapshot: typeof next) => snapshot.ofKind('DNSRecord').map((record) => record.id);
    expect(ids(next)).toEqual(ids(state));
    checkState(next);
  });

  it('get new keys also if another source states them, which then plans no change', () => {
    const theirs = document('DNSRecord', 'mail', { zone: 'lan', ...www('10.0.0.9') });
    const both = applyOn(state, 'b', [theirs]);
    const renamed = applyOn(both, 'a', [zone('home', [www(), www('10.0.0.2')], ['lan'])]);
    expect(objectOf(renamed, 'DNSRecord', 'home/www.lan.example.com/A/10.0.0.9').declared[0]?.source).toBe('b');
    const outcome = planOn(renamed, 'b', [theirs]);
    expect([linesOf(outcome, renamed), warningsOf(outcome)]).toEqual([
      [],
      ['reference_renamed home/www.lan.example.com/A/10.0.0.9'],
    ]);
  });

  it('have one key, whether documents name their parent by key, id or name', () => {
    const zoneId = objectOf(state, 'DNSZone', 'lan').id;
    const byId = (name: string) => [document('DNSRecord', 'mail', { zone: name, ...www('10.0.0.9') })];
    const both = applyOn(state, 'b', byId('lan'));
    for (const name of [`id:${zoneId}`, 'name:lan']) expect(linesOf(planOn(both, 'b', byId(name)), both)).toEqual([]);
  });

  it('move with their parents when these swap names', () => {
    const other = document('DNSZone', 'lab', { domain: 'lab.example.com', distribution_groups: ['All'] });
    const two = applyOn(state, 'a', [zone('lan', [www()]), other]);
    const swapped = [
      { ...zone('lab', [www()], ['lan']) },
      document(
        'DNSZone',
        'lan',
        { name: 'lab', domain: 'lab.example.com', distribution_groups: ['All'] },
        { previousNames: ['lab'] },
      ),
    ].map((item) => (item.metadata.name === 'lab' ? { ...item, spec: { ...item.spec, name: 'lan' } } : item));
    const { next } = planned(planOn(two, 'a', swapped));
    expect(next.ofKind('DNSRecord').map(({ key }) => key)).toEqual(['lab/www.lan.example.com/A/10.0.0.1']);
    expect(linesOf(planOn(next, 'a', swapped), next)).toEqual([]);
  });

  it('are kept when an object that they refer to is renamed', () => {
    const network = (gateways: string) =>
      document('Network', 'office', { name: 'office', routers: [{ peer_groups: [gateways], metric: 10 }] });
    const before = applyOn(office, 'a', [devs('gw'), network('gw')]);
    const outcome = planOn(before, 'a', [devs('gateways', ['gw']), network('gateways')]);
    expect(linesOf(outcome, before)).toEqual([
      'update Group/gateways: ',
      'restate NetworkRouter/office/groups/gateways',
    ]);
  });
});

describe('any sequence of renames', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  /**
   * Generates the names of three objects in consecutive revisions. A name that is given up is free one revision later.
   */
  const histories = fc.array(fc.shuffledSubarray(names, { minLength: 3, maxLength: 3 }), {
    minLength: 2,
    maxLength: 6,
  });

  it('keeps the id of every object, and plans nothing after each rename', () => {
    fc.assert(
      fc.property(histories, (history) => {
        let state = office;
        let before: readonly string[] = [];
        const known = new Map<number, string>();
        for (const now of history) {
          // A name can move from one object to another only in two revisions.
          if (before.some((name, at) => now.includes(name) && now[at] !== name)) continue;
          const documents = now.map((name, at) =>
            document(
              'Group',
              name,
              { name: `Group ${at}` },
              before[at] === undefined ? {} : { previousNames: [before[at]] },
            ),
          );
          const outcome = planOn(state, 'a', documents);
          state = planned(outcome).next;
          for (const [at, name] of now.entries()) {
            const object = objectOf(state, 'Group', name);
            expect(known.get(at) ?? object.id).toBe(object.id);
            known.set(at, object.id);
          }
          expect(linesOf(planOn(state, 'a', documents), state)).toEqual([]);
          checkState(state);
          before = now;
        }
      }),
      { numRuns: 100 },
    );
  });
});
