import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { patch, person, team } from './client.ts';
import { openScim } from './scene.ts';

describe('members of a SCIM group', () => {
  it('are added and removed one by one, by list and by filter', async () => {
    const { addUsers, addGroup, change, members } = await openScim();
    const [a = '', b = '', c = '', d = ''] = await addUsers(4);
    const id = await addGroup('Staff');
    const membersAfter = async (...operations: readonly JsonObject[]) => {
      const answer = await change(`/Groups/${id}`, ...operations);
      expect(answer.status, JSON.stringify(answer.body)).toBe(204);
      return [...(await members(id))].sort();
    };
    expect(await membersAfter({ op: 'Add', path: 'members', value: [{ value: a }] })).toEqual([a]);
    expect(await membersAfter({ op: 'add', path: 'members', value: { value: b, display: 'B' } })).toEqual(
      [a, b].sort(),
    );
    expect(await membersAfter({ op: 'add', value: { members: [{ value: c }, { value: d }, { value: a }] } })).toEqual(
      [a, b, c, d].sort(),
    );
    expect(await membersAfter({ op: 'remove', path: `members[value eq "${a}"]` })).toEqual([b, c, d].sort());
    // Read literally, the RFC would ignore the list in `value` and remove all members of the group.
    expect(await membersAfter({ op: 'Remove', path: 'members', value: [{ value: b, $ref: null }] })).toEqual(
      [c, d].sort(),
    );
    expect(await membersAfter({ op: 'remove', path: 'members[display eq "user-002"]' })).toEqual([d]);
    expect(await membersAfter({ op: 'remove', path: 'members', value: [] })).toEqual([d]);
    expect(await membersAfter({ op: 'replace', path: 'members', value: [{ value: a }, { value: b }] })).toEqual(
      [a, b].sort(),
    );
    expect(
      await membersAfter(
        { op: 'remove', path: 'members' },
        { op: 'add', path: 'members', value: [{ value: c }, { value: a }] },
        { op: 'remove', path: `members[value eq "${c}" or value eq "none"]` },
      ),
    ).toEqual([a]);
    expect(await membersAfter({ op: 'remove', path: 'members[type eq "User"]' })).toEqual([]);
    expect(await membersAfter({ op: 'remove', path: `members[value eq "${a}"]` })).toEqual([]);
  });

  it('must be users of the provider, and their attributes cannot be changed', async () => {
    const { scim, addUser, addGroup, change, members, api } = await openScim();
    const ana = await addUser('ana@example.com');
    const id = await addGroup('Staff', [ana]);
    const inner = await addGroup('Inner');
    const others = (await api.call('GET', '/api/users')).body.find(({ id: other }: { id: string }) => other !== ana);
    for (const [operation, scimType] of [
      [{ op: 'add', path: 'members', value: [{ value: 'none' }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [{ value: others.id }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [{ value: inner, type: 'Group' }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [{ display: 'x' }] }, 'invalidValue'],
      [{ op: 'add', path: 'members', value: [7] }, 'invalidValue'],
      [{ op: 'replace', path: `members[value eq "${ana}"].display`, value: 'x' }, 'mutability'],
      [{ op: 'remove', path: `members[value eq "${ana}"].display` }, 'mutability'],
      [{ op: 'replace', path: 'displayName', value: ' ' }, 'invalidValue'],
      [{ op: 'remove', path: 'displayName' }, 'mutability'],
    ] as const) {
      const { status, body } = await change(`/Groups/${id}`, operation);
      expect([status, body.scimType], JSON.stringify(operation)).toEqual([400, scimType]);
    }
    expect((await scim('POST', '/Groups', team('New', ['none']))).status).toBe(400);
    expect((await scim('GET', '/Groups')).body.totalResults).toBe(2);
    expect(await members(id)).toEqual([ana]);
  });

  it('that do not exist are removed without an error, and refused when added', async () => {
    const { scim, addUsers, addGroup, change, members, api } = await openScim();
    const [ana = '', ben = '', gone = ''] = await addUsers(3);
    const id = await addGroup('Staff', [ana, gone]);
    expect((await scim('DELETE', `/Users/${gone}`)).status).toBe(204);
    const before = await api.revision();
    for (const value of [ben, gone, 'none']) {
      for (const removal of [
        { op: 'remove', path: `members[value eq "${value}"]` },
        { op: 'remove', path: 'members', value: [{ value }] },
      ])
        expect((await change(`/Groups/${id}`, removal)).status, JSON.stringify(removal)).toBe(204);
    }
    expect([await api.revision(), await members(id)]).toEqual([before, [ana]]);
    for (const value of [gone, 'none']) {
      const { status, body } = await change(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value }] });
      expect([status, body.detail]).toEqual([
        400,
        `the group ${id} names a member ${value}, which is not an imported user`,
      ]);
    }
    // The member that exists is still removed.
    const both = [{ value: 'none' }, { value: ana }];
    expect((await change(`/Groups/${id}`, { op: 'remove', path: 'members', value: both })).status).toBe(204);
    expect(await members(id)).toEqual([]);
  });

  it('are changed by all operations of a request, or by none', async () => {
    const { addUsers, addGroup, change, members, scim } = await openScim();
    const [a = '', b = ''] = await addUsers(2);
    const id = await addGroup('Staff', [a]);
    const { status } = await change(
      `/Groups/${id}`,
      { op: 'replace', path: 'displayName', value: 'Crew' },
      { op: 'add', path: 'members', value: [{ value: b }] },
      { op: 'add', path: 'members', value: [{ value: 'none' }] },
    );
    expect([status, await members(id)]).toEqual([400, [a]]);
    expect((await scim('GET', `/Groups/${id}`)).body.displayName).toBe('Staff');
  });
});

describe('a SCIM request that removes many users', () => {
  it('changes nothing and is answered 503 until its plan is approved', async () => {
    const { scim, addUsers, addGroup, change, members, api, integration } = await openScim();
    const all = await addUsers(12);
    const id = await addGroup('Staff', all);
    const stopped = await change(`/Groups/${id}`, { op: 'remove', path: 'members' });
    expect([stopped.status, stopped.headers['retry-after']]).toEqual([503, '300']);
    expect(stopped.body.detail).toMatch(
      /^nothing was changed, because the change takes 12 of 12 users out of the group Staff; up to 6 an hour need no approval. It needs an approval of the plan /,
    );
    expect(await members(id)).toHaveLength(12);
    const [, plan = ''] = /plan (\w+);/.exec(stopped.body.detail) ?? [];
    const status = async () => (await api.call('GET', '/api/config/status')).body.provisioning;
    const message = expect.stringContaining(`the plan ${plan} waits for an approval (\`heddle approve ${plan}\``);
    expect(await status()).toEqual([
      { id: `scimintegration-${integration}`, kind: 'ScimIntegration', state: 'held', message },
    ]);
    // A repeated request waits for the same plan.
    expect((await change(`/Groups/${id}`, { op: 'remove', path: 'members' })).body.detail).toContain(plan);
    expect((await scim('PUT', `/Groups/${id}`, team('Staff', all.slice(0, 2)))).status).toBe(503);
    const { digest } = (await api.call('GET', `/api/config/plans/${plan}`)).body;
    expect((await api.call('POST', `/api/config/plans/${plan}/approve`, { digest })).status).toBe(200);
    expect((await change(`/Groups/${id}`, { op: 'remove', path: 'members' })).status).toBe(204);
    expect(await members(id)).toEqual([]);
  });

  it('is answered 503 too when users are removed one by one', async () => {
    const { scim, addUsers, change } = await openScim();
    const all = await addUsers(8);
    const statuses: number[] = [];
    for (const user of all.slice(0, 7)) {
      const byActive = { op: 'Replace', path: 'active', value: 'False' };
      const answer =
        statuses.length % 2 === 0 ? await change(`/Users/${user}`, byActive) : await scim('DELETE', `/Users/${user}`);
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 204, 200, 204, 200, 503, 503]);
    const { body } = await scim('GET', `/Users/${all[5]}`);
    expect(body.active).toBe(true);
  });
});

describe('the settings of a SCIM integration', () => {
  it('select the groups to import by their prefixes', async () => {
    const { scim, addUser, addGroup, change } = await openScim({ group_prefixes: ['mesh-'] });
    const ana = await addUser('ana@example.com');
    const id = await addGroup('mesh-staff', [ana]);
    const refused = await scim('POST', '/Groups', team('other', [ana]));
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'the group is not imported: its name begins with none of the prefixes that the integration requires: mesh-',
    ]);
    expect((await change(`/Groups/${id}`, { op: 'replace', path: 'displayName', value: 'other' })).status).toBe(403);
    expect((await scim('GET', `/Groups/${id}`)).body.displayName).toBe('mesh-staff');
  });

  it('select the users to import by the prefixes of their groups', async () => {
    const { scim, addGroup, change, api, integration } = await openScim({ user_group_prefixes: ['mesh-'] });
    const made = await scim('POST', '/Users', person('ana@example.com', { externalId: 'x1' }));
    const id = await addGroup('mesh-staff');
    expect(made.status).toBe(201);
    const users = async () =>
      (await api.call('GET', '/api/users')).body.filter(({ email }: { email: string }) => email === 'ana@example.com');
    expect(await users()).toMatchObject([{ is_blocked: true }]);
    expect((await scim('GET', `/Users/${made.body.id}`)).body.active).toBe(true);
    await scim('PATCH', `/Groups/${id}`, patch({ op: 'add', path: 'members', value: [{ value: made.body.id }] }));
    expect(await users()).toMatchObject([{ is_blocked: false }]);
    await scim('PATCH', `/Groups/${id}`, patch({ op: 'replace', path: 'displayName', value: 'other' }));
    expect(await users()).toMatchObject([{ is_blocked: true }]);
    await scim('PATCH', `/Groups/${id}`, patch({ op: 'replace', path: 'displayName', value: 'mesh-crew' }));
    expect(await users()).toMatchObject([{ is_blocked: false }]);
    await scim('PATCH', `/Groups/${id}`, patch({ op: 'remove', path: 'members' }));
    expect(await users()).toMatchObject([{ is_blocked: true }]);
    await api.call('PUT', `/api/integrations/scim-idp/${integration}`, { user_group_prefixes: [] });
    await change(`/Users/${made.body.id}`, { op: 'replace', path: 'active', value: true });
    expect(await users()).toMatchObject([{ is_blocked: false }]);
  });
});
