import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { patch } from './client.ts';
import { openScim } from './scene.ts';

const core = 'urn:ietf:params:scim:schemas:core:2.0';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** The requests are those in the documentation of each provider, in its order. */
describe('a SCIM provider', () => {
  it('that sends requests like Entra is served', async () => {
    const { scim } = await openScim({ provider: 'entra' });
    const query = encodeURIComponent('userName eq "bcf17ea0-6c50-47a8-a3d5-3ea3cd8c7a4f"');
    // The provider tests the connection with a filter for a user who does not exist.
    const probe = await scim('GET', `/Users?filter=${query}`);
    expect([probe.status, probe.body.totalResults]).toEqual([200, 0]);
    const made = await scim('POST', '/Users', {
      schemas: [`${core}:User`, enterprise],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee@example.com',
      active: true,
      addresses: [{ type: 'work', formatted: '', streetAddress: '', country: '' }],
      emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@example.com' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      displayName: '',
      roles: [],
      title: null,
      [enterprise]: { department: 'bob', manager: { value: 'x' } },
    });
    expect([made.status, made.body.active, made.body.name.formatted]).toEqual([201, true, 'givenName familyName']);
    const user = `/Users/${made.body.id}`;
    const found = await scim(
      'GET',
      `/Users?filter=${encodeURIComponent('externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"')}`,
    );
    expect(found.body.Resources[0].id).toBe(made.body.id);
    const changed = await scim('PATCH', user, {
      schemas: [patchOp],
      Operations: [
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@example.com' },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
        { op: 'Add', path: `${enterprise}:manager`, value: 'x' },
        { op: 'Remove', path: 'title' },
      ],
    });
    expect([changed.status, changed.body.emails[0].value, changed.body.name.familyName]).toEqual([
      200,
      'updatedEmail@example.com',
      'updatedFamilyName',
    ]);
    const off = await scim('PATCH', user, patch({ op: 'Replace', path: 'active', value: 'False' }));
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect((await scim('PATCH', user, patch({ op: 'Replace', value: { active: 'True' } }))).body.active).toBe(true);
    const group = await scim('POST', '/Groups', {
      schemas: [`${core}:Group`, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      members: [],
      meta: { resourceType: 'Group' },
    });
    expect(group.status).toBe(201);
    const path = `/Groups/${group.body.id}`;
    const add = { op: 'Add', path: 'members', value: [{ $ref: null, value: made.body.id }] };
    expect((await scim('PATCH', path, { schemas: [patchOp], Operations: [add] })).status).toBe(204);
    const isMember = encodeURIComponent(`id eq "${group.body.id}" and members eq "${made.body.id}"`);
    expect((await scim('GET', `/Groups?excludedAttributes=members&filter=${isMember}`)).body.totalResults).toBe(1);
    const remove = { op: 'Remove', path: 'members', value: [{ $ref: null, value: made.body.id }] };
    expect((await scim('PATCH', path, { schemas: [patchOp], Operations: [remove] })).status).toBe(204);
    expect((await scim('GET', `/Groups?excludedAttributes=members&filter=${isMember}`)).body.totalResults).toBe(0);
    expect((await scim('GET', `${path}?excludedAttributes=members`)).body.displayName).toBe('displayName');
    expect((await scim('DELETE', user)).status).toBe(204);
    expect((await scim('DELETE', path)).status).toBe(204);
  });

  it('that sends requests like Okta is served', async () => {
    const { scim, addUser } = await openScim({ provider: 'okta' });
    const query = encodeURIComponent('userName eq "test.user@okta.local"');
    const none = await scim('GET', `/Users?filter=${query}&startIndex=1&count=100`);
    expect([none.body.totalResults, none.body.itemsPerPage]).toEqual([0, 0]);
    const given: JsonObject = {
      ...{
        schemas: [`${core}:User`],
        userName: 'test.user@okta.local',
        name: { givenName: 'Test', familyName: 'User' },
      },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
      ...{
        displayName: 'Test User',
        locale: 'en-US',
        externalId: '00ujl29u0le5T6Aj10h7',
        groups: [],
        password: '1mz050nq',
        active: true,
      },
    };
    const made = await scim('POST', '/Users', given, { 'content-type': 'application/scim+json; charset=utf-8' });
    expect(made.status).toBe(201);
    expect(made.body).not.toHaveProperty('password');
    const user = `/Users/${made.body.id}`;
    const put = await scim('PUT', user, {
      ...made.body,
      name: { givenName: 'Another', familyName: 'User' },
      displayName: 'Another User',
    });
    expect([put.status, put.body.displayName]).toEqual([200, 'Another User']);
    const off = await scim('PATCH', user, patch({ op: 'replace', value: { active: false } }));
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect((await scim('PUT', user, { ...made.body, active: true })).body.active).toBe(true);
    const other = await addUser('other@okta.local');
    const group = await scim('POST', '/Groups', {
      schemas: [`${core}:Group`],
      displayName: 'Test SCIMv2',
      members: [],
    });
    const path = `/Groups/${group.body.id}`;
    const renamed = patch({ op: 'replace', value: { id: group.body.id, displayName: 'Test SCIMv2 new' } });
    expect((await scim('PATCH', path, renamed)).status).toBe(204);
    const members = [made.body.id, other].map((value: string) => ({ value, display: value }));
    const first = patch({ op: 'add', path: 'members', value: members });
    expect((await scim('PATCH', path, first)).status).toBe(204);
    const second = patch(
      { op: 'remove', path: `members[value eq "${other}"]` },
      { op: 'add', path: 'members', value: [members[0] ?? {}] },
    );
    expect((await scim('PATCH', path, second)).status).toBe(204);
    const { body } = await scim('GET', path);
    expect([body.displayName, body.members.map(({ value }: { value: string }) => value)]).toEqual([
      'Test SCIMv2 new',
      [made.body.id],
    ]);
    const whole = {
      schemas: [`${core}:Group`],
      id: group.body.id,
      displayName: 'Test SCIMv2',
      members: [{ value: other, display: 'x' }],
    };
    expect((await scim('PUT', path, whole)).body.members).toMatchObject([{ value: other }]);
  });

  it('that sends plain application/json, members as a single value and no schemas is served', async () => {
    const { scim } = await openScim({ provider: 'jumpcloud' });
    const json = { 'content-type': 'application/json' };
    const made = await scim(
      'POST',
      '/Users',
      { userName: 'ana', emails: { value: 'ana@example.com' }, active: 'true' },
      json,
    );
    expect([made.status, made.body.emails, made.body.displayName]).toEqual([
      201,
      [{ value: 'ana@example.com' }],
      'ana',
    ]);
    const group = await scim('POST', '/Groups', { displayName: 'Staff', members: { value: made.body.id } }, json);
    expect(group.body.members).toHaveLength(1);
    const change = { Operations: [{ op: 'replace', value: { active: 'false' } }] };
    expect((await scim('PATCH', `/Users/${made.body.id}`, change, json)).body.active).toBe(false);
  });

  it('that creates users without an address can add one later', async () => {
    const { scim, api, addUser } = await openScim();
    const id = await addUser('ana', { emails: [] });
    const shown = async () => (await api.call('GET', '/api/users')).body.find((user: { id: string }) => user.id === id);
    expect(await shown()).toMatchObject({ email: '', name: 'ana' });
    await scim('PATCH', `/Users/${id}`, patch({ op: 'add', path: 'emails', value: [{ value: 'ana@example.com' }] }));
    expect(await shown()).toMatchObject({ email: 'ana@example.com' });
  });
});
