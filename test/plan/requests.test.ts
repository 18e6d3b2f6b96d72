import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { peersIn, withPeers } from '../kinds/objects.ts';
import {
  allow,
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
} from './steps.ts';

const devs = (...peers: readonly string[]) => document('Group', 'devs', { peers }, { file: 'groups.yaml', line: 5 });
const rule = {
  name: 'r',
  enabled: true,
  action: 'accept',
  bidirectional: true,
  protocol: 'all',
  destinations: ['All'],
};
const idOf = (state: Snapshot, kind: string, key: string) => objectOf(state, kind, key).id;
const peersOf = (state: Snapshot, key = 'devs') => peersIn(objectOf(state, 'Group', key));
const put = (state: Snapshot, change: JsonObject) => replaceOn(state, 'Group', idOf(state, 'Group', 'devs'), change);

describe('a replace request for a managed object', () => {
  const state = applyOn(office, 'a', [
    document(
      'Policy',
      'p',
      {
        enabled: true,
        rules: [{ name: 'main', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }],
      },
      { file: 'p.yaml', line: 9 },
    ),
  ]);
  const { id } = objectOf(state, 'Policy', 'p');

  it('E53 is accepted if only an unmanaged field differs', () => {
    expect(linesOf(replaceOn(state, 'Policy', id, { description: 'free' }), state)).toEqual([
      'update Policy/p: description',
    ]);
  });

  it('E54 is refused as a whole if a managed and an unmanaged field differ, with the position of the owner', () => {
    const outcome = replaceOn(state, 'Policy', id, { description: 'free', enabled: false });
    expect(refusals(outcome)).toEqual(['managed_field Policy/p /enabled']);
    expect(problemsOf(outcome)[0]?.message).toContain('source a (p.yaml:9)');
  });

  it('writes nothing when nothing differs', () => {
    expect(linesOf(replaceOn(state, 'Policy', id, {}), state)).toEqual([]);
  });

  it('may add rules, but not remove or change a stated rule', () => {
    const [main] = objectOf(state, 'Policy', 'p').spec['rules'] as readonly JsonObject[];
    expect(
      linesOf(replaceOn(state, 'Policy', id, { rules: [main ?? {}, { ...rule, sources: ['All'] }] }), state),
    ).toEqual(['update Policy/p: rules[r]']);
    expect(refusals(replaceOn(state, 'Policy', id, { rules: [{ ...rule, sources: ['All'] }] }))).toEqual([
      'managed_field Policy/p /rules',
    ]);
    expect(refusals(replaceOn(state, 'Policy', id, { rules: [{ ...main, protocol: 'udp' }] }))).toEqual([
      'managed_field Policy/p /rules',
    ]);
  });

  it('E26 may not change a name that is taken from the key', () => {
    expect(refusals(replaceOn(state, 'Policy', id, { name: 'other' }))).toEqual(['managed_field Policy/p /name']);
  });
});

describe('a delete request', () => {
  it('E58 is refused for an object that a source states, with the position in the source', () => {
    const state = applyOn(office, 'a', [devs()]);
    const outcome = deleteOn(state, idOf(state, 'Group', 'devs'));
    expect(refusals(outcome)).toEqual(['managed_field Group/devs']);
    expect(problemsOf(outcome)[0]?.message).toContain('source a (groups.yaml:5)');
  });

  it('is refused while other objects refer to the object, and accepted afterwards', () => {
    const group = createOn(office, 'Group', { name: 'devs' });
    const policy = createOn(planned(group).next, 'Policy', {
      name: 'p',
      enabled: true,
      rules: [{ ...rule, sources: [group.id] }],
    });
    const state = planned(policy).next;
    expect(refusals(deleteOn(state, group.id))).toEqual(['object_linked Group/devs']);
    const freed = planned(deleteOn(state, policy.id)).next;
    expect(linesOf(deleteOn(freed, group.id), freed)).toEqual(['delete Group/devs']);
  });

  it('lists all 30 objects that refer to the object, with their source', () => {
    const made = planned(createOn(office, 'Group', { name: 'devs' })).next;
    const policies = Array.from({ length: 30 }, (_, at) => allow(`policy-${at}`, ['devs'], ['All']));
    const state = applyOn(made, 'team', policies);
    const [problem] = problemsOf(deleteOn(state, idOf(state, 'Group', 'devs')));
    for (const { metadata } of policies) expect(problem?.message).toContain(`policy: ${metadata.name} (source team)`);
  });

  it('deletes the children before their parent', () => {
    const zone = createOn(office, 'DNSZone', {
      name: 'lan',
      domain: 'lan.example.com',
      enable_search_domain: false,
      distribution_groups: ['All'],
    });
    const record = createOn(
      planned(zone).next,
      'DNSRecord',
      { name: 'www.lan.example.com', type: 'A', content: '10.0.0.1', ttl: 60 },
      zone.id,
    );
    const state = planned(record).next;
    const outcome = deleteOn(state, zone.id);
    expect(linesOf(outcome, state)).toEqual(['delete DNSRecord/www.lan.example.com', 'delete DNSZone/lan']);
    expect([...planned(outcome).next.objects()].filter(({ kind }) => kind.startsWith('DNS'))).toEqual([]);
  });

  it('is refused when a source states one of the children', () => {
    const zone = createOn(office, 'DNSZone', {
      name: 'lan',
      domain: 'lan.example.com',
      enable_search_domain: false,
      distribution_groups: ['All'],
    });
    const state = applyOn(planned(zone).next, 'a', [
      document('DNSRecord', 'www', { zone: 'name:lan', name: 'www.lan.example.com', type: 'A', content: '10.0.0.1' }),
    ]);
    expect(refusals(deleteOn(state, zone.id))).toHaveLength(1);
  });

  it('is refused for the group of all peers', () => {
    expect(refusals(deleteOn(office, 'All'))).toEqual(['delete_refused Group/undefined']);
  });
});

describe('a group membership', () => {
  it('E46, E52 from enrolment is kept when a source is applied', () => {
    const state = applyOn(office, 'a', [devs('p1')]);
    const group = objectOf(state, 'Group', 'devs');
    const enrolled = state.with({
      put: [withPeers(group, { p1: ['source'], p2: ['enrolment'] })],
      remove: [],
    });
    expect(linesOf(planOn(enrolled, 'a', [devs('p1')]), enrolled)).toEqual([]);
    expect(peersOf(applyOn(enrolled, 'a', [devs('p3')]))).toEqual({ p2: ['enrolment'], p3: ['source'] });
    expect(peersOf(applyOn(enrolled, 'a', [devs()]))).toEqual({ p2: ['enrolment'] });
  });

  it('E46 from enrolment does not change the digest of a plan about other peers', () => {
    const state = applyOn(office, 'a', [devs('p1')]);
    const group = objectOf(state, 'Group', 'devs');
    const enrolled = state.with({
      put: [withPeers(group, { p1: ['source'], p2: ['enrolment'] })],
      remove: [],
    });
    const digest = (on: Snapshot) => planned(planOn(on, 'a', [devs('p1', 'p3')])).plan.digest;
    expect(digest(enrolled)).toBe(digest(state));
  });

  it('with several origins ends with the last of them', () => {
    const api = planned(createOn(office, 'Group', { name: 'devs', peers: ['p1', 'p2'] })).next;
    const both = applyOn(api, 'a', [devs('p1')], {});
    expect(refusals(planOn(api, 'a', [devs('p3')]))).toEqual(['object_exists Group/devs /spec']);
    expect(peersOf(both)).toEqual({ p1: ['api', 'source'], p2: ['api'] });
    const released = applyOn(both, 'a', [devs()]);
    expect(peersOf(released)).toEqual({ p1: ['api'], p2: ['api'] });
    expect(peersOf(planned(put(released, { peers: ['p2'] })).next)).toEqual({ p2: ['api'] });
  });

  it('from a source cannot be removed by the API, one from the API can', () => {
    const state = planned(put(applyOn(office, 'a', [devs('p1')]), { peers: ['p1', 'p2'] })).next;
    expect(peersOf(state)).toEqual({ p1: ['source'], p2: ['api'] });
    expect(refusals(put(state, { peers: ['p2'] }))).toEqual(['managed_field Group/devs /peers']);
    expect(peersOf(planned(put(state, { peers: ['p1'] })).next)).toEqual({ p1: ['source'] });
  });

  it('that two sources state is kept when one of them withdraws it', () => {
    const both = applyOn(applyOn(office, 'a', [devs('p1', 'p2')]), 'b', [devs('p1')]);
    expect(peersOf(applyOn(both, 'a', []))).toEqual({ p1: ['source'] });
    expect(peersOf(applyOn(both, 'b', []))).toEqual({ p1: ['source'], p2: ['source'] });
  });

  it('in a released group is kept, and the API may remove it', () => {
    const adopted = applyOn(planned(createOn(office, 'Group', { name: 'devs', peers: ['p1'] })).next, 'a', [
      devs('p1'),
    ]);
    const state = applyOn(adopted, 'a', []);
    expect(peersOf(planned(put(state, { peers: [] })).next)).toEqual({});
  });
});

describe('a create request', () => {
  it('is refused for a name that is already in use, with its owner', () => {
    const state = applyOn(office, 'a', [devs()]);
    const outcome = createOn(state, 'Group', { name: 'devs' });
    expect(refusals(outcome)).toEqual(['value_taken Group/undefined /name']);
    expect(problemsOf(outcome)[0]?.message).toContain('source a');
  });

  it('accepts ids and refuses keys', () => {
    const state = applyOn(office, 'a', [
      document('Group', 'devs', { name: 'Developers' }),
      allow('p', ['devs'], ['All']),
    ]);
    const body = (source: string) => ({ name: 'mine', enabled: true, rules: [{ ...rule, sources: [source] }] });
    expect(refusals(createOn(state, 'Policy', body('devs')))).toEqual([
      'reference_unknown Policy/undefined /rules/0/sources/0',
    ]);
    expect(refusals(createOn(state, 'Policy', body(idOf(state, 'Group', 'devs'))))).toEqual([]);
  });
});
