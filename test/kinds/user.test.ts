import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { DerivedChange } from '../../src/model/declare/mutation.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import {
  account,
  all,
  faultsOf,
  group,
  registry,
  stateFaultsOf,
  stateOf,
  stored,
  texts,
  withPeers,
} from './objects.ts';

const kind = registry.get('User');

function user(id: string, spec: JsonObject = {}, derived: JsonObject = {}): StoredObject {
  return stored('User', id, { name: id, email: `${id}@example.com`, role: 'user', ...spec }, { derived });
}

const program = (id: string, spec: JsonObject = {}) => user(id, { is_service_user: true, email: '', ...spec });
const owner = user('olga', { role: 'owner' });
const admin = user('ana', { role: 'admin' });
const regular = user('ben');
const as = (id: string) => ({ type: 'user', id, name: id }) as const;
const bySource = { type: 'source', id: 'git', name: 'git' } as const;

/** Returns the faults of a change to a user, in an account with an owner, an admin and a regular user. */
function faults(
  before: StoredObject | undefined,
  change: JsonObject | undefined,
  actor: { readonly type: 'user' | 'source'; readonly id: string; readonly name: string } = as('olga'),
): readonly string[] {
  const was = stateOf(owner, admin, regular, ...(before === undefined ? [] : [before]));
  const after =
    change === undefined
      ? undefined
      : before === undefined
        ? user('new', change)
        : { ...before, spec: { ...before.spec, ...change } };
  const next = was.with({
    put: after === undefined ? [] : [after],
    remove: after === undefined && before !== undefined ? [before.id] : [],
  });
  const mutation = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }), actor };
  return texts(kind.checkMutation?.(mutation, was, next) ?? []);
}

describe('a user', () => {
  const email = (address: string) => kind.uniques['email']?.value(user('u', { email: address }));

  it('has an e-mail address that is unique regardless of case; service users have none', () => {
    expect(email('Ana@Example.com')).toBe('ana@example.com');
    expect(email('')).toBeUndefined();
    expect(kind.uniques['email']?.message('x')).toContain('already exists');
  });

  it.each([
    ['ana@example.com', []],
    [' ana@example.com ', []],
    ['ana', ['email_invalid /email']],
    ['ana@', ['email_invalid /email']],
    ['ana@example', ['email_invalid /email']],
    ['Ana <ana@example.com>', ['email_invalid /email']],
  ])('with the e-mail address %s has the faults %j', (address, expected) => {
    expect(faultsOf('User', { email: address, role: 'user' })).toEqual(expected);
  });

  it('cannot be assigned the group All', () => {
    expect(texts(stateFaultsOf(user('u', { auto_groups: ['All'] }), all))).toEqual([
      'group_all_assigned /auto_groups/0',
    ]);
    expect(texts(stateFaultsOf(user('u', { auto_groups: ['devs'] }), group('devs')))).toEqual([]);
  });

  it.each<readonly [string, StoredObject]>([
    ['invited', user('u')],
    ['active', user('u', {}, { status: 'active' })],
    ['blocked', user('u', { is_blocked: true }, { status: 'active' })],
    ['active', program('u')],
    ['blocked', program('u', { is_blocked: true })],
  ])('has the status %s', (status, object) => {
    expect(kind.computed['status']?.value(object, stateOf())).toBe(status);
  });
});

describe('creating a user', () => {
  it.each<readonly [JsonObject, readonly string[]]>([
    [{ role: 'admin' }, []],
    [{ role: 'owner' }, ['user_role_owner /role']],
    [{ email: '' }, ['user_email_missing /email']],
    [{ is_service_user: true, email: '' }, []],
    [{ is_service_user: true }, ['user_email_unused /email']],
  ])('with %j gives the faults %j', (spec, expected) => {
    expect(faults(undefined, spec)).toEqual(expected);
    expect(faults(undefined, spec, bySource)).toEqual(expected);
  });
});

describe('changing a user', () => {
  it.each<readonly [string, StoredObject, JsonObject, readonly string[]]>([
    ['olga', regular, { role: 'admin' }, []],
    ['ana', regular, { role: 'auditor', is_blocked: true }, []],
    ['ben', user('cleo'), { role: 'auditor' }, ['not_allowed ']],
    ['ana', admin, { role: 'user' }, ['not_allowed /role']],
    ['ana', admin, { is_blocked: true }, ['not_allowed /is_blocked']],
    ['ana', admin, { auto_groups: ['devs'] }, []],
    ['ana', regular, { role: 'owner' }, ['not_allowed /role']],
    ['ana', owner, { auto_groups: ['devs'] }, ['not_allowed /role']],
    ['olga', regular, { role: 'owner' }, []],
    ['olga', program('bot'), { role: 'owner' }, ['not_allowed /role']],
    ['olga', user('other', { role: 'owner' }), { is_blocked: true }, ['not_allowed /is_blocked']],
    ['olga', user('other', { role: 'owner' }), { role: 'admin' }, []],
  ])('is allowed or refused depending on the caller %s', (caller, before, change, expected) => {
    expect(faults(before, change, as(caller))).toEqual(expected);
  });

  it('by the documents of a source cannot make the user an owner', () => {
    expect(faults(admin, { role: 'owner' }, bySource)).toEqual(['not_allowed /role']);
    expect(faults(admin, { role: 'auditor' }, bySource)).toEqual([]);
    expect(faults(owner, { auto_groups: [] }, bySource)).toEqual([]);
  });

  it('by a source cannot take the role `owner` from a user', () => {
    expect(faults(owner, { role: 'admin' }, bySource)).toEqual(['not_allowed /role']);
    // The user who configured the source may not be an owner, so a source cannot take the role from other owners
    // either.
    expect(faults(user('other', { role: 'owner' }), { role: 'admin' }, bySource)).toEqual(['not_allowed /role']);
  });

  it('to join a group of owners of a tenant requires an owner as the caller', () => {
    const groups = [
      { id: 'lords', role: 'owner' },
      { id: 'helpers', role: 'admin' },
    ];
    const tenant = stored('MSPTenant', 'acme', { name: 'Acme', domain: 'acme.example.com', groups });
    const joins = (before: StoredObject | undefined, auto: string, actor: Parameters<typeof faults>[2]) => {
      const was = stateOf(owner, admin, regular, tenant, group('lords'), group('helpers'));
      const base = before ?? user('new');
      const after = { ...base, spec: { ...base.spec, auto_groups: [auto] } };
      const mutation = {
        ...(before === undefined ? {} : { before }),
        after,
        ...(actor === undefined ? {} : { actor }),
      };
      return texts(kind.checkMutation?.(mutation, was, was.with({ put: [after], remove: [] })) ?? []);
    };
    for (const before of [regular, admin, undefined]) {
      expect(joins(before, 'lords', as('ana'))).toEqual(['not_allowed /auto_groups']);
      expect(joins(before, 'lords', bySource)).toEqual(['not_allowed /auto_groups']);
      expect(joins(before, 'lords', as('olga'))).toEqual([]);
      expect(joins(before, 'helpers', as('ana'))).toEqual([]);
    }
    expect(joins(user('lord', { auto_groups: ['lords'] }), 'lords', as('ana'))).toEqual([]);
  });
});

describe('deleting a user', () => {
  const brought = user('dora', {}, { issued: 'integration' });
  it.each<readonly [string, StoredObject, readonly string[]]>([
    ['olga', regular, []],
    ['ana', admin, ['user_is_caller ']],
    ['olga', user('other', { role: 'owner' }), ['not_allowed ']],
    ['ana', brought, ['not_allowed ']],
    ['ben', user('cleo'), ['not_allowed ']],
  ])('is allowed or refused depending on the caller %s', (caller, before, expected) => {
    expect(faults(before, undefined, as(caller))).toEqual(expected);
  });

  it('created by an identity provider is allowed to a service user', () => {
    const bot = program('bot', { role: 'admin' });
    const was = stateOf(owner, brought, bot);
    expect(kind.checkMutation?.({ before: brought, actor: as('bot') }, was, was)).toEqual([]);
  });
});

describe('effects of changing a user', () => {
  const peer = (id: string, derived: JsonObject = {}) =>
    stored('Peer', id, { name: id, dns_label: id, user_id: 'ben' }, { derived });
  const follow = (change: JsonObject | undefined, ...others: readonly StoredObject[]): readonly DerivedChange[] => {
    const after = change === undefined ? undefined : { ...regular, spec: { ...regular.spec, ...change } };
    const step = { before: regular, ...(after === undefined ? {} : { after }), actor: as('olga'), newId: () => 'new' };
    return kind.derivedChanges?.(step, stateOf(owner, ...(after === undefined ? [] : [after]), ...others)) ?? [];
  };
  const changed = (derivedChanges: readonly DerivedChange[]) =>
    derivedChanges.map((item) =>
      'change' in item
        ? [item.change.id, item.derived ?? item.members ?? item.spec]
        : 'remove' in item
          ? ['gone', item.remove.id]
          : [],
    );

  it('make an owner who transfers the ownership an admin', () => {
    expect(changed(follow({ role: 'owner' }))).toEqual([['olga', { ...owner.spec, role: 'admin' }]]);
  });

  it('expire the login of the peers of a blocked user, once', () => {
    const peers = [peer('p1'), peer('p2', { login_expired: true })];
    expect(changed(follow({ is_blocked: true }, ...peers))).toEqual([['p1', { login_expired: true }]]);
  });

  it('delete the peers of a deleted user', () => {
    expect(changed(follow(undefined, peer('p1'), peer('p2')))).toEqual([
      ['gone', 'p1'],
      ['gone', 'p2'],
    ]);
  });

  it('add the existing peers to new groups if the account propagates groups', () => {
    const devs = group('devs', ['p1']);
    const [on, off] = [true, false].map((groups_propagation_enabled) =>
      changed(follow({ auto_groups: ['devs'] }, account({ groups_propagation_enabled }), devs, peer('p1'), peer('p2'))),
    );
    const peers = [
      ['p1', ['api', 'enrolment']],
      ['p2', ['enrolment']],
    ];
    expect(on).toEqual([['devs', { peers }]]);
    expect(off).toEqual([]);
  });

  it('remove the peers from removed groups except where they were added by others', () => {
    const devs = withPeers(group('devs'), { p1: ['api', 'enrolment'], p2: ['enrolment'] });
    const before = { ...regular, spec: { ...regular.spec, auto_groups: ['devs'] } };
    const state = stateOf(account(), devs, regular, peer('p1'), peer('p2'));
    const step = { before, after: regular, newId: () => 'new' };
    expect(changed(kind.derivedChanges?.(step, state) ?? [])).toEqual([
      [
        'devs',
        {
          peers: [
            ['p1', ['api']],
            ['p2', []],
          ],
        },
      ],
    ]);
  });
});

describe('events of a user', () => {
  const events = (change: JsonObject, settings: JsonObject = { groups_propagation_enabled: false }) =>
    kind
      .updateEvents?.(regular, { ...regular, spec: { ...regular.spec, ...change } }, stateOf(account(settings)))
      .map(({ code }) => code);

  it.each<readonly [JsonObject, readonly string[]]>([
    [{}, []],
    [{ is_blocked: true }, ['user.block']],
    [{ role: 'admin' }, ['user.role.update']],
    [{ role: 'owner' }, ['transferred.owner.role']],
    [{ auto_groups: ['devs'] }, []],
  ])('for the change %j are %j', (change, expected) => {
    expect(events(change)).toEqual(expected);
  });

  it('include group changes when groups are propagated to peers', () => {
    expect(events({ auto_groups: ['devs'] }, {})).toEqual(['user.group.add']);
  });

  it('have separate codes for people and for service users', () => {
    const codes = (object: StoredObject) => [
      ...(kind.createEvents?.(object, stateOf()) ?? []).map(({ code }) => code),
      ...(kind.deleteEvents?.(object, stateOf()) ?? []).map(({ code }) => code),
    ];
    expect(codes(regular)).toEqual(['user.create', 'user.delete']);
    expect(codes(program('bot'))).toEqual(['service.user.create', 'service.user.delete']);
  });
});

describe('approval, invitation and deletion of a user', () => {
  const codes = (before: StoredObject, after: StoredObject) =>
    kind.updateEvents?.(before, after, stateOf(before)).map(({ code }) => code);
  const waiting = user('w', { is_blocked: true }, { pending_approval: true });

  it('records an approval and no unblocking when a pending user is approved', () => {
    const entered = { ...waiting, spec: { ...waiting.spec, is_blocked: false }, derived: { pending_approval: false } };
    expect(codes(waiting, entered)).toEqual(['user.approve']);
  });

  it('records a rejection besides the deletion when a pending user is deleted', () => {
    expect(kind.deleteEvents?.(waiting, stateOf()).map(({ code }) => code)).toEqual(['user.delete', 'user.reject']);
    expect(kind.deleteEvents?.(regular, stateOf()).map(({ code }) => code)).toEqual(['user.delete']);
  });

  it('records the acceptance of an invite when the user is created by one', () => {
    const invited = user('i', {}, { invite: 'x', status: 'active' });
    expect(kind.createEvents?.(invited, stateOf())).toEqual([
      { code: 'user.invite.link.accept', meta: { email: 'i@example.com' } },
    ]);
  });

  it('warns in the plan that tokens, invites and the sign-in are deleted too', () => {
    expect(kind.warnings?.(regular, undefined)).toEqual([
      'the tokens, invites and sign-in of the user are deleted too',
    ]);
    expect(kind.warnings?.(program('p'), undefined)).toEqual(['its tokens stop working']);
    expect([kind.warnings?.(undefined, regular), kind.warnings?.(regular, regular)]).toEqual([[], []]);
  });

  it('permits deleting a pending user that an identity provider created', () => {
    const foreign = user('f', {}, { issued: 'integration', pending_approval: true });
    expect(faults(foreign, undefined)).toEqual([]);
    expect(faults({ ...foreign, derived: { issued: 'integration' } }, undefined)).toHaveLength(1);
  });
});
