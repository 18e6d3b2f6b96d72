import type { InjectOptions } from 'fastify';
import { expect, it } from 'vitest';
import { toSpecificationPath } from '../../../src/api/profile/paths.ts';
import { rows } from '../../../src/api/profile/table.ts';
import { toProfile } from '../../../src/api/profile/translate.ts';
import { type Translation, translationsOf } from '../../../src/api/profile/translations.ts';
import { equalJson, type JsonObject, parseJson } from '../../../src/lib/json.ts';
import type { Profile } from '../../../src/model/profile.ts';
import type { Described } from '../described.ts';
import { inPhases, leftOut } from '../example-order.ts';
import { createScene, inTheirOrder, isCreation, isStream, type Located } from '../example-scene.ts';
import { type TestApi, testApi, token } from '../setup.ts';

/** Operations whose answer depends on the time of the request, or on the profile itself. */
const momentary = new Set([
  'GET /metrics',
  'GET /docs',
  'GET /api/openapi.json',
  'GET /agent/stream',
  'GET /api/config/backup',
]);

it('every operation answers the same in both profiles, except for the listed differences', async () => {
  const txt = new Map<string, readonly string[]>();
  await using api = await testApi('postgres', {
    edition: 'hosted',
    profile: { profile: 'specification', allowsHeader: true },
    resolveTxt: async (name) => txt.get(name) ?? [],
  });
  const document: JsonObject = (await api.call('GET', '/api/openapi.json')).body;
  const { operations } = translationsOf(document);
  const scene = await createScene(api, 'hosted', txt);
  const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
  await inTheirOrder(scene, creations, scene.attempt);
  const different: string[] = [];
  const steady: string[] = [];
  for (const of of scene.operations.filter(isComparable).filter(scene.isReady)) {
    const located = await scene.locate(of);
    const one = await ask(api, of, located, 'specification');
    const other = await ask(api, of, located, 'compatible');
    const again = await ask(api, of, located, 'specification');
    const expected = one.status < 400 ? inTheirs(operations.get(of.name), one.text) : one.text;
    // An answer that depends on the time differs when it is requested again.
    const isSteady = one.text === again.text;
    if (one.status !== other.status || (isSteady && expected !== other.text)) different.push(of.name);
    if (isSteady) steady.push(of.name);
  }
  expect(different).toEqual([]);
  expect(steady.filter((name) => !name.startsWith('GET')).length).toBeGreaterThan(40);
  expect(steady.filter((name) => name.startsWith('GET')).length).toBeGreaterThan(60);
});

/** Operations that only one profile has. */
const own = new Set(rows.flatMap((row) => (row.differs === 'operation' ? [row.operation] : [])));

/** Writes are tested here, in a separate account for each profile, with the examples of its own OpenAPI document. */
it('every example has the same outcome in both profiles, including deletions and POSTs without a body', async () => {
  const specified = await outcomesIn('specification');
  const theirs = await outcomesIn('compatible');
  const { operations } = translationsOf(specified.document);
  const common = [...theirs.outcomes.keys()].filter((name) => !own.has(name));
  expect(common.sort()).toEqual([...specified.outcomes.keys()].sort());
  const different = common.filter((name) => {
    const expected = (specified.outcomes.get(name) ?? []).map(({ status, text }) =>
      withoutChance(`${status} ${status < 400 ? inTheirs(operations.get(name), text) : text}`),
    );
    const found = (theirs.outcomes.get(name) ?? []).map(({ status, text }) => withoutChance(`${status} ${text}`));
    return !equalJson(expected, found);
  });
  expect(different).toEqual([]);
  expect(specified.untried).toEqual([]);
  const sent = specified.operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(sent.sort()).toEqual(common);
  expect(sent.filter((name) => name.startsWith('DELETE')).length).toBeGreaterThan(30);
}, 60_000);

interface Outcome {
  readonly status: number;
  readonly text: string;
}

/**
 * Returns the answers of every operation to its examples, by its name in the specification. Deletions run last, and the
 * deletion of the account runs at the very end.
 */
async function outcomesIn(profile: Profile) {
  const txt = new Map<string, readonly string[]>();
  await using api = await testApi('postgres', {
    edition: 'hosted',
    profile: { profile, allowsHeader: false },
    cities: async () => [{ city_name: 'Berlin', geoname_id: 2950159 }],
    resolveTxt: async (name) => txt.get(name) ?? [],
  });
  const outcomes = new Map<string, Outcome[]>();
  let name = '';
  const note = (outcome: Outcome) => outcomes.set(name, [...(outcomes.get(name) ?? []), outcome]);
  const scene = await createScene({ ...api, app: heard(api.app, note) }, 'hosted', txt);
  const document: JsonObject = (await api.call('GET', '/api/openapi.json')).body;
  const run = async (of: Described): Promise<void> => {
    name = `${of.method.toUpperCase()} ${toSpecificationPath(of.path)}`;
    await scene.attempt(of);
  };
  const operations = scene.operations.filter((of) => !momentary.has(of.name) && !isStream(of));
  const untried = await inPhases(scene, operations, run);
  // Operations without an example that can be sent must be refused alike.
  const others = operations.filter((of) => leftOut[of.name] !== undefined && of.name !== ending);
  for (const of of others) {
    name = of.name;
    const { statusCode: status, body: text } = await api.app.inject({
      method: of.method.toUpperCase() as 'GET',
      url: of.path.replace(/\{\w+\}/g, 'none'),
      headers: { authorization: `Token ${token}` },
    });
    note({ status, text });
  }
  await inTheirOrder(
    scene,
    operations.filter((of) => of.name === ending),
    run,
  );
  return { outcomes, document, operations, untried: untried.map((of) => of.name) };
}

/** After this operation, no token is valid. */
const ending = 'DELETE /api/accounts/{accountId}';

/** Returns the same server, which reports each of its answers to `note`. */
function heard(app: TestApi['app'], note: (outcome: Outcome) => unknown): TestApi['app'] {
  return new Proxy(app, {
    get(of, member) {
      const value = Reflect.get(of, member);
      if (member !== 'inject') return value;
      return async (request: InjectOptions) => {
        const response = await of.inject(request);
        note({ status: response.statusCode, text: response.body });
        return response;
      };
    },
  });
}

/** Returns a text without random values, times and values that the server chooses. */
function withoutChance(text: string): string {
  return [
    [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'],
    [/\b[\dA-Fa-f]{8}(-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}\b/g, 'uuid'],
    [/\bnb[a-z]_[\dA-Za-z]+/g, 'token'],
    [/\bwhpk_[\w+/=]+/g, 'key of webhooks'],
    [/\b[\dA-F]{5}\*{4}/g, 'key'],
    [/^200 \{"key":"[\w-]{16}"\}$/g, 'key that signs'],
    [/"seconds":\d+/g, '"seconds":0'],
    [/"(password|public_key)":"[^"]{8,}"/g, '"$1":"made"'],
    [/\bfd[\da-f]{2}:[\da-f:]+(\/\d+)?/g, 'address'],
    [/\b100\.\d+\.\d+\.\d+/g, 'address'],
    [/\b[\da-f]{32,}\b/g, 'digest'],
    [/\b[\da-v]{20}\b/g, 'id'],
  ].reduce((rest, [pattern, word]) => rest.replaceAll(pattern as RegExp, String(word)), text);
}

/**
 * Returns whether an operation can be compared: it reads, or it takes a body. With an invalid body, the latter change
 * nothing.
 */
function isComparable(of: Described): boolean {
  if (momentary.has(of.name) || isStream(of)) return false;
  return of.method === 'get' || of.operation['requestBody'] !== undefined;
}

async function ask({ app }: TestApi, { method, path }: Described, { url, headers }: Located, profile: string) {
  const type = method === 'get' ? {} : { 'content-type': 'application/json' };
  const response = await app.inject({
    method: method.toUpperCase() as 'GET',
    url,
    ...(method === 'get' ? {} : { payload: '[]' }),
    headers: {
      authorization: `Token ${token}`,
      ...type,
      ...headers,
      'heddle-profile': profile,
      'x-request-id': path.length.toString(),
    },
  });
  return { status: response.statusCode, text: response.body };
}

function inTheirs(translation: Translation | undefined, text: string): string {
  const shape = translation?.answer;
  return shape === undefined ? text : JSON.stringify(toProfile(shape, parseJson(text)));
}
