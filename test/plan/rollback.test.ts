import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { parseScope } from '../../src/plan/rollback/scope.ts';
import { peersIn, stored } from '../kinds/objects.ts';
import { checkState, objectsOf } from './invariants.ts';
import { rollBack, rollBackHistories } from './rolling-back.ts';
import {
  allow,
  applyOn,
  breakGlass,
  createOn,
  deleteOn,
  document,
  guardsOf,
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
} from './steps.ts';

const group1 = (name: string, spec: JsonObject = {}) => document('Group', name, spec);
const both = [group1('devs', { peers: ['p1'] }), group1('ops'), allow('web', ['devs'], ['ops'])];

describe('a rollback', () => {
  it('E111 restores renamed and deleted objects under the same ids', () => {
    const past = applyOn(office, 'team', both);
    const [devs, web] = [objectOf(past, 'Group', 'devs'), objectOf(past, 'Policy', 'web')];
    const renamed = applyOn(past, 'team', [group1('devs', { name: 'Developers' }), group1('ops')], {
      allowEmpty: true,
    });
    const present = applyOn(renamed, 'team', [group1('ops'), group1('more')]);
    expect(present.get(devs.id)).toBeUndefined();
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual(['create Group/devs', 'delete Group/more', 'create Policy/web']);
    const { next } = planned(outcome);
    expect(next.get(devs.id)).toMatchObject({ key: 'devs', owner: 'team', spec: devs.spec, declared: devs.declared });
    expect(next.get(web.id)).toMatchObject({ spec: web.spec, derived: web.derived });
    checkState(next);
  });

  it('restores units and keys, leaves unstated values unchanged, and plans nothing the second time', () => {
    const past = applyOn(office, 'team', [group1('devs', { name: 'Devs', peers: ['p1'] })]);
    const { id } = objectOf(past, 'Group', 'devs');
    const stated = applyOn(past, 'team', [group1('devs', { name: 'Makers', peers: ['p2'] })]);
    const present = planned(replaceOn(stated, 'Group', id, { peers: ['p2', 'p3'] })).next;
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual(['update Group/devs: name peers[p1] peers[p2]']);
    const { next } = planned(outcome);
    expect(peersIn(next.get(id))).toEqual({ p1: ['source'], p3: ['api'] });
    expect(linesOf(rollBack(next, past), next)).toEqual([]);
  });

  it('E111 restores a former key, and keeps the later one as an alias', () => {
    const past = applyOn(office, 'team', [group1('devs'), allow('web', ['devs'], ['devs'])]);
    const { id } = objectOf(past, 'Group', 'devs');
    const renamed = { ...group1('makers'), metadata: { name: 'makers', previousNames: ['devs'] } };
    const present = applyOn(past, 'team', [renamed, allow('web', ['makers'], ['makers'])]);
    expect(present.findByKey('Group', 'makers')?.id).toBe(id);
    const outcome = rollBack(present, past);
    const { next, plan } = planned(outcome);
    expect(plan.counts).toMatchObject({ create: 0, update: 1, delete: 0 });
    expect(next.get(id)).toMatchObject({ key: 'devs', aliases: ['makers'] });
    expect(linesOf(rollBack(next, past), next)).toEqual([]);
    expect(linesOf(planOn(next, 'other', [allow('more', ['makers'], ['makers'])]), next)).toEqual([
      'create Policy/more',
    ]);
  });

  it('E112 is refused with all missing objects that the API had made; the scope `all` restores them', () => {
    const made = planned(
      createOn(planned(createOn(office, 'Group', { name: 'Hand' })).next, 'Group', { name: 'Foot' }),
    );
    const past = applyOn(made.next, 'team', [group1('devs'), allow('web', ['Hand', 'devs'], ['Foot'])]);
    const released = applyOn(past, 'team', [group1('devs')]);
    const one = planned(deleteOn(released, objectOf(past, 'Group', 'Hand').id)).next;
    const present = planned(deleteOn(one, objectOf(past, 'Group', 'Foot').id)).next;
    const outcome = rollBack(present, past);
    expect(refusals(outcome)).toEqual(['reference_missing Policy/web /rules', 'reference_missing Policy/web /rules']);
    const messages = problemsOf(outcome).map(({ message }) => message);
    expect(messages.join()).toContain('Group Hand');
    expect(messages.join()).toContain('Group Foot');
    // With the scope `all`, the deleted groups are restored too.
    const all = rollBack(present, past, 'all');
    expect(linesOf(all, present)).toEqual(['create Group/Foot', 'create Group/Hand', 'create Policy/web']);
  });

  it('E71 is refused as a whole if a name is in use again', () => {
    const past = applyOn(office, 'team', [group1('devs', { name: 'Devs' }), group1('ops', { name: 'Ops' })]);
    const pruned = applyOn(past, 'team', [group1('other')]);
    const present = planned(createOn(pruned, 'Group', { name: 'Devs' })).next;
    const outcome = rollBack(present, past);
    expect(refusals(outcome)).toEqual(['value_taken Group/devs /name']);
  });

  it('E71 is refused also if the object that has the name now would only be released', () => {
    const past = applyOn(office, 'b', [group1('ant'), group1('bee')]);
    const pruned = applyOn(past, 'b', [group1('bee')]);
    const made = planned(createOn(pruned, 'Group', { name: 'ant' })).next;
    const present = applyOn(made, 'a', [group1('ant')]);
    expect(refusals(rollBack(present, past))).toEqual(['value_taken Group/ant /name']);
  });

  it('is refused if it would delete an object that others refer to or added children to', () => {
    const past = applyOn(office, 'team', [group1('keep')]);
    const zone = document('DNSZone', 'lan', { domain: 'lan.example', distribution_groups: ['keep'] });
    const stated = applyOn(past, 'team', [group1('keep'), group1('new'), zone]);
    const { id } = objectOf(stated, 'DNSZone', 'lan');
    const record = { name: 'a.lan.example', type: 'A', content: '10.0.0.1', ttl: 60 };
    const used = planned(createOn(stated, 'DNSRecord', record, id)).next;
    const [all] = used.lookUp('Group', 'name', 'new');
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
    const rules = [{ ...rule, sources: [all?.id ?? ''], destinations: [all?.id ?? ''] }];
    const present = planned(createOn(used, 'Policy', { name: 'by hand', enabled: true, rules })).next;
    expect([...refusals(rollBack(present, past))].sort()).toEqual([
      'object_in_use DNSZone/lan',
      'object_linked Group/new',
    ]);
  });

  it('never undoes a restriction (E59), never restores a setup key, and warns of both', () => {
    const owned = (kind: string, id: string, spec: JsonObject) =>
      stored(kind, id, spec, {
        key: id,
        owner: 'team',
        declared: [{ source: 'team', stated: spec, file: 'a', line: 1 }],
      });
    const keySpec = {
      name: 'CI',
      type: 'reusable',
      expires_in: 86400,
      auto_groups: [],
      usage_limit: 0,
      revoked: false,
    };
    const [one, two] = [owned('SetupKey', 'setupkey-1', keySpec), owned('SetupKey', 'setupkey-2', keySpec)];
    const bot = owned('User', 'bot', { name: 'bot', role: 'user', is_service_user: true });
    const past = office.with({ put: [one, two, bot], remove: [] }, 5);
    const revoked = { ...one, spec: { ...one.spec, revoked: true }, updatedRevision: 6 };
    const present = past.with({ put: [revoked], remove: ['setupkey-2', 'bot'] }, 7);
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual(['create User/bot']);
    expect(warningsOf(outcome)).toEqual([
      'failsafe_kept setupkey-1',
      'credential_not_restored setupkey-2',
      'credential_not_restored bot',
    ]);
  });

  it('restores a user as one who has not signed in yet', () => {
    const facts = { status: 'active', invite: 'i1', created_by_owner: true, issued: 'api', pending_approval: true };
    const person = stored('User', 'u9', { name: 'Zoe', role: 'user', email: 'zoe@example.com' }, { derived: facts });
    const past = office.with({ put: [person], remove: [] }, 5);
    const { next } = planned(rollBack(past.with({ put: [], remove: ['u9'] }, 6), past, 'all'));
    expect(next.get('u9')?.derived).toEqual({ issued: 'api', pending_approval: true });
  });

  it('keeps newer secrets, with a warning', () => {
    const spec = (secret: string, host: string) => ({
      ...{ client_id: `sealed:k:${secret}`, secret: `sealed:k:${secret}`, cloud_id: host, groups: [] },
      ...{ zta_score_threshold: 70, enabled: true },
    });
    const edr = (secret: string, host: string, revision: number) =>
      stored('EdrVendorD', 'edrvendord-1', spec(secret, host), {
        ...{ key: 'edr', owner: 'team', updatedRevision: revision },
        declared: [{ source: 'team', stated: spec(secret, host), file: 'a', line: 1 }],
      });
    const past = office.with({ put: [edr('old', 'eu-1', 1)], remove: [] }, 5);
    const present = office.with({ put: [edr('new', 'us-1', 6)], remove: [] }, 6);
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual(['update EdrVendorD/edr: cloud_id']);
    expect(warningsOf(outcome)).toEqual(['credential_kept edr', 'credential_kept edr']);
    const { next } = planned(outcome);
    expect(JSON.stringify(objectsOf(next))).not.toContain('sealed:k:old');
    checkState(next);
    // A deleted object is restored with the secrets that it had.
    const again = rollBack(office.with({ put: [], remove: [] }, 6), past);
    expect(warningsOf(again)).toEqual(['credential_old edr']);
  });

  it('leaves a unit with an override unchanged, with a warning', () => {
    const past = applyOn(office, 'team', [group1('devs', { name: 'Devs' })]);
    const object = objectOf(past, 'Group', 'devs');
    const until = '2026-03-01T12:00:00.000Z';
    const override = { path: 'name', by: { id: 'u', name: 'Ana' }, reason: 'fire', since: now, until };
    const held = {
      ...object,
      name: 'Held',
      spec: { ...object.spec, name: 'Held' },
      overrides: [override],
      updatedRevision: 8,
    };
    const present = past.with({ put: [held], remove: [] }, 8);
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual([]);
    expect(warningsOf(outcome)).toEqual(['unit_overridden devs']);
  });

  it('keeps an override also if no source stated the unit then, and plans nothing the second time', () => {
    const past = applyOn(office, 'team', [allow('p', ['All'], ['All'])]);
    const stating = applyOn(past, 'team', [allow('p', ['All'], ['All'], { enabled: true })]);
    const off = replaceOn(
      stating,
      'Policy',
      objectOf(stating, 'Policy', 'p').id,
      { enabled: false },
      { breakGlass: breakGlass('14:00') },
    );
    const present = planned(off).next;
    const outcome = rollBack(present, past);
    expect(linesOf(outcome, present)).toEqual(['restate Policy/p']);
    const { next } = planned(outcome);
    expect(objectOf(next, 'Policy', 'p').overrides?.map(({ path }) => path)).toEqual(['enabled']);
    expect(linesOf(rollBack(next, past), next)).toEqual([]);
  });

  it('of one source leaves the others unchanged, and is refused if another source states a different value', () => {
    const first = applyOn(office, 'a', [group1('devs', { name: 'Devs' })]);
    const past = applyOn(first, 'b', [group1('ops')]);
    const moved = applyOn(applyOn(past, 'a', [group1('devs', { name: 'Makers' })]), 'b', [group1('sec')]);
    expect(linesOf(rollBack(moved, past, 'source:a'), moved)).toEqual(['update Group/devs: name']);
    const shared = applyOn(moved, 'b', [group1('sec'), group1('devs', { name: 'Makers' })]);
    expect(refusals(rollBack(shared, past, 'source:a'))).toEqual(['unit_conflict Group/devs /name']);
    expect(linesOf(rollBack(shared, past), shared)).toEqual([
      'create Group/ops',
      'update Group/devs: name',
      'delete Group/sec',
    ]);
  });

  it('is checked by the guards, and suspends the sources that it changes', () => {
    const past = applyOn(office, 'team', [group1('g0')]);
    const many = Array.from({ length: 8 }, (_, at) => group1(`g${at}`));
    const present = applyOn(applyOn(past, 'team', many), 'other', [group1('else')]);
    const outcome = rollBack(present, past);
    expect(guardsOf(outcome)).toEqual(['empty', 'deletes', 'kind']);
    const { plan, next } = planned(outcome);
    expect(plan.rollback).toEqual({ revision: past.revision, scope: 'sources', suspends: ['other', 'team'] });
    expect(next.settingsOf('team')).toMatchObject({ suspended: true, rolledBack: next.revision });
  });

  it('with the scope `all` restores everything, but never deletes a person', () => {
    const past = applyOn(office, 'team', both);
    const made = planned(createOn(past, 'Group', { name: 'by hand', peers: ['p1'] })).next;
    const person = stored('User', 'u9', { name: 'Zoe', role: 'user' }, { updatedRevision: made.revision });
    const present = made.with({ put: [person], remove: [] });
    const outcome = rollBack(present, past, 'all');
    expect(linesOf(outcome, present)).toEqual(['delete Group/by hand']);
    expect(warningsOf(outcome)).toEqual(['object_kept Zoe']);
  });
});

it('a rollback scope is `sources`, `source:NAME` or `all`, and nothing else', () => {
  expect(['sources', 'all', 'source:a/b', 'source:', 'team', ''].map(parseScope)).toEqual([
    'sources',
    'all',
    'source:a/b',
    ...Array(3).fill(undefined),
  ]);
});

describe('a source after its rollback', () => {
  it('E113 plans its unchanged documents again, and needs an approval for them', () => {
    const past = applyOn(office, 'team', [group1('devs', { name: 'Devs' })]);
    const documents = [group1('devs', { name: 'Makers' })];
    const present = applyOn(past, 'team', documents);
    const { next } = planned(rollBack(present, past));
    const again = planOn(next, 'team', documents);
    expect(linesOf(again, next)).toEqual(['update Group/devs: name']);
    expect(guardsOf(again)).toEqual(['rollback']);
    // After one approval, plans of the source are guarded like those of any other source.
    const approved = planned(again).next;
    expect(guardsOf(planOn(approved, 'team', [group1('devs', { name: 'Others' })]))).toEqual([]);
    expect(guardsOf(planOn(next, 'other', [group1('more')]))).toEqual([]);
  });
});

describe('a rollback in any history', () => {
  it('E158 restores what sources had stated, or is refused as a whole, in a few histories', () => {
    rollBackHistories(4);
  });
});
