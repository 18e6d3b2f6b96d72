import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApi } from '../../api/setup.ts';
import { integrate } from './scene.ts';

const api = sharedApi();
let provider: Awaited<ReturnType<typeof integrate>>;
let staff = '';
beforeAll(async () => {
  provider = await integrate(api());
  const { addUser, addGroup } = provider;
  const ana = await addUser('ana@example.com', {
    ...{ externalId: 'X-Ana', displayName: 'Ana Lima', name: { givenName: 'Ana', familyName: 'Lima' } },
    emails: [
      { value: 'ana@example.com', type: 'work', primary: true },
      { value: 'ana@home.example', type: 'home' },
    ],
  });
  const ben = await addUser('Ben@Example.com', { externalId: 'x-ben', active: false });
  await addUser('cleo@example.com', { emails: [{ value: 'cleo@example.com', type: 'other' }] });
  staff = await addGroup('Staff', [ana, ben], { externalId: 'g1' });
  await addGroup('Crew', [ana]);
  await addGroup('Empty');
});

const everyone = ['ana@example.com', 'Ben@Example.com', 'cleo@example.com'];

describe('a SCIM filter', () => {
  it.each<[string, readonly number[]]>([
    ['userName eq "ana@example.com"', [0]],
    ['USERNAME EQ "ANA@EXAMPLE.COM"', [0]],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ben@example.com"', [1]],
    ['userName ne "ana@example.com"', [1, 2]],
    ['userName co "@example"', [0, 1, 2]],
    ['userName sw "b"', [1]],
    ['userName ew ".com"', [0, 1, 2]],
    ['userName gt "ben@example.com"', [2]],
    ['userName ge "ben@example.com"', [1, 2]],
    ['userName lt "ben@example.com"', [0]],
    ['userName le "ben@example.com"', [0, 1]],
    ['externalId eq "X-Ana"', [0]],
    ['externalId eq "x-ana"', []],
    ['externalId pr', [0, 1]],
    ['not (externalId pr)', [2]],
    ['externalId eq null', [2]],
    ['externalId ne null', [0, 1]],
    ['name.familyName eq "lima"', [0]],
    ['name pr', [0]],
    ['active eq true', [0, 2]],
    ['active eq "False"', [1]],
    ['active eq False', [1]],
    ['emails eq "ana@home.example"', [0]],
    ['emails.type eq "work"', [0, 1]],
    ['emails[type eq "work" and value sw "ana"]', [0]],
    ['emails[type eq "home" and value sw "ben"]', []],
    ['emails[not (type eq "work")]', [0, 2]],
    ['groups.display eq "crew"', [0]],
    ['groups[display eq "Staff"]', [0, 1]],
    ['meta.created gt "2020-01-01T00:00:00Z"', [0, 1, 2]],
    ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
    ['meta.resourceType eq "User"', [0, 1, 2]],
    ['userName sw "a" or userName sw "b" and active eq true', [0]],
    ['(userName sw "a" or userName sw "b") and active eq false', [1]],
    ['not (userName sw "a") and not (userName sw "b")', [2]],
    ['externalId eq "X-Ana" and active eq false', []],
    ['title eq "none is kept"', []],
    ['title pr or userName sw "c"', [2]],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber eq "1"', []],
    ['userName eq "quote\\"d"', []],
  ])('finds users by %s', async (filter, found) => {
    expect(await provider.find(filter)).toEqual(found.map((at) => everyone[at]));
  });

  it('finds groups by name, by id and by their members', async () => {
    const { scim } = provider;
    const [ana] = (await scim('GET', '/Users?filter=userName%20eq%20%22ana@example.com%22')).body.Resources;
    const named = async (filter: string) =>
      (
        (
          await scim(
            'GET',
            `/Groups?excludedAttributes=members&sortBy=displayName&filter=${encodeURIComponent(filter)}`,
          )
        ).body.Resources ?? []
      ).map(({ displayName }: { displayName: string }) => displayName);
    expect(await named('displayName eq "STAFF"')).toEqual(['Staff']);
    expect(await named(`id eq "${staff}" and members eq "${ana.id}"`)).toEqual(['Staff']);
    expect(await named(`members.value eq "${ana.id}"`)).toEqual(['Crew', 'Staff']);
    expect(await named(`members[value eq "${ana.id}"]`)).toEqual(['Crew', 'Staff']);
    expect(await named('members pr')).toEqual(['Crew', 'Staff']);
    expect(await named('externalId eq "g1"')).toEqual(['Staff']);
    expect(await named('members.value eq "none"')).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ['userName', /expected an operator/],
    ['userName is "a"', /character 10, `is`; expected an operator: eq, ne/],
    ['userName eq', /expected a value/],
    ['userName eq ana', /expected a value/],
    ['userName eq "a" and', /expected the name of an attribute/],
    ['userName eq "a" userName eq "b"', /expected `and`, `or` or the end/],
    ['(userName eq "a"', /expected `\)`/],
    ['emails[type eq "work"', /expected `\]`/],
    ['userName eq "a', /a text without a closing quote, at character 13/],
    ['"a" eq userName', /expected the name of an attribute/],
    ['nothing eq "a"', /no attribute `nothing`/],
    ['name.nothing eq "a"', /no attribute `name.nothing`/],
    ['active gt true', /compare it with eq or ne/],
    ['userName eq "\\x"', /expected a value/],
  ])('is refused when invalid: %s', async (filter, message) => {
    const { status, body } = await provider.scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
    expect(body.detail).toMatch(message);
  });
});

describe('a page of SCIM users', () => {
  const page = async (query: string) => {
    const { body } = await provider.scim('GET', `/Users?sortBy=userName&${query}`);
    const names = (body.Resources ?? []).map(({ userName }: { userName: string }) => everyone.indexOf(userName));
    return [body.totalResults, body.startIndex, names];
  };

  it.each<[string, unknown]>([
    ['count=2', [3, 1, [0, 1]]],
    ['startIndex=2&count=1', [3, 2, [1]]],
    ['startIndex=3', [3, 3, [2]]],
    ['startIndex=4', [3, 4, []]],
    ['startIndex=0&count=1', [3, 1, [0]]],
    ['startIndex=-5&count=-1', [3, 1, []]],
    ['count=0', [3, 1, []]],
    ['count=100000', [3, 1, [0, 1, 2]]],
    ['sortOrder=descending&count=2', [3, 1, [2, 1]]],
    ['sortBy=emails&count=1', [3, 1, [0]]],
  ])('is returned for %s', async (query, expected) => expect(await page(query)).toEqual(expected));

  it('can be requested by POST too', async () => {
    const body = {
      ...{ schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], filter: 'active eq true' },
      ...{ attributes: ['userName'], sortBy: 'userName', sortOrder: 'descending', startIndex: 1, count: 1 },
    };
    const found = await provider.scim('POST', '/Users/.search', body);
    expect(found.body).toMatchObject({ totalResults: 2, Resources: [{ userName: 'cleo@example.com' }] });
    expect(Object.keys(found.body.Resources[0]).sort()).toEqual(['id', 'schemas', 'userName']);
    expect((await provider.scim('GET', '/Users/.search')).status).toBe(405);
  });

  it('has users without a value of the sorted attribute last', async () => {
    const { body } = await provider.scim('GET', '/Users?sortBy=externalId&sortOrder=ascending');
    expect(body.Resources.map(({ externalId }: { externalId?: string }) => externalId)).toEqual([
      'X-Ana',
      'x-ben',
      undefined,
    ]);
  });

  it.each([
    'startIndex=x',
    'count=1.5',
    'sortBy=nothing',
    'sortBy=userName&sortOrder=up',
    'attributes=a&excludedAttributes=b',
  ])('is refused for %s', async (query) => expect((await provider.scim('GET', `/Users?${query}`)).status).toBe(400));
});

describe('a SCIM answer', () => {
  it('has the requested attributes, and those that are always returned', async () => {
    const show = async (query: string) => {
      const { body } = await provider.scim('GET', `/Users?filter=${encodeURIComponent('userName sw "ana"')}&${query}`);
      return body.Resources[0];
    };
    expect(await show('attributes=name.givenName,emails.value,ACTIVE')).toEqual({
      ...{ schemas: [expect.any(String)], id: expect.any(String), name: { givenName: 'Ana' }, active: true },
      emails: [{ value: 'ana@example.com' }, { value: 'ana@home.example' }],
    });
    const rest = await show('excludedAttributes=emails,name.givenName,groups,id,meta');
    expect(Object.keys(rest).sort()).toEqual([
      'active',
      'displayName',
      'externalId',
      'id',
      'name',
      'schemas',
      'userName',
    ]);
    expect(rest.name).toEqual({ familyName: 'Lima' });
    expect(await show('attributes=urn:ietf:params:scim:schemas:core:2.0:User:userName')).toMatchObject({
      userName: everyone[0],
    });
    expect(Object.keys(await show('attributes=nothing'))).toEqual(['schemas', 'id']);
  });

  it('about groups omits the members when they are not requested', async () => {
    const { scim } = provider;
    const all = await scim('GET', `/Groups/${staff}`);
    expect(all.body.members).toHaveLength(2);
    expect((await scim('GET', `/Groups/${staff}?excludedAttributes=members`)).body.members).toBeUndefined();
    expect((await scim('GET', `/Groups/${staff}?attributes=members.value`)).body.members).toEqual(
      all.body.members.map(({ value }: { value: string }) => ({ value })),
    );
  });
});
