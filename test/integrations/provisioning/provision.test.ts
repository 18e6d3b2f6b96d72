import { describe, expect, it } from 'vitest';
import { planEdits } from '../../../src/commit/edits.ts';
import { findCredentials } from '../../../src/db/accounts/credentials.ts';
import { listSyncLogs } from '../../../src/db/logs/sync-logs.ts';
import { noChange } from '../../../src/features/integrations/provisioning/change.ts';
import {
  deleteRemoved,
  removedUserRetentionMs,
} from '../../../src/features/integrations/provisioning/delete-removed.ts';
import { planProvisioningInSteps } from '../../../src/features/integrations/provisioning/plan.ts';
import { recordSync, syncLogsOf } from '../../../src/features/integrations/provisioning/report.ts';
import { readObserved } from '../../../src/objects/observed.ts';
import { document } from '../../plan/steps.ts';
import { present } from '../../setup/present.ts';
import { openProvisioning, person } from './scene.ts';

describe('data from an identity provider', () => {
  it('creates users and groups in one revision, and changes nothing when it is repeated', async () => {
    const scene = await openProvisioning();
    const said = {
      isComplete: true,
      users: [person('ana'), person('ben', { active: false })],
      groups: [{ key: 'g1', name: 'Staff', members: ['id-ana', 'id-ben'] }],
    };
    const first = await scene.say(said);
    const [ana, ben] = [await scene.user('ana@example.com'), await scene.user('ben@example.com')];
    expect([ana.spec.is_blocked, ben.spec.is_blocked]).toEqual([false, true]);
    expect([ana.derived.issued, (await scene.group('Staff'))?.derived.issued]).toEqual(['integration', 'integration']);
    expect(await scene.members('Staff')).toEqual(['ana@example.com', 'ben@example.com']);
    expect(first.ids.get('id-ana')).toBe(ana.id);
    const again = await scene.say(said);
    expect(again.revision).toBeUndefined();
    const [{ actor }] = (await scene.rows(`select actor from revisions order by revision desc limit 1`)) as [
      { readonly actor: unknown },
    ];
    expect(actor).toEqual({ type: 'system', id: scene.integration, name: 'SCIM integration staff' });
  });

  it('is linked to existing users by their address, and keeps their role and their other groups', async () => {
    const scene = await openProvisioning();
    const own = await scene.create('Group', { name: 'Own' });
    const body = { email: 'Ana@Example.com', name: 'Ana', role: 'admin', auto_groups: [own], is_service_user: false };
    const id = await scene.create('User', body);
    await scene.say({ users: [person('ana')], groups: [{ key: 'g1', name: 'Staff', addedMembers: ['id-ana'] }] });
    const ana = await scene.user('ana@example.com');
    expect(ana).toMatchObject({ id, spec: { role: 'admin' }, derived: { issued: 'integration' } });
    expect(ana.spec.auto_groups).toContain(own);
    expect(await scene.members('Staff')).toEqual(['ana@example.com']);
  });

  it('is linked to users who signed in with the id of the provider, even with another address', async () => {
    const scene = await openProvisioning();
    const body = { email: 'old@example.com', name: 'Ana', role: 'user', auto_groups: [], is_service_user: false };
    const id = await scene.create('User', body);
    await scene.rows(`insert into identities (account_id, issuer, subject, user_id, created_at)
      values ('${scene.account}', 'https://id.example.com', 'staff|id-ana', '${id}', now())`);
    const made = await scene.say({ users: [person('ana', { name: 'Ana Lima' })] });
    // The address decides who may sign in as the user, so it is kept.
    expect(made.findings).toMatchObject([{ code: 'email_kept', key: 'id-ana' }]);
    expect(await scene.user('old@example.com')).toMatchObject({ id, name: 'Ana Lima' });
    expect((await scene.state()).findByUnique('User', 'email', 'ana@example.com')).toBeUndefined();
    expect((await scene.say({ users: [person('ana', { active: false })] })).revision).toBeDefined();
    expect((await scene.user('old@example.com')).spec.is_blocked).toBe(true);
  });

  it('never replaces the address of an owner, however the owner is matched', async () => {
    const scene = await openProvisioning();
    const body = { email: 'own@example.com', name: 'Own', role: 'user', auto_groups: [], is_service_user: false };
    const id = await scene.create('User', body);
    await scene.replace('User', id, { role: 'owner', auto_groups: [], is_blocked: false });
    await scene.rows(`insert into identities (account_id, issuer, subject, user_id, created_at)
      values ('${scene.account}', 'https://id.example.com', 'staff|id-own', '${id}', now())`);
    const bySubject = await scene.say({ users: [person('own', { email: 'guest@example.com' })] });
    expect(bySubject.findings).toMatchObject([{ code: 'owner_kept', key: 'id-own' }]);
    const later = await scene.say({ users: [person('own'), person('new', { email: 'guest@example.com' })] });
    expect(later.findings).toEqual([]);
    const renamed = await scene.say({ users: [{ key: 'id-own', email: 'else@example.com' }] });
    expect(renamed.findings).toMatchObject([{ code: 'owner_kept', key: 'id-own' }]);
    expect((await scene.user('own@example.com')).id).toBe(id);
  });

  it('does not replace the address of users who sign in with a password, and replaces that of all others', async () => {
    const scene = await openProvisioning();
    await scene.say({ users: [person('ana'), person('ben')] });
    const { id } = await scene.user('ana@example.com');
    await scene.rows(`insert into credentials (account_id, email, user_id, password_hash, changed_at)
      values ('${scene.account}', 'ana@example.com', '${id}', 'x', now())`);
    const made = await scene.say({
      users: [
        { key: 'id-ana', email: 'anna@example.com' },
        { key: 'id-ben', email: 'benno@example.com' },
        { key: 'id-cem', email: 'ana@example.com' },
      ],
    });
    expect(made.findings).toMatchObject([
      { code: 'email_kept', key: 'id-ana' },
      { code: 'email_taken', key: 'id-cem' },
    ]);
    expect((await scene.user('ana@example.com')).id).toBe(id);
    expect((await scene.user('benno@example.com')).derived.provided?.external_id).toBe('id-ben');
    expect((await findCredentials(scene.engine.database, 'ana@example.com'))[0]?.user).toBe(id);
  });

  it('replaces names and addresses, but not with an address that another user has', async () => {
    const scene = await openProvisioning();
    await scene.say({ users: [person('ana'), person('ben')] });
    const { id } = await scene.user('ana@example.com');
    const made = await scene.say({
      users: [
        { key: 'id-ana', email: 'anna@example.com', name: 'Anna' },
        { key: 'id-ben', email: 'anna@example.com' },
        { key: 'id-cem', email: 'Ana@example.com' },
      ],
    });
    expect(made.findings).toMatchObject([{ code: 'email_taken', key: 'id-ben' }]);
    expect((await scene.user('ana@example.com')).derived.provided?.external_id).toBe('id-cem');
    expect((await scene.user('anna@example.com')).name).toBe('Anna');
    const later = await scene.say({ users: [{ key: 'id-ben', email: 'ANNA@example.com' }] });
    expect(later.findings).toMatchObject([{ code: 'email_taken', key: 'id-ben' }]);
    expect((await scene.user('anna@example.com')).id).toBe(id);
  });

  it('blocks inactive and removed users and unblocks them again, but not users that people blocked', async () => {
    const scene = await openProvisioning();
    await scene.say({ users: [person('ana'), person('ben')] });
    await scene.say({ users: [{ key: 'id-ana', active: false }], goneUsers: ['id-ben'] });
    const blocked = async (email: string) => (await scene.user(email)).spec.is_blocked;
    expect([await blocked('ana@example.com'), await blocked('ben@example.com')]).toEqual([true, true]);
    await scene.say({ users: [{ key: 'id-ana', active: true }, person('ben')] });
    expect([await blocked('ana@example.com'), await blocked('ben@example.com')]).toEqual([false, false]);
    const ana = await scene.user('ana@example.com');
    await scene.replace('User', ana.id, { role: 'user', auto_groups: [], is_blocked: true });
    await scene.say({ users: [person('ana', { active: true })] });
    expect(await blocked('ana@example.com')).toBe(true);
  });

  it('expires the peers of users that it blocks', async () => {
    const scene = await openProvisioning();
    await scene.say({ users: [person('ana')] });
    const { id } = await scene.user('ana@example.com');
    await scene.engine.committer.mutate({
      ...scene.call,
      propose(state) {
        const before = present(state.find('Peer', 'p1'));
        const after = { ...before, spec: { ...before.spec, user_id: id } };
        return planEdits(scene.engine, state, [{ before, after }]);
      },
    });
    await scene.say({ goneUsers: ['id-ana'] });
    expect((await scene.state()).find('Peer', 'p1')?.derived.login_expired).toBe(true);
  });

  it('deletes removed users after 30 days, and removed groups once nothing refers to them', async () => {
    const scene = await openProvisioning();
    const groups = [
      { key: 'g1', name: 'Free', members: ['id-ana'] },
      { key: 'g2', name: 'Named', members: ['id-ana'] },
    ];
    await scene.say({ users: [person('ana'), person('ben')], groups });
    const named = present(await scene.group('Named')).id;
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
    const policy = await scene.create('Policy', {
      name: 'p',
      enabled: true,
      rules: [{ ...rule, sources: [named], destinations: [named] }],
    });
    const { findings } = await scene.say({ goneUsers: ['id-ana', 'id-ben'], goneGroups: ['g1', 'g2'] });
    expect(findings).toMatchObject([{ code: 'still_used', key: 'g2' }]);
    expect([await scene.group('Free'), (await scene.group('Named'))?.id]).toEqual([undefined, named]);
    expect(await scene.members('Named')).toEqual([]);
    await scene.remove('Policy', policy);
    scene.clock.offsetMs = removedUserRetentionMs - 60_000;
    await scene.say({ users: [person('ben')] });
    expect(await deleteRemoved(scene.engine, scene.account)).toEqual([]);
    expect([await scene.group('Named'), (await scene.user('ana@example.com')).name]).toEqual([undefined, 'ana']);
    scene.clock.offsetMs = removedUserRetentionMs + 60_000;
    expect(await deleteRemoved(scene.engine, scene.account)).toEqual([]);
    const emails = (await scene.state()).ofKind('User').map(({ spec }) => spec.email);
    expect(emails).toContain('ben@example.com');
    expect(emails).not.toContain('ana@example.com');
  });

  it('imports only groups and users that match the prefixes', async () => {
    const scene = await openProvisioning({ group_prefixes: ['mesh-'], user_group_prefixes: ['mesh-', 'vpn-'] });
    const groups = [
      { key: 'g1', name: 'mesh-ops', members: ['id-ana'] },
      { key: 'g2', name: 'vpn-users', members: ['id-ben'] },
      { key: 'g3', name: 'cooks', members: ['id-cem', 'id-ana'] },
    ];
    const made = await scene.say({ isComplete: true, users: [person('ana'), person('ben'), person('cem')], groups });
    expect(made.outside).toEqual({ users: ['id-cem'], groups: ['g2', 'g3'] });
    const names = (await scene.state()).ofKind('Group').map(({ name }) => name);
    expect(names.filter((name) => name !== 'All')).toEqual(['mesh-ops']);
    await scene.say({ groups: [{ key: 'g1', removedMembers: ['id-ana'] }] });
    expect((await scene.user('ana@example.com')).spec.is_blocked).toBe(true);
  });

  it('needs an approval when it is empty or removes many users within an hour; an approval resets the count', async () => {
    const scene = await openProvisioning();
    const names = Array.from({ length: 20 }, (_, at) => `u${at}`);
    const users = names.map((name) => person(name));
    await scene.say({ isComplete: true, users });
    const halted = await scene.say({ isComplete: true });
    const { id, digest, guards } = present(halted.waiting);
    expect(guards).toEqual([
      { guard: 'empty', message: 'keeps out 20 of 20 users: the identity provider no longer lists any' },
    ]);
    expect(halted.revision).toBeUndefined();
    expect((await scene.user('u0@example.com')).spec.is_blocked).toBe(false);
    // Repeating the same data does not create another plan.
    expect((await scene.say({ isComplete: true })).waiting?.id).toBe(id);
    await scene.approve({ id, digest });
    expect((await scene.say({ isComplete: true })).waiting).toBeUndefined();
    expect((await scene.user('u0@example.com')).spec.is_blocked).toBe(true);
    await scene.say({ isComplete: true, users });
    // An approval resets the count: again, as many users as the limit may be blocked without approval.
    for (const name of names.slice(0, 5))
      expect((await scene.say({ goneUsers: [`id-${name}`] })).waiting).toBeUndefined();
    expect((await scene.say({ goneUsers: ['id-u6'] })).waiting?.guards[0]?.message).toBe(
      'keeps out 1 of 20 users after 5 in the hour before; up to 5 an hour need no approval',
    );
  });

  it('needs an approval before a group loses most of its users', async () => {
    const scene = await openProvisioning();
    const users = Array.from({ length: 12 }, (_, at) => person(`u${at}`));
    const members = users.map(({ key }) => key);
    await scene.say({ users, groups: [{ key: 'g', name: 'Staff', members }] });
    expect((await scene.say({ groups: [{ key: 'g', members: members.slice(0, 7) }] })).waiting).toBeUndefined();
    const halted = await scene.say({ groups: [{ key: 'g', members: [] }] });
    expect(halted.waiting?.guards[0]?.message).toBe(
      'takes 7 of 12 users out of the group Staff after 5 in the hour before; up to 6 an hour need no approval',
    );
    expect(await scene.members('Staff')).toHaveLength(7);
  });

  describe('about groups that lose a few users at a time', () => {
    /** Opens a scene with a group of 20 users, from which `take` removes users. */
    async function drained() {
      const scene = await openProvisioning();
      const users = Array.from({ length: 20 }, (_, at) => person(`u${at}`));
      const keys = users.map(({ key }) => key);
      await scene.say({ users, groups: [{ key: 'g', name: 'Staff', members: keys }] });
      return {
        ...scene,
        keys,
        take: (...left: readonly string[]) => scene.say({ groups: [{ key: 'g', removedMembers: left }] }),
      };
    }

    it('needs an approval when an hour adds up to many, and the approval resets the count', async () => {
      const { take, keys, members, approve } = await drained();
      for (const at of [0, 5]) expect((await take(...keys.slice(at, at + 5))).waiting).toBeUndefined();
      const halted = await take(...keys.slice(10, 15));
      const { id, digest, guards } = present(halted.waiting);
      expect(guards.map(({ message }) => message)).toEqual([
        'takes 5 of 20 users out of the group Staff after 10 in the hour before; up to 10 an hour need no approval',
      ]);
      expect([halted.revision, (await members('Staff')).length]).toEqual([undefined, 10]);
      await approve({ id, digest });
      expect((await take(...keys.slice(10, 15))).waiting).toBeUndefined();
      expect(await members('Staff')).toHaveLength(5);
      expect((await take(...keys.slice(15, 18))).waiting).toBeUndefined();
      expect((await take(...keys.slice(18))).waiting).toBeUndefined();
      expect(await members('Staff')).toEqual([]);
    });

    it('does not count users removed over an hour ago, and writes nothing when no user is removed', async () => {
      const { take, keys, clock, state, group, rows } = await drained();
      const { plan } = await take(...keys.slice(0, 5));
      // The count is internal data of the group, not a change that a user must review.
      expect(plan.changes.filter(({ after, internal }) => after?.kind === 'Group' && internal !== true)).toEqual([]);
      expect(await rows("select 1 from audit_events where activity_code = 'group.update'")).toEqual([]);
      await take(...keys.slice(5, 10));
      expect((await group('Staff'))?.derived.provided?.left?.count).toBe(10);
      const { revision } = await state();
      expect((await take(...keys.slice(0, 10))).revision).toBeUndefined();
      expect((await state()).revision).toBe(revision);
      clock.offsetMs = 61 * 60_000;
      expect((await take(...keys.slice(10, 15))).waiting).toBeUndefined();
      expect((await group('Staff'))?.derived.provided?.left?.count).toBe(5);
    });

    it('does not count users that are replaced by others', async () => {
      const { take, keys, say, group, members } = await drained();
      await take(...keys.slice(0, 5));
      await say({ groups: [{ key: 'g', addedMembers: keys.slice(0, 3) }] });
      expect((await group('Staff'))?.derived.provided?.left?.count).toBe(2);
      await say({ groups: [{ key: 'g', addedMembers: keys }] });
      expect((await group('Staff'))?.derived.provided?.left).toBeUndefined();
      for (const at of [0, 5]) expect((await take(...keys.slice(at, at + 5))).waiting).toBeUndefined();
      expect(await members('Staff')).toHaveLength(10);
    });

    it('needs an approval when small losses of each group add up to many', async () => {
      const scene = await openProvisioning();
      const users = Array.from({ length: 4 }, (_, at) => person(`u${at}`));
      const [first = '', ...others] = users.map(({ key }) => key);
      const members = [first, ...others];
      const groups = Array.from({ length: 8 }, (_, at) => ({ key: `g${at}`, name: `Team ${at}`, members }));
      await scene.say({ isComplete: true, users, groups });
      const take = (at: number) => scene.say({ groups: [{ key: `g${at}`, members: [first] }] });
      for (const at of [0, 1, 2, 3, 4]) expect((await take(at)).waiting).toBeUndefined();
      expect((await take(5)).waiting?.guards.map(({ message }) => message)).toEqual([
        'ends 3 of 32 memberships in one group after 15 in the hour before; up to 16 an hour need no approval',
      ]);
    });
  });

  it('needs an approval before all groups are removed, although each of them is small', async () => {
    const scene = await openProvisioning();
    const users = Array.from({ length: 4 }, (_, at) => person(`u${at}`));
    const members = users.map(({ key }) => key);
    const groups = Array.from({ length: 8 }, (_, at) => ({ key: `g${at}`, name: `Team ${at}`, members }));
    await scene.say({ isComplete: true, users, groups });
    const halted = await scene.say({ isComplete: true, users });
    expect(halted.waiting?.guards.map(({ message }) => message)).toEqual([
      'removes 8 of 8 groups; up to 5 need no approval',
      'ends 32 of 32 memberships in 8 groups; up to 16 an hour need no approval',
    ]);
    expect(await scene.members('Team 7')).toHaveLength(4);
    const emptied = await scene.say({ groups: groups.slice(0, 5).map((group) => ({ ...group, members: [] })) });
    expect(emptied.waiting?.guards.map(({ message }) => message)).toEqual([
      'ends 20 of 32 memberships in 5 groups; up to 16 an hour need no approval',
    ]);
    const { id, digest } = present(halted.waiting);
    await scene.approve({ id, digest });
    expect((await scene.say({ isComplete: true, users })).waiting).toBeUndefined();
    expect(await scene.group('Team 7')).toBeUndefined();
  });

  it('is planned in steps that yield to other work', async () => {
    const scene = await openProvisioning();
    const users = Array.from({ length: 320 }, (_, at) => person(`u${at}`));
    const groups = [{ key: 'g', name: 'All of them', members: users.map(({ key }) => key) }];
    const { engine, integration } = scene;
    const said = { ...noChange, keys: 'external', isComplete: true, users, groups } as const;
    const settings = { id: integration, groupPrefixes: [], userGroupPrefixes: [] };
    const input = { state: await scene.state(), integration: settings, change: said, now: engine.now() };
    const parts = [...planProvisioningInSteps({ ...input, newId: engine.newId })];
    // One part per 32 imported users, and one per 32 users who join the group.
    expect(parts.length).toBeGreaterThanOrEqual(20);
  });

  it('is recorded in the log of the integration, with the time of the last sync', async () => {
    const scene = await openProvisioning();
    const { engine, account, integration } = scene;
    const made = await scene.say({ users: [person('ana'), person('ben', { email: 'nowhere' })] });
    await recordSync(engine, account, integration, syncLogsOf(made, engine.now()));
    const entries = await listSyncLogs(engine.database, account, integration);
    expect(entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warning the address of ben cannot be imported: `nowhere` is not an e-mail address; write one such as ana@example.com',
      expect.stringMatching(/^info revision \d+: 1 created, 0 changed, 0 deleted$/),
    ]);
    const observed = await readObserved(engine, engine.registry.get('ScimIntegration'), account);
    expect(observed?.(integration)).toEqual({ last_synced_at: expect.stringMatching(/^2/) });
  });

  it('writes nothing in a dry run', async () => {
    const scene = await openProvisioning();
    const made = await scene.say({ users: [person('ana')] }, { dryRun: true });
    expect(made.plan.counts).toMatchObject({ create: 1 });
    expect((await scene.state()).findByUnique('User', 'email', 'ana@example.com')).toBeUndefined();
  });

  it('does not change fields of a user that documents manage, and reports it', async () => {
    const scene = await openProvisioning();
    const stated = { email: 'ana@example.com', name: 'Ana', role: 'user', auto_groups: [], is_service_user: false };
    await scene.apply(document('User', 'ana', stated));
    const made = await scene.say({ users: [person('ana', { name: 'Somebody else' }), person('ben')] });
    expect(made.findings).toMatchObject([{ code: 'managed_field', key: 'id-ana' }]);
    const ana = await scene.user('ana@example.com');
    expect([ana.name, (await scene.user('ben@example.com')).name]).toEqual(['Ana', 'ben']);
    // A provider can block a user even when documents manage the fields of the user.
    expect((await scene.say({ users: [{ key: 'id-ana', active: false }] })).findings).toEqual([]);
    expect((await scene.user('ana@example.com')).spec.is_blocked).toBe(true);
  });

  it('never blocks an owner, and reports it', async () => {
    const scene = await openProvisioning();
    await scene.say({ users: [person('ana')] });
    const { id } = await scene.user('ana@example.com');
    await scene.replace('User', id, { role: 'owner', auto_groups: [], is_blocked: false });
    const made = await scene.say({ goneUsers: ['id-ana'] });
    expect(made.findings).toMatchObject([{ code: 'owner_kept' }]);
    expect((await scene.user('ana@example.com')).spec.is_blocked).toBe(false);
  });

  it('is linked to users and groups of a deleted integration, under the same ids', async () => {
    const scene = await openProvisioning();
    const said = { users: [person('ana')], groups: [{ key: 'g', name: 'Staff', members: ['id-ana'] }] };
    await scene.say(said);
    const [user, group] = [await scene.user('ana@example.com'), present(await scene.group('Staff'))];
    await scene.remove('ScimIntegration', scene.integration);
    const next = await scene.create('ScimIntegration', { prefix: 'next', provider: 'entra' });
    await scene.say(said, { by: next });
    expect([(await scene.user('ana@example.com')).id, (await scene.group('Staff'))?.id]).toEqual([user.id, group.id]);
  });
});
