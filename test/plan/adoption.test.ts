import { describe, expect, it } from 'vitest';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group, peersIn, stored } from '../kinds/objects.ts';
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
  withModes,
} from './steps.ts';

const adopt = (id: string) => ({ annotations: { 'heddle.dev/adopt': id } });
const twin = { name: 'devs', spec: { name: 'devs' }, derived: { issued: 'jwt' } };
const withGroup = office.with({ put: [group('g1', ['p1', 'p2'])], remove: [] });

/** Returns an export of the account as documents. */
function exported(state: Snapshot, filter = {}): readonly Document[] {
  return exportDocuments(state, filter).map(({ kind, metadata, spec }, line) => ({
    kind,
    metadata,
    spec,
    position: { file: 'export.yaml', line, index: line, pointer: '' },
  }));
}

describe('adoption', () => {
  it('E76 adopts an identical object by its name, without changing a unit', () => {
    const outcome = planOn(withGroup, 'a', [document('Group', 'g1')]);
    expect(linesOf(outcome, withGroup)).toEqual(['claim Group/g1']);
    expect(planned(outcome).next.get('g1')).toMatchObject({
      key: 'g1',
      spec: withGroup.get('g1')?.spec,
      declared: [{ source: 'a', stated: { name: 'g1' } }],
    });
  });

  it('E76 adopts an identical group with its members', () => {
    const outcome = planOn(withGroup, 'a', [document('Group', 'devs', { name: 'g1', peers: ['p2', 'p1'] })]);
    expect(linesOf(outcome, withGroup)).toEqual(['claim Group/devs']);
    expect(peersIn(planned(outcome).next.get('g1'))).toEqual({ p1: ['api', 'source'], p2: ['api', 'source'] });
  });

  it('E77 refuses an object that differs, and adopts it with the annotation', () => {
    const stated = { name: 'g1', peers: ['p3'] };
    const refused = planOn(withGroup, 'a', [document('Group', 'g1', stated)]);
    expect(refusals(refused)).toEqual(['object_exists Group/g1 /spec']);
    expect(problemsOf(refused)[0]?.message).toContain('heddle.dev/adopt: "id:g1"');
    const taken = planOn(withGroup, 'a', [document('Group', 'g1', stated, adopt('id:g1'))]);
    expect(linesOf(taken, withGroup)).toEqual(['update Group/g1: peers[p3]']);
    expect(planned(taken).next.get('g1')?.owner).toBeUndefined();
  });

  it('E77 is refused with a message that shows the changes and the option `--adopt=take`', () => {
    const refused = planOn(withGroup, 'a', [
      document('Group', 'g1', { peers: ['p3'] }),
      document('Group', 'other', { name: 'g1', peers: ['p1'] }),
    ]);
    expect(problemsOf(refused)[0]?.message).toContain('would change it (+peers[p3])');
    expect(problemsOf(refused)[0]?.message).toContain('--adopt=take');
  });

  it('E77 adopts an object that differs by its name in the mode `take`', () => {
    const stated = [document('Group', 'g1', { peers: ['p3'] })];
    const taken = planOn(withGroup, 'a', stated, { adopt: 'take' });
    expect(linesOf(taken, withGroup)).toEqual(['update Group/g1: peers[p3]']);
    expect(linesOf(planOn(withModes(withGroup, { a: { adopt: 'take' } }), 'a', stated), withGroup)).toEqual(
      linesOf(taken, withGroup),
    );
    expect(planned(taken).next.get('g1')?.owner).toBeUndefined();
  });

  it('takes nothing by its name in the mode `never`, and does not create a second object either', () => {
    const named = planOn(withGroup, 'a', [document('Group', 'g1', { peers: ['p1', 'p2'] })], { adopt: 'never' });
    expect(refusals(named)).toEqual(['object_exists Group/g1 /spec']);
    const marked = [document('Group', 'g1', {}, adopt('id:g1')), document('Account', 'account', {})];
    expect(linesOf(planOn(withGroup, 'a', marked, { adopt: 'never' }), withGroup)).toEqual([
      'claim Account/account',
      'claim Group/g1',
    ]);
  });

  it('E78 refuses two groups of one name in the modes `identical` and `take`', () => {
    const state = office.with({ put: [group('g8', [], twin), group('g9', [], twin)], remove: [] });
    for (const mode of ['identical', 'take'] as const)
      expect(refusals(planOn(state, 'a', [document('Group', 'devs')], { adopt: mode }))).toEqual([
        'adopt_ambiguous Group/devs /metadata',
      ]);
  });

  it('E78 refuses two groups of one name and explains how to choose', () => {
    const issued = (id: string) => group(id, [], { name: 'devs', spec: { name: 'devs' }, derived: { issued: 'jwt' } });
    const state = office.with({ put: [issued('g8'), issued('g9')], remove: [] });
    const outcome = planOn(state, 'a', [document('Group', 'devs')]);
    expect(refusals(outcome)).toEqual(['adopt_ambiguous Group/devs /metadata']);
    expect(problemsOf(outcome)[0]?.message).toContain('id:g8, id:g9');
    expect(linesOf(planOn(state, 'a', [document('Group', 'devs', {}, adopt('id:g9'))]), state)).toEqual([
      'claim Group/devs',
    ]);
  });

  it.each([
    ['an id that is not there', 'id:nothing', 'there is no Group'],
    ['an object of another kind', 'id:p1', 'there is no Group'],
    ['the group of all peers', 'id:All', 'is a system object'],
    ['what another source manages', 'id:new-0-0001', 'is already managed by b'],
  ])('E79 refuses to adopt %s', (_, annotation, message) => {
    const state = applyOn(withGroup, 'b', [document('Group', 'theirs')]);
    const outcome = planOn(state, 'a', [document('Group', 'mine', {}, adopt(annotation))]);
    expect(refusals(outcome)).toEqual(['adopt_impossible Group/mine /metadata/annotations']);
    expect(problemsOf(outcome)[0]?.message).toContain(message);
  });

  it('E79 refuses two documents that adopt the same object', () => {
    const outcome = planOn(withGroup, 'a', [
      document('Group', 'one', { name: 'g1' }, adopt('id:g1')),
      document('Group', 'two', { name: 'g1' }, adopt('id:g1')),
    ]);
    expect(refusals(outcome)).toEqual(['adopt_impossible Group/two /metadata/annotations']);
  });

  it('ignores the annotation once the object is linked', () => {
    const stated = [document('Group', 'devs', { name: 'g1' }, adopt('id:g1'))];
    const state = applyOn(withGroup, 'a', stated);
    expect(linesOf(planOn(state, 'a', stated), state)).toEqual([]);
  });

  it('E60 adopts or refuses a name that the API took first, and never duplicates it', () => {
    const state = planned(createOn(office, 'Group', { name: 'devs', peers: ['p1'] })).next;
    expect(linesOf(planOn(state, 'a', [document('Group', 'devs', { peers: ['p1'] })]), state)).toEqual([
      'claim Group/devs',
    ]);
    expect(refusals(planOn(state, 'a', [document('Group', 'devs', { peers: ['p2'] })]))).toEqual([
      'object_exists Group/devs /spec',
    ]);
  });

  it('E80 changes nothing for any source when the export of an account is planned, nor when its file is renamed', () => {
    const first = applyOn(withGroup, 'b', [
      document('Group', 'theirs', { peers: ['p1'] }),
      allow('rule', ['theirs', 'g1'], ['All']),
    ]);
    const state = planned(
      createOn(first, 'Policy', {
        name: 'By hand',
        enabled: true,
        rules: [
          {
            name: 'r',
            enabled: true,
            action: 'accept',
            bidirectional: true,
            protocol: 'all',
            sources: ['g1'],
            destinations: ['All'],
          },
        ],
      }),
    ).next;
    const outcome = planOn(state, 'c', exported(state));
    expect(planned(outcome).plan.changes).toEqual([]);
    const claimed = planned(outcome).next;
    const renamed = exported(claimed).map((item) => ({
      ...item,
      position: { ...item.position, file: 'renamed.yaml' },
    }));
    expect(linesOf(planOn(claimed, 'c', renamed), claimed)).toEqual([]);
  });

  it('E81 releases an adopted object with its values when its document is removed', () => {
    const state = applyOn(withGroup, 'a', [
      document('Group', 'devs', { name: 'g1', peers: ['p1'] }),
      document('Group', 'mine'),
    ]);
    const outcome = planOn(state, 'a', [document('Group', 'mine')]);
    expect(linesOf(outcome, state)).toEqual(['release Group/g1']);
    expect(Object.keys(peersIn(planned(outcome).next.get('g1')) as object)).toEqual(['p1', 'p2']);
    expect(refusals(deleteOn(planned(outcome).next, 'g1'))).toEqual([]);
  });

  it.each([
    ['the source that lets go of it', 'a'],
    ['another source', 'b'],
  ])('E81 keeps references by the former key of a released object valid, in documents of %s', (_, source) => {
    const devs = document('Group', 'developers', { name: 'g1' });
    const policy = allow('p', ['developers'], ['developers']);
    const first = applyOn(withGroup, 'a', source === 'a' ? [devs, policy] : [devs, document('Group', 'mine')]);
    const state = source === 'a' ? first : applyOn(first, source, [policy]);
    const left = source === 'a' ? [policy] : [document('Group', 'mine')];
    const released = applyOn(state, 'a', left);
    expect(released.get('g1')).toMatchObject({ aliases: ['developers'], declared: [] });
    expect(released.get('g1')?.key).toBeUndefined();
    const again = planOn(released, source, [policy]);
    expect(linesOf(again, released)).toEqual([]);
    expect(planned(again).plan.warnings.map(({ message }) => message)).toEqual([
      'Group `developers` is called `name:g1` now; write that',
      'Group `developers` is called `name:g1` now; write that',
    ]);
    // A document with the former key adopts the object again, and its alias is removed. A document that only lists the
    // key in `previousNames` does not adopt it.
    expect(applyOn(released, 'c', [devs]).get('g1')).toEqual(
      expect.not.objectContaining({ aliases: expect.anything() }),
    );
    const other = document('Group', 'new', { name: 'New' }, { previousNames: ['developers'] });
    expect(linesOf(planOn(released, 'c', [other]), released)).toEqual(['create Group/new']);
  });

  it('E81 deletes an adopted object with its document when it was adopted with `on-release: prune`', () => {
    const prune = { annotations: { 'heddle.dev/on-release': 'prune' } };
    const state = applyOn(withGroup, 'a', [
      document('Group', 'devs', { name: 'g1' }, prune),
      document('Group', 'mine'),
    ]);
    expect(state.get('g1')?.owner).toBe('a');
    // The release rule is recorded with the object, so the document need not repeat the annotation.
    const plain = [document('Group', 'devs', { name: 'g1' }), document('Group', 'mine')];
    expect(linesOf(planOn(state, 'a', plain), state)).toEqual([]);
    expect(linesOf(planOn(state, 'a', plain.slice(1)), state)).toEqual(['delete Group/devs']);
  });

  it('E81 releases an object that its document created with `on-release: release`', () => {
    const release = { annotations: { 'heddle.dev/on-release': 'release' } };
    const state = applyOn(office, 'a', [document('Group', 'devs', {}, release), document('Group', 'mine')]);
    expect(linesOf(planOn(state, 'a', [document('Group', 'mine')]), state)).toEqual(['release Group/devs']);
  });

  it('E81 leaves the owner of an object unchanged when another source states `on-release`', () => {
    const release = { annotations: { 'heddle.dev/on-release': 'release' } };
    const state = applyOn(office, 'a', [document('Group', 'devs')]);
    expect(objectOf(applyOn(state, 'b', [document('Group', 'devs', {}, release)]), 'Group', 'devs').owner).toBe('a');
  });

  it('lets only one source decide about the protection of an object that none of them owns', () => {
    const guarded = { annotations: { 'heddle.dev/prevent-delete': 'true' } };
    const first = applyOn(withGroup, 'b', [document('Group', 'devs', { name: 'g1' }, guarded)]);
    const both = applyOn(first, 'a', [document('Group', 'devs', { name: 'g1' })]);
    expect(both.get('g1')?.protected).toBe(false);
    const again = planOn(both, 'b', [document('Group', 'devs', { name: 'g1' }, guarded)]);
    expect(linesOf(again, both)).toEqual([]);
  });

  it.each([
    ['heddle.dev/prevent-deletes', 'true', 'did you mean `heddle.dev/prevent-delete`?'],
    ['heddle.dev/prevent-delete', 'yes', 'write "true" or "false"'],
    ['heddle.dev/on-release', 'delete', 'write "prune" or "release"'],
    ['heddle.dev/output-secret', 'devs', 'no value that a Secret could hold is generated for a Group'],
  ])('refuses the annotation %s with the value `%s`', (name, value, hint) => {
    const outcome = planOn(office, 'a', [document('Group', 'devs', {}, { annotations: { [name]: value } })]);
    expect(refusals(outcome)).toEqual(['annotation_invalid Group/devs /metadata/annotations']);
    expect(problemsOf(outcome)[0]?.message).toContain(hint);
  });

  it('accepts any annotation of other programs, but not `on-release: prune` for the account', () => {
    const others = { annotations: { 'example.com/owner': 'data', 'argocd.argoproj.io/sync-wave': '1' } };
    expect(linesOf(planOn(office, 'a', [document('Group', 'devs', {}, others)]), office)).toEqual([
      'create Group/devs',
    ]);
    const prune = { annotations: { 'heddle.dev/on-release': 'prune' } };
    expect(refusals(planOn(office, 'a', [document('Account', 'account', {}, prune)]))).toEqual([
      'annotation_invalid Account/account /metadata/annotations',
    ]);
  });

  it('E80 changes nothing when an export marked for adoption is planned, for its source and for others', () => {
    const first = applyOn(withGroup, 'b', [document('Group', 'theirs', { peers: ['p1'] })]);
    const marked = exported(first, { markAdopt: true });
    expect(marked.every(({ metadata }) => metadata.annotations?.['heddle.dev/adopt'] !== undefined)).toBe(true);
    for (const source of ['b', 'c']) {
      const outcome = planOn(first, source, marked);
      expect(planned(outcome).plan.changes).toEqual([]);
      const claimed = planned(outcome).next;
      expect([...claimed.objects()].map(({ id }) => id).sort()).toEqual(
        [...first.objects()].map(({ id }) => id).sort(),
      );
      expect(linesOf(planOn(claimed, source, marked), claimed)).toEqual([]);
    }
  });

  it('never adopts or prunes the group of all peers', () => {
    expect(refusals(planOn(office, 'a', [document('Group', 'all', { name: 'All' })]))).toEqual([
      'value_taken Group/all /spec/name',
    ]);
  });

  it('takes over the settings of the account, and releases them without tripping a guard', () => {
    const state = applyOn(office, 'a', [document('Account', 'account', { settings: { peer_login_expiration: 7200 } })]);
    expect(state.get('acc')?.key).toBe('account');
    const outcome = planOn(state, 'a', []);
    expect(linesOf(outcome, state)).toEqual(['release Account/account']);
    expect(guardsOf(outcome)).toEqual([]);
  });

  it('adopts records that the API made in a zone of the source', () => {
    const zone = { domain: 'lan.example.com', distribution_groups: ['All'] };
    const first = applyOn(office, 'a', [document('DNSZone', 'lan', zone)]);
    const { id } = objectOf(first, 'DNSZone', 'lan');
    const record = { name: 'www.lan.example.com', type: 'A', content: '10.0.0.1', ttl: 60 };
    const state = planned(createOn(first, 'DNSRecord', record, id)).next;
    const outcome = planOn(state, 'a', [document('DNSZone', 'lan', { ...zone, records: [record] })]);
    expect(linesOf(outcome, state)).toEqual(['claim DNSRecord/lan/www.lan.example.com/A/10.0.0.1']);
    expect(planned(outcome).next.childrenOf(id, 'DNSRecord')).toHaveLength(1);
  });

  it('does not adopt an object of another kind that has the same name', () => {
    const state = office.with({ put: [stored('Policy', 'pol', { name: 'devs', rules: [] })], remove: [] });
    expect(linesOf(planOn(state, 'a', [document('Group', 'devs')]), state)).toEqual(['create Group/devs']);
  });
});
