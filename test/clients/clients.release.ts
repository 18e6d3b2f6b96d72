import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '../../src/api/description.ts';
import { ourPath, theirPath } from '../../src/api/profile/paths.ts';
import { asObjects, asTexts, equalJson, type Json, type JsonObject, membersOf } from '../../src/lib/json.ts';
import { type Profile, profiles } from '../../src/model/profile.ts';
import { createScene, inTheirOrder, isCreation, type Scene } from '../api/example-scene.ts';
import { type TestApi, testApi, token } from '../api/setup.ts';
import { registry } from '../model/product.ts';
import { createWorkshop, type Generator, generators, pageOfClients, type Workshop } from './generated.ts';
import { changedByPut, noObjects, secretsOfPut, withoutReplace } from './not-round.ts';
import type { Account, Server, Trips } from './programs/trip.ts';

/** An account with an object of every collection, on a server that speaks a profile and listens. */
interface Stand {
  readonly api: TestApi;
  readonly scene: Scene;
  readonly server: Server;
  readonly description: JsonObject;
}

/** What the programs offer. The compiler of this project does not see them: they want what the generators write. */
interface TripProgram {
  readonly trips: (account: Account) => Trips;
}
interface ShortProgram {
  readonly trips: (server: Server) => Trips;
  readonly usesOfUnlimitedKey: (server: Server) => Promise<readonly number[]>;
}
interface PageOfClients {
  readonly renameGroup: (token: string, groupId: string, name: string) => Promise<string>;
}
interface PageProgram {
  readonly groupsInPages: (server: Server) => Promise<readonly (readonly string[])[]>;
  readonly recordsInPages: (server: Server) => Promise<readonly number[]>;
}

async function createStand(profile: Profile): Promise<Stand> {
  const txt = new Map<string, readonly string[]>();
  const api = await testApi('postgres', {
    edition: 'hosted',
    profile: { profile, byHeader: false },
    resolveTxt: async (name) => txt.get(name) ?? [],
  });
  const scene = await createScene(api, 'hosted', txt);
  const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
  const faults: string[] = [];
  await inTheirOrder(scene, creations, async (of) => faults.push(...(await scene.attempt(of))));
  expect(faults).toEqual([]);
  const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Token ${token}` };
  const description = (await (await fetch(`${baseUrl}/api/openapi.json`, { headers })).json()) as JsonObject;
  return { api, scene, server: { baseUrl, token }, description };
}

let stands: Readonly<Record<Profile, Stand>>;
let workshop: Workshop;
/** What generators and compilers printed. */
const printed = new Map<string, string>();

beforeAll(async () => {
  stands = { specification: await createStand('specification'), compatible: await createStand('compatible') };
  workshop = createWorkshop({
    specification: stands.specification.description,
    compatible: stands.compatible.description,
  });
  for (const generator of ['openapi-typescript', '@hey-api/openapi-ts'] as const) {
    const texts = await Promise.all(profiles.map((profile) => workshop.generate(generator, profile)));
    for (const [at, profile] of profiles.entries()) printed.set(`${generator} ${profile}`, texts[at] ?? '');
  }
  const configurations = ['tsconfig.exact.json', 'tsconfig.json'] as const;
  const texts = await Promise.all(configurations.map((configuration) => workshop.compile(configuration)));
  for (const [at, configuration] of configurations.entries()) printed.set(configuration, texts[at] ?? '');
});
afterAll(async () => {
  workshop[Symbol.dispose]();
  for (const profile of profiles) await stands[profile].api[Symbol.asyncDispose]();
});

/** All that a generator prints when it has nothing to complain about. */
const silence: Readonly<Record<Generator, RegExp>> = {
  'openapi-typescript': /^✨ openapi-typescript [\d.]+\n🚀 openapi\.json → description\.ts \[[\d.]+m?s\]\n$/u,
  '@hey-api/openapi-ts':
    /^@hey-api\/openapi-ts v[\d.]+\n\n\[Job 1\] ~ Generating\.\.\.\n\[Job 1\] {3}\[1\] openapi\.json\n\[Job 1\] ✓ \S+ · \d+ files · [\d.]+m?s\n$/u,
};

describe.each(profiles)('clients generated from the description of the profile %s', (profile) => {
  const theirs = (path: string) => (profile === 'specification' ? path : theirPath(path));

  it.each(Object.entries(silence))('are written by %s without a warning', (generator, expected) => {
    expect(printed.get(`${generator} ${profile}`)).toMatch(expected);
  });

  it('keep the strictest types, with programs that read, change and write without a cast', () => {
    expect([printed.get('tsconfig.exact.json'), printed.get('tsconfig.json')]).toEqual(['', '']);
    const folder = join(workshop.folder, profile);
    const programs = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'description.ts');
    expect(programs.length).toBeGreaterThan(4);
    for (const name of programs) {
      const text = readFileSync(join(folder, name), 'utf8');
      const code = text.replace(/\/\*.*?\*\//gs, '').replace(/\/\/ (?!@ts-ignore).*/g, '');
      expect(code, name).not.toMatch(/(?<!\* )\bas (?!const\b)|\bany\b|@ts-ignore/);
    }
  });

  it.each(['openapi-fetch', 'hey-api'])('read and write back an object of every collection: %s', async (program) => {
    const { trips }: TripProgram = await load(profile, program);
    const { api, scene, server } = stands[profile];
    const different: string[] = [];
    const group = await api.group(`of ${program}`);
    const rows = Object.entries(trips({ ...server, mark: program, group }));
    for (const [path, row] of rows) {
      const { before, put, read } = await row(...(await idsOf(scene, theirs(path))));
      expect(differencesIn(before, put), path).toHaveLength(1);
      different.push(...differencesIn(put, read).map((member) => `${collectionOf(ourPath(path))} ${member}`));
    }
    expect(different.sort()).toEqual(Object.keys(changedByPut).sort());
    const replaces = scene.operations.filter(({ method }) => method === 'put').map(({ path }) => path);
    const shown = [...rows.map(([path]) => path), ...Object.keys(noObjects)].map(theirs);
    expect(shown.sort()).toEqual(replaces.sort());
  });

  it.each(['openapi-fetch-page', 'hey-api-page'])('run as docs/clients.md has them: %s', async (program) => {
    const { api, server } = stands[profile];
    const id = await api.group(`before ${program}`);
    const { renameGroup }: PageOfClients = await load(profile, program, (text) =>
      text.replace('http://127.0.0.1:8080', server.baseUrl),
    );
    expect(await renameGroup(token, id, `after ${program}`)).toBe(`after ${program}`);
    expect((await api.call('GET', `/api/groups/${id}`)).body.name).toBe(`after ${program}`);
  });

  it('ask for pages of lists and logs', async () => {
    const { groupsInPages, recordsInPages }: PageProgram = await load(profile, 'openapi-fetch-pages');
    const { api, server } = stands[profile];
    const all: readonly { readonly name: string }[] = (await api.call('GET', '/api/groups')).body;
    const pages = await groupsInPages(server);
    expect(pages.slice(0, -1).every(({ length }) => length === 2)).toBe(true);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat().sort()).toEqual(all.map(({ name }) => name).sort());
    expect(await recordsInPages(server)).toEqual([1, 10, 0, 0, 1, 10, 0, 0]);
  });

  it('name every type once', () => {
    const types = readFileSync(join(workshop.folder, profile, 'sdk/types.gen.ts'), 'utf8');
    const names = [...types.matchAll(/^export type (\w+)/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(500);
    expect(names.filter((name) => /\d$/.test(name) && names.includes(name.replace(/\d+$/, '')))).toEqual([]);
  });
});

it('clients of a self-hosted server are written without a warning as well, and keep the strictest types', async () => {
  const describeIt = (profile: Profile) => describeApi(registry, { version: '0.0.0', edition: 'self-hosted', profile });
  const [specification, compatible] = [await describeIt('specification'), await describeIt('compatible')];
  expect(membersOf(specification['paths'])['/api/events/network-traffic']).toBeUndefined();
  using own = createWorkshop({ specification, compatible }, { withPrograms: false });
  for (const profile of profiles)
    for (const generator of ['openapi-typescript', '@hey-api/openapi-ts'] as const)
      expect(await own.generate(generator, profile)).toMatch(silence[generator]);
  expect([await own.compile('tsconfig.exact.json'), await own.compile('tsconfig.json')]).toEqual(['', '']);
}, 240_000);

describe('clients of the profile compatible', () => {
  it('may leave out what the profile lets be absent', async () => {
    const { trips, usesOfUnlimitedKey }: ShortProgram = await load('compatible', 'compatible');
    const { scene, server } = stands.compatible;
    for (const [path, row] of Object.entries(trips(server))) {
      const { put, read } = await row(...(await idsOf(scene, theirPath(path))));
      expect(
        differencesIn(put, read).filter((member) => member !== 'updated_at'),
        path,
      ).toEqual([]);
    }
    expect(await usesOfUnlimitedKey(server)).toEqual([0, 0]);
  });
});

it.each(Object.keys(generators))('%s calls the TypeScript 5 of its folder, where the lock file has both', (name) => {
  const generator = createRequire(join(import.meta.dirname, 'node_modules', name, 'package.json'));
  expect(generator('typescript/package.json').version).toMatch(/^5\./);
});

it('the page about clients has the commands that were run here', () => {
  const [, commands = ''] = /```console\n(\$ curl .*?)```/s.exec(pageOfClients()) ?? [];
  const lines = commands.trimEnd().split('\n').slice(1);
  expect(lines).toEqual(Object.values(generators).map((words) => `$ npx ${words.join(' ')}`));
});

it('every kind with a collection is replaced, or a table says why not', () => {
  const { api, scene } = stands.specification;
  const kinds = api.engine.registry.kinds.filter(({ path }) => path !== undefined);
  const replaced = scene.operations.filter(({ method }) => method === 'put').map(({ path }) => collectionOf(path));
  const others = kinds.filter(({ path = '' }) => !replaced.includes(path)).map(({ name }) => name);
  expect(others.sort()).toEqual(Object.keys(withoutReplace).sort());
});

it('what is read is all that a replace needs, but for secrets', () => {
  const { description, scene } = stands.specification;
  const schemas = membersOf(membersOf(description['components'])['schemas']);
  const followed = (schema: Json | undefined): JsonObject =>
    membersOf(schemas[String(membersOf(schema)['$ref']).split('/').at(-1) ?? '']);
  /** What every one of the shapes that a body may have requires. */
  const requiredOf = (body: Json | undefined): readonly string[] => {
    const shape = followed(membersOf(membersOf(membersOf(body)['content'])['application/json'])['schema']);
    const [first = [], ...others] = asObjects(shape['oneOf'] ?? [shape]).map((one) =>
      asTexts((one === shape ? one : followed(one))['required'] ?? []),
    );
    return first.filter((name) => others.every((names) => names.includes(name)));
  };
  const missing = scene.operations.flatMap(({ method, path, operation }) => {
    if (method !== 'put' || noObjects[path] !== undefined) return [];
    const read = requiredOf(membersOf(operation['responses'])['200']);
    const absent = requiredOf(operation['requestBody']).filter((name) => !read.includes(name));
    return absent.length === 0 ? [] : [[collectionOf(path), absent]];
  });
  expect(Object.fromEntries(missing)).toEqual(secretsOfPut);
});

/** A program, compiled with what the generators wrote for a profile. */
async function load(profile: Profile, program: string, change = (text: string) => text) {
  const path = join(workshop.folder, 'dist', profile, `${program}.js`);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  return import(pathToFileURL(path).href);
}

/** The ids of an object of a collection, in the order in which the path names them. */
async function idsOf(scene: Scene, path: string): Promise<readonly string[]> {
  const replace = scene.operations.find((of) => of.method === 'put' && of.path === path);
  if (replace === undefined) throw new Error(`nothing is replaced at ${path}`);
  const { url } = await scene.locate(replace);
  const parts = url.split('/');
  return path.split('/').flatMap((part, at) => (part.startsWith('{') ? [parts[at] ?? ''] : []));
}

function collectionOf(path: string): string {
  return path.replace(/\/\{\w+\}$/, '');
}

/** The members that are other than they were put. */
function differencesIn(put: unknown, read: unknown): readonly string[] {
  // Bodies of JSON, which the clients have parsed.
  const [sent, answered] = [put as JsonObject, read as JsonObject];
  const names = new Set([...Object.keys(sent), ...Object.keys(answered)]);
  return [...names].filter((name) => !equalJson(sent[name], answered[name]));
}
