import { expect, it } from 'vitest';
import { toTheirs } from '../../../src/api/profile/translate.ts';
import { type Translation, translationsOf } from '../../../src/api/profile/translations.ts';
import { type JsonObject, parseJson } from '../../../src/lib/json.ts';
import type { Described } from '../described.ts';
import { createScene, inTheirOrder, isCreation, isStream, type Located } from '../example-scene.ts';
import { type TestApi, testApi, token } from '../setup.ts';

/** What the moment decides, and what is of the profile itself. */
const leftOut = new Set([
  'GET /metrics',
  'GET /docs',
  'GET /api/openapi.json',
  'GET /agent/stream',
  'GET /api/config/backup',
]);

it('every operation answers the same in both profiles, but for what the table says', async () => {
  const txt = new Map<string, readonly string[]>();
  await using api = await testApi('postgres', {
    edition: 'hosted',
    profile: { profile: 'specification', byHeader: true },
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
    // What depends on the moment is never the same twice.
    const isSteady = one.text === again.text;
    if (one.status !== other.status || (isSteady && expected !== other.text)) different.push(of.name);
    if (isSteady) steady.push(of.name);
  }
  expect(different).toEqual([]);
  expect(steady.filter((name) => !name.startsWith('GET')).length).toBeGreaterThan(40);
  expect(steady.filter((name) => name.startsWith('GET')).length).toBeGreaterThan(60);
});

/** Reads, and writes that take a body: with one that is none they change nothing. */
function isComparable(of: Described): boolean {
  if (leftOut.has(of.name) || isStream(of)) return false;
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
  return shape === undefined ? text : JSON.stringify(toTheirs(shape, parseJson(text)));
}
