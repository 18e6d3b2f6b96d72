import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/lib/json.ts';
import { sharedApi } from '../../api/setup.ts';
import { patch, person, team } from './client.ts';
import { integrate } from './scene.ts';

const api = sharedApi();
let provider: Awaited<ReturnType<typeof integrate>>;
let user = '';
let group = '';
beforeAll(async () => {
  provider = await integrate(api());
  user = await provider.addUser('ana@example.com');
  group = await provider.addGroup('Staff', [user]);
});

const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const many = (count: number, text: string, glue = ' or ') => Array.from({ length: count }, () => text).join(glue);

/** Returns JSON nested so deeply that a recursive program would run out of stack. */
function nested(depth: number, member: string): string {
  return `${`{${JSON.stringify(member)}:`.repeat(depth)}{}${'}'.repeat(depth)}`;
}

/** Returns a PATCH value with `count` members whose names are paths, each with another filter value. */
function paths(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`emails[type eq "a${at}"].value`, 'a@b.c']));
}

describe('a SCIM filter', () => {
  it.each<[string, string]>([
    ['is too long', `userName eq "${'x'.repeat(9000)}"`],
    ['is too deep', `${'('.repeat(2000)}userName pr${')'.repeat(2000)}`],
    ['denies too often', `${'not ('.repeat(100)}userName pr${')'.repeat(100)}`],
    ['has values in values', `${'emails['.repeat(50)}value pr${']'.repeat(50)}`],
    ['has too many comparisons', many(101, 'userName pr')],
    ['is made of brackets', '['.repeat(5000)],
    ['is made of quotes', '"'.repeat(4001)],
    ['is made of backslashes', `userName eq "${'\\'.repeat(4001)}`],
    ['names what every object has', '__proto__ pr'],
    ['names a constructor', 'constructor.name eq "Object"'],
  ])('that %s is refused', async (_, filter) => {
    const asked = await provider.scim('POST', '/Users/.search', { filter });
    expect([asked.status, asked.body.scimType]).toEqual([400, 'invalidFilter']);
  });

  it('is accepted at the largest allowed size', async () => {
    expect(await provider.find(many(100, 'userName sw "a"', ' and '))).toEqual(['ana@example.com']);
    expect(await provider.find(`${'('.repeat(32)}userName pr${')'.repeat(32)}`)).toEqual(['ana@example.com']);
  });
});

describe('a SCIM PATCH', () => {
  it.each<[string, string | JsonObject, string]>([
    ['with too many operations', patch(...Array(1001).fill({ op: 'add', path: 'active', value: true })), 'tooMany'],
    ['with too many values', patch({ op: 'add', path: 'emails', value: Array(101).fill({ value: 'x' }) }), 'tooMany'],
    ['with a long text', patch({ op: 'add', path: 'displayName', value: 'x'.repeat(1025) }), 'invalidValue'],
    ['of a prototype', patch({ op: 'add', path: '__proto__', value: 'x' }), 'invalidPath'],
    ['of a prototype by a member', '{"Operations":[{"op":"add","value":{"__proto__":{"a":1}}}]}', 'invalidSyntax'],
    ['with an operation that is no text', '{"Operations":[{"op":{"toString":1}}]}', 'invalidSyntax'],
    ['with a schema that is no text', '{"schemas":[{"toString":1}],"Operations":[{}]}', 'invalidSyntax'],
    ['of a constructor', patch({ op: 'add', value: { constructor: 'x' } }), 'invalidPath'],
    ['that removes the prototype of values', patch({ op: 'remove', path: 'emails[__proto__ pr]' }), 'invalidPath'],
  ])('%s is refused', async (_, body, scimType) => {
    const answer = await provider.scim('PATCH', `/Users/${user}`, body);
    expect([answer.status, answer.body.scimType]).toEqual([400, scimType]);
    expect((await provider.scim('GET', `/Users/${user}`)).body.displayName).toBe('ana');
  });

  it('with more than 100 levels of nesting is refused before it is parsed', async () => {
    const deep = (levels: number) => `{"Operations":[{"op":"add","value":${nested(levels, core)}}]}`;
    expect((await provider.scim('PATCH', `/Users/${user}`, deep(90))).status).toBe(200);
    const values = `{"Operations":[{"op":"add","path":"emails","value":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`;
    for (const text of [deep(100), deep(50_000), values])
      expect(await provider.scim('PATCH', `/Users/${user}`, text)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidSyntax', detail: 'the body nests more than 100 levels deep; send a flatter one' },
      });
  });

  it('with more values than its size justifies is refused before it is parsed', async () => {
    const many = `{"Operations":[${'[],'.repeat(500_000)}[]]}`;
    expect(await provider.scim('PATCH', `/Users/${user}`, many)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^the body has more than \d+ values/) },
    });
  });

  it.each<[string, readonly JsonObject[]]>([
    [
      'adds values again and again',
      Array.from({ length: 1000 }, (_, step) => ({
        ...{ op: 'add', path: 'emails' },
        value: Array.from({ length: 100 }, (_, at) => ({ value: `${step}.${at}@example.com` })),
      })),
    ],
    [
      'adds one value more than there may be',
      Array.from({ length: 100 }, (_, at) => ({ op: 'add', path: 'emails', value: { value: `${at}@example.com` } })),
    ],
    [
      'adds values by filters that find none',
      Array.from({ length: 100 }, (_, at) => ({
        op: 'replace',
        path: `emails[type eq "a${at}"].value`,
        value: 'a@b.c',
      })),
    ],
    ['has paths without number as members of a value', [{ op: 'add', value: paths(80_000) }]],
    ['has paths without number behind its schema', [{ op: 'add', value: { [core]: paths(80_000) } }]],
    ['has paths without number in several operations', Array(3).fill({ op: 'add', value: paths(400) })],
    [
      'has filters that look at too many values',
      [
        { op: 'add', path: 'emails', value: Array.from({ length: 98 }, (_, at) => ({ value: `${at}@example.com` })) },
        ...Array(200).fill({ op: 'replace', path: `emails[${many(99, 'type eq "x"')} or value pr].type`, value: 'y' }),
      ],
    ],
  ])('that %s is refused', async (_, operations) => {
    const before = (await provider.scim('GET', `/Users/${user}`)).body;
    const answer = await provider.change(`/Users/${user}`, ...operations);
    expect([answer.status, answer.body.scimType]).toEqual([400, 'tooMany']);
    expect((await provider.scim('GET', `/Users/${user}`)).body).toEqual(before);
  });

  it('is accepted with the largest allowed number of operations and values', async () => {
    const value = Array.from({ length: 100 }, (_, at) => ({ value: `${at}@example.com`, type: `t${at}` }));
    const id = await provider.addUser('much@example.com');
    const again = { op: 'add', path: 'emails', value };
    const answer = await provider.change(`/Users/${id}`, { op: 'remove', path: 'emails' }, ...Array(999).fill(again));
    expect([answer.status, answer.body.emails.length]).toEqual([200, 100]);
  });

  it('with filters that compare too many members is refused', async () => {
    const filter = `members[${many(100, 'display eq "x"')}]`;
    const value = Array.from({ length: 10_000 }, (_, at) => ({ value: `x${at}` }));
    const add = { op: 'add', path: 'members', value };
    const answer = await provider.change(`/Groups/${group}`, add, { op: 'remove', path: filter });
    expect([answer.status, answer.body.scimType]).toEqual([400, 'tooMany']);
    expect(await provider.members(group)).toEqual([user]);
  });
});

describe('a SCIM request body', () => {
  it.each<[string, Json]>([
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['no JSON', '{"userName":'],
    ['nothing', ''],
    ['a NUL', '{"userName":"a\\u0000b"}'],
    ['half a character', '{"userName":"a\\ud800"}'],
    ['a user without a name', {}],
    ['a name that is a number', { userName: 7 }],
    ['a name that is an object', { userName: { a: 1 } }],
    ['emails that are texts in lists in lists', { userName: 'a', emails: [['x@example.com']] }],
    ['a long name', { userName: 'x'.repeat(1025) }],
    ['an address that is none', person('b@example.com', { emails: [{ value: 'a b' }] })],
    ['too many values', person('b@example.com', { emails: Array(101).fill({ value: 'b@example.com' }) })],
  ])('with %s is refused', async (_, body) => {
    const { status, body: answer } = await provider.scim('POST', '/Users', body);
    expect(status, JSON.stringify(answer)).toBe(400);
  });

  it('that is too large or of another media type is refused with that reason', async () => {
    const large = await provider.scim('POST', '/Users', JSON.stringify(person('x'.repeat(5 * 1024 * 1024))));
    expect([large.status, large.body.detail]).toEqual([
      413,
      'the body is too large; send at most 4 MiB, and large groups in parts',
    ]);
    const xml = await provider.scim('POST', '/Users', '<a/>', { 'content-type': 'text/xml' });
    expect(xml.status).toBe(415);
    expect((await provider.scim('POST', '/Groups', team('Large', Array(20_001).fill(user)))).body.scimType).toBe(
      'tooMany',
    );
  });

  it('with unknown attributes is accepted without them', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`unknown${at}`, at]));
    const text = JSON.stringify({ ...unknown, ...person('unknown@example.com') });
    const made = await provider.scim('POST', '/Users', `{"nested":${nested(90, 'a')},${text.slice(1)}`);
    expect([made.status, Object.keys(made.body).length]).toEqual([201, 7]);
  });
});

describe('a guessed SCIM token', () => {
  it('is refused with 429 after 60 attempts, without delaying a valid token', async () => {
    const { scim } = provider;
    const guess = () => scim('GET', '/Users', undefined, { authorization: 'Bearer nbs_guess' });
    const answers = await Promise.all(Array.from({ length: 61 }, guess));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
    // A provider with a valid token is not delayed by other clients at the same IP address.
    expect((await scim('GET', '/Users')).status).toBe(200);
  });
});

describe('a SCIM path', () => {
  it.each([
    '/Users/%00',
    `/Users/${'x'.repeat(400)}`,
    '/Users/..%2f..%2fapi',
    '/Users/%ff',
    '/Groups/__proto__',
    '/constructor',
    '/Users//',
    '/Users/a%2Fb',
  ])('%s causes no server error', async (path) => {
    const response = await api().app.inject({
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${provider.token}` },
    });
    expect([400, 404, 200]).toContain(response.statusCode);
    expect(api().defects).toEqual([]);
  });

  it('of an object of another integration or of none returns 404', async () => {
    const other = await integrate(api(), { prefix: 'other' });
    const own = (await api().call('GET', '/api/groups')).body[0].id;
    for (const path of [`/Users/${user}`, `/Groups/${group}`, `/Groups/${own}`])
      for (const method of ['GET', 'DELETE']) expect((await other.scim(method, path)).status).toBe(404);
    expect((await other.scim('GET', '/Users')).body.totalResults).toBe(0);
    const taken = await other.scim('POST', '/Users', person('ana@example.com'));
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness']);
  });
});
