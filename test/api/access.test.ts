import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeApi } from '../../src/api/description.ts';
import { openRoutes } from '../../src/api/server.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { queryBuilder } from '../../src/db/builder.ts';
import { createAuthenticator, hashToken } from '../../src/features/auth/authenticate.ts';
import { asObjectOrEmpty } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { otherReads } from '../../src/operations/profile/other-reads.ts';
import { putObjects } from '../setup/objects.ts';
import { sharedApi, testApi, token } from './setup.ts';

const api = sharedApi({ edition: 'hosted' });
const ask = async (authorization: string | undefined) =>
  api().app.inject({ url: '/api/groups', headers: authorization === undefined ? {} : { authorization } });

it.each([
  [undefined, 'no valid authentication provided'],
  ['', 'no valid authentication provided'],
  ['Basic dTpw', 'no valid authentication provided'],
  [token, 'no valid authentication provided'],
  ['Tokens x', 'no valid authentication provided'],
  ['Token', 'token invalid'],
  ['Bearer ', 'token invalid'],
  ['Token nbp_short', 'token invalid'],
  [`Token ${token.slice(0, -1)}x`, 'token invalid'],
  [`Token ${token} ${token}`, 'token invalid'],
  [`Token ${token.replace('nbp_', 'nbs_')}`, 'token invalid'],
  [`Token ${makeToken('nbp_', randomBytes(32))}`, 'token invalid'],
  ['Bearer eyJhbGciOiJub25lIn0.e30.', 'token invalid'],
])('the Authorization header %s is refused with 401', async (header, message) => {
  const answer = await ask(header);
  expect([answer.statusCode, answer.json()]).toEqual([401, { message, code: 401 }]);
});

it.each(['Token', 'Bearer', 'token', 'BEARER', 'Token  '])(
  'the Authorization scheme %s is accepted',
  async (scheme) => {
    expect((await ask(`${scheme} ${token}`)).statusCode).toBe(200);
  },
);

it('a token with a wrong checksum is refused without a database look-up', async () => {
  const { engine } = api();
  const lookUps: unknown[] = [];
  const database = { ...engine.database, lookUp: async (statement: unknown) => lookUps.push(statement) && [] };
  const authenticator = createAuthenticator({
    database: database as never,
    snapshots: engine.snapshots,
    now: Date.now,
  });
  const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  await expect(authenticator.authenticate(`Token ${wrong}`)).rejects.toThrow('token invalid');
  expect(lookUps).toEqual([]);
  await expect(authenticator.authenticate(`Token ${token}`)).rejects.toThrow('token invalid');
  expect(lookUps).toHaveLength(1);
});

it('an expired token is refused with the message `token expired`', async () => {
  const old = makeToken('nbp_', randomBytes(32));
  const { engine, account } = api();
  const [owner] = (await engine.snapshots.current(account)).ofKind('User');
  await insertToken(engine.database, {
    ...{ account, id: engine.newId(), user: owner?.id ?? '', name: 'old', hash: hashToken(old), createdBy: '' },
    createdAt: '2020-01-01T00:00:00Z',
    expiresAt: '2021-01-01T00:00:00Z',
  });
  expect((await ask(`Token ${old}`)).json()).toEqual({ message: 'token expired', code: 401 });
});

it('a blocked user is refused with 403', async () => {
  await using own = await testApi();
  const [owner] = (await own.engine.snapshots.current(own.account)).ofKind('User');
  if (owner === undefined) throw new Error('no owner');
  await putObjects(own.engine, own.account, () => [{ ...owner, spec: { ...owner.spec, is_blocked: true } }]);
  const answer = await own.call('GET', '/api/groups');
  expect([answer.status, answer.body.message]).toEqual([403, 'user is blocked']);
});

it('a token is stored as its hash only', async () => {
  const { engine, account } = api();
  const [rows] = await engine.database.inAccount(account, [queryBuilder.selectFrom('tokens').selectAll().compile()]);
  expect(JSON.stringify(rows)).toContain(hashToken(token));
  expect(JSON.stringify(rows)).not.toContain(token.slice(4));
});

it('every endpoint outside the list of open routes requires credentials', async () => {
  const { app } = api();
  const description = (await api().call('GET', '/api/openapi.json')).body;
  const open: string[] = [];
  for (const [path, item] of Object.entries(description.paths))
    for (const method of ['get', 'head', 'post', 'put', 'delete', 'patch'])
      if (Object.hasOwn(item as object, method === 'head' ? 'get' : method)) {
        const answer = await app.inject({ method: method as 'get', url: path.replace(/\{\w+\}/g, 'x') });
        // An operation without HEAD answers 405 to every caller, as for any wrong method.
        if (![401, 405].includes(answer.statusCode))
          open.push(`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`);
      }
  expect(open.filter((name) => !name.startsWith('HEAD ')).sort()).toEqual(
    Object.keys(openRoutes)
      .map((name) => name.replace(/:\w+/g, '{}'))
      .filter(
        (name) => !(name in signed) && !name.includes(' /proxy/') && !/ \/(oidc|signin|(api\/)?scim)\//.test(name),
      )
      .sort(),
  );
});

it('the OpenAPI document lists every route', async () => {
  const { paths } = (await api().call('GET', '/api/openapi.json')).body;
  const listed = new Set(Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, ':')));
  const present = new Set(routePaths(api().app.printRoutes({ commonPrefix: false })));
  // The route that answers CORS preflight requests is not an endpoint.
  present.delete('*');
  // The SCIM interface describes itself at `/Schemas`, as RFC 7643 requires.
  for (const path of present) if (/^(\/api)?\/scim\/v2(\/?\*)?$/.test(path)) present.delete(path);
  // Operations that only the compatible profile has are in the document of that profile.
  const theirs = await describeApi(api().engine.registry, { version: '', edition: 'hosted', profile: 'compatible' });
  const only = Object.values(otherReads).map(({ path }) => path);
  expect(Object.keys(asObjectOrEmpty(theirs['paths']))).toEqual(expect.arrayContaining(only));
  for (const path of only) present.delete(path.replace(/\{\w+\}/g, ':'));
  expect([...present].filter((path) => !listed.has(path))).toEqual([]);
  expect(present.size).toBe(listed.size);
});

/** Open to every caller that signs the request. An unknown caller is refused all the same. */
const signed: Readonly<Record<string, true>> = {
  'POST /agent/enrol': true,
  'POST /agent/login': true,
  'POST /agent/facts': true,
  'POST /agent/traffic': true,
  'POST /agent/services': true,
  'POST /agent/services/{}/renew': true,
  'DELETE /agent/services/{}': true,
  'GET /agent/stream': true,
  'POST /api/config/sources/{}/webhook': true,
};

/** Returns the paths in Fastify's printed tree of routes. */
function routePaths(tree: string): ReadonlySet<string> {
  const parents: string[] = [];
  const paths = tree.split('\n').flatMap((line) => {
    const [, indent = '', text = '', methods] = /^((?:[│ ] {3})*)[├└]── (\S+)(?: \((.+)\))?/.exec(line) ?? [];
    if (text === '') return [];
    const depth = indent.length / 4;
    parents[depth] = `${depth === 0 ? '' : parents[depth - 1]}${text}`;
    return methods === undefined ? [] : [(parents[depth] ?? '').replace(/:[\w|:]+/g, ':')];
  });
  return new Set(paths);
}
