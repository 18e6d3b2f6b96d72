import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json.ts';
import { sharedApi } from '../../api/setup.ts';
import { patch } from './client.ts';
import { integrate } from './scene.ts';

const api = sharedApi();
let provider: Awaited<ReturnType<typeof integrate>>;
beforeAll(async () => {
  provider = await integrate(api());
});

const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
let count = 0;
/** Creates a user and sends a PATCH with these operations. Returns the answer, and the user before and after. */
async function changed(...operations: readonly JsonObject[]) {
  count += 1;
  const work = { value: `user-${count}@example.com`, type: 'work', primary: true };
  const more = {
    name: { givenName: 'Ana', familyName: 'Lima' },
    emails: [work, { value: 'a@home.example', type: 'home' }],
  };
  const id = await provider.addUser(`user-${count}@example.com`, more);
  const before = (await provider.scim('GET', `/Users/${id}`)).body;
  const answer = await provider.scim('PATCH', `/Users/${id}`, patch(...operations));
  const after = (await provider.scim('GET', `/Users/${id}`)).body;
  if (answer.status === 200) expect(answer.body).toEqual(after);
  return { answer, before, after, work };
}

describe('an operation of a SCIM PATCH', () => {
  it.each<[string, JsonObject, (user: JsonObject) => unknown, unknown]>([
    ['replaces an attribute', { op: 'replace', path: 'displayName', value: 'B' }, (user) => user['displayName'], 'B'],
    ['adds one', { op: 'add', path: 'externalId', value: 'x1' }, (user) => user['externalId'], 'x1'],
    [
      'names it in any letter case',
      { op: 'Replace', path: 'DISPLAYNAME', value: 'B' },
      (user) => user['displayName'],
      'B',
    ],
    [
      'names it with its schema',
      { op: 'replace', path: `${core}:displayName`, value: 'B' },
      (user) => user['displayName'],
      'B',
    ],
    [
      'changes a sub-attribute',
      { op: 'replace', path: 'name.givenName', value: 'B' },
      (user) => user['name'],
      { givenName: 'B', familyName: 'Lima' },
    ],
    [
      'names a sub-attribute with the schema',
      { op: 'Add', path: `${core}:name.givenName`, value: 'B' },
      (user) => user['name'],
      { givenName: 'B', familyName: 'Lima' },
    ],
    [
      'changes a part of a complex attribute',
      { op: 'replace', path: 'name', value: { givenName: 'B' } },
      (user) => user['name'],
      { givenName: 'B', familyName: 'Lima' },
    ],
    [
      'removes a sub-attribute',
      { op: 'remove', path: 'name.givenName' },
      (user) => user['name'],
      { familyName: 'Lima' },
    ],
    ['removes an attribute', { op: 'remove', path: 'name' }, (user) => user['name'], undefined],
    ['removes it by no value', { op: 'replace', path: 'name', value: null }, (user) => user['name'], undefined],
    [
      'replaces by an object without path',
      { op: 'Replace', value: { displayName: 'B', active: 'True' } },
      (user) => [user['displayName'], user['active']],
      ['B', true],
    ],
    [
      'takes paths as names of members',
      { op: 'add', value: { 'name.givenName': 'B', 'emails[type eq "home"].value': 'b@home.example' } },
      (user) => [user['name'], (user['emails'] as JsonObject[])[1]],
      [
        { givenName: 'B', familyName: 'Lima' },
        { value: 'b@home.example', type: 'home' },
      ],
    ],
    [
      'takes the schema as the name of a member',
      { op: 'replace', value: { [core]: { displayName: 'B' } } },
      (user) => user['displayName'],
      'B',
    ],
    [
      'changes the values that a filter finds',
      { op: 'replace', path: 'emails[type eq "home"].value', value: 'b@home.example' },
      (user) => (user['emails'] as JsonObject[])[1],
      { value: 'b@home.example', type: 'home' },
    ],
    [
      'merges into the values that a filter finds',
      { op: 'replace', path: 'emails[type eq "home"]', value: { value: 'b@home.example' } },
      (user) => (user['emails'] as JsonObject[])[1],
      { value: 'b@home.example', type: 'home' },
    ],
    [
      'removes the values that a filter finds',
      { op: 'remove', path: 'emails[type eq "home"]' },
      (user) => (user['emails'] as JsonObject[]).length,
      1,
    ],
    [
      'removes a sub-attribute of them',
      { op: 'remove', path: 'emails[type eq "home"].type' },
      (user) => (user['emails'] as JsonObject[])[1],
      { value: 'a@home.example' },
    ],
    [
      'adds a value',
      { op: 'add', path: 'emails', value: [{ value: 'c@example.com', type: 'other' }] },
      (user) => (user['emails'] as JsonObject[]).length,
      3,
    ],
    [
      'adds a value that is there once',
      { op: 'add', path: 'emails', value: { value: 'a@home.example', type: 'home' } },
      (user) => (user['emails'] as JsonObject[]).length,
      2,
    ],
    [
      'makes the value that its filter describes',
      { op: 'add', path: 'emails[type eq "other"].value', value: 'c@example.com' },
      (user) => (user['emails'] as JsonObject[])[2],
      { type: 'other', value: 'c@example.com' },
    ],
    [
      'makes a new primary value the only one',
      { op: 'add', path: 'emails', value: [{ value: 'c@example.com', primary: 'True' }] },
      (user) => (user['emails'] as JsonObject[]).filter(({ primary }) => primary === true),
      [{ value: 'c@example.com', primary: true }],
    ],
    [
      'does not mind what is not kept',
      { op: 'add', path: `${enterprise}:department`, value: 'Net' },
      (user) => user['displayName'],
      expect.any(String),
    ],
    [
      'does not mind a manager',
      {
        op: 'replace',
        value: { [enterprise]: { manager: { value: 'x' } }, title: 'Dr', 'addresses[type eq "work"].locality': 'Rio' },
      },
      (user) => user['title'],
      undefined,
    ],
    [
      'does not mind what is read-only in a whole resource',
      { op: 'replace', value: { id: 'other', meta: {}, displayName: 'B' } },
      (user) => user['displayName'],
      'B',
    ],
  ])('%s', async (_, operation, look, expected) => {
    const { answer, after, before } = await changed(operation);
    expect([answer.status, look(after)]).toEqual([200, expected]);
    expect(after.id).toBe(before.id);
  });

  it('changes the address by which users are invited and found', async () => {
    const { after } = await changed({ op: 'replace', path: 'emails[type eq "work"].value', value: 'new@example.com' });
    const users = (await api().call('GET', '/api/users')).body;
    expect(users.find(({ id }: { id: string }) => id === after.id)).toMatchObject({ email: 'new@example.com' });
  });

  it.each<[string, JsonObject, string, RegExp]>([
    [
      'an unknown attribute',
      { op: 'replace', path: 'dispalyName', value: 'x' },
      'invalidPath',
      /did you mean `displayName`/,
    ],
    [
      'an unknown sub-attribute',
      { op: 'replace', path: 'name.first', value: 'x' },
      'invalidPath',
      /no attribute `name.first`/,
    ],
    [
      'a path that cannot be read',
      { op: 'replace', path: 'emails[type eq', value: 'x' },
      'invalidPath',
      /expected a value/,
    ],
    [
      'text behind a path',
      { op: 'replace', path: 'emails[type eq "work"].value.x', value: 'x' },
      'invalidPath',
      /expected the end/,
    ],
    ['a path that is no text', { op: 'replace', path: 7, value: 'x' }, 'invalidPath', /must be a text/],
    [
      'a filter for a single value',
      { op: 'replace', path: 'name[givenName eq "Ana"]', value: {} },
      'invalidPath',
      /has a single value and cannot be filtered/,
    ],
    [
      'a read-only attribute',
      { op: 'replace', path: 'id', value: 'x' },
      'mutability',
      /is set by the server and cannot be changed/,
    ],
    ['a removal of what is required', { op: 'remove', path: 'userName' }, 'mutability', /is required/],
    ['a removal of everything', { op: 'remove' }, 'noTarget', /needs a `path`/],
    [
      'a filter that finds nothing',
      { op: 'replace', path: 'emails[type ne "home" and type ne "work"].value', value: 'x@example.com' },
      'noTarget',
      /matches the filter of the path/,
    ],
    ['no value', { op: 'replace', path: 'displayName' }, 'invalidValue', /cannot be changed without a `value`/],
    ['a value without path', { op: 'add', value: 'x' }, 'invalidValue', /must be an object of attributes/],
    [
      'a number for a text',
      { op: 'replace', path: 'displayName', value: 7 },
      'invalidValue',
      /`displayName` must be a text/,
    ],
    [
      'a word for true or false',
      { op: 'replace', path: 'active', value: 'yes' },
      'invalidValue',
      /must be true or false/,
    ],
    [
      'an empty name of the user',
      { op: 'replace', path: 'userName', value: ' ' },
      'invalidValue',
      /`userName` is required/,
    ],
    [
      'an address that is none',
      { op: 'replace', path: 'emails', value: [{ value: 'x', primary: true }] },
      'invalidValue',
      /e-mail/,
    ],
    ['another operation', { op: 'move', path: 'displayName', value: 'x' }, 'invalidSyntax', /add, replace or remove/],
    ['no object', [] as unknown as JsonObject, 'invalidSyntax', /operation 1/],
  ])('with %s is refused', async (_, operation, scimType, message) => {
    const { answer, before, after } = await changed(operation);
    expect([answer.status, answer.body.scimType]).toEqual([400, scimType]);
    expect(answer.body.detail).toMatch(message);
    expect(after).toEqual(before);
  });

  it('is carried out with all others of its request, or not at all', async () => {
    const { answer, before, after } = await changed(
      { op: 'replace', path: 'displayName', value: 'B' },
      { op: 'remove', path: 'emails' },
      { op: 'replace', path: 'name.nothing', value: 'x' },
    );
    expect([answer.status, after]).toEqual([400, before]);
    const taken = await changed(
      { op: 'replace', path: 'displayName', value: 'B' },
      { op: 'replace', path: 'userName', value: before.userName },
    );
    expect([taken.answer.status, taken.answer.body.scimType, taken.after]).toEqual([409, 'uniqueness', taken.before]);
  });

  it('sees the results of the operations before it', async () => {
    const { after } = await changed(
      { op: 'remove', path: 'emails' },
      { op: 'add', path: 'emails', value: [{ value: 'sees@example.com', type: 'work' }] },
      { op: 'add', path: 'emails[type eq "work"].primary', value: 'true' },
      { op: 'replace', path: 'displayName', value: 'B' },
      { op: 'replace', path: 'displayName', value: 'C' },
    );
    expect([after.emails, after.displayName]).toEqual([
      [{ value: 'sees@example.com', type: 'work', primary: true }],
      'C',
    ]);
  });

  it.each<[string, JsonObject]>([
    ['no operations', { Operations: [] }],
    ['none at all', {}],
    ['operations that are no list', { Operations: { op: 'add' } }],
    ['another schema', { schemas: ['urn:x'], Operations: [{ op: 'add', path: 'displayName', value: 'x' }] }],
    ['a schema that is a text', { schemas: 'urn:x', Operations: [{ op: 'add', path: 'displayName', value: 'x' }] }],
  ])('is refused in a body with %s', async (_, body) => {
    const id = await provider.addUser(`body-${count++}@example.com`);
    const answer = await provider.scim('PATCH', `/Users/${id}`, body);
    expect([answer.status, answer.body.scimType]).toEqual([400, 'invalidSyntax']);
  });
});
