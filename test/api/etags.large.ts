import { describe, expect, it } from 'vitest';
import { runDeliveries } from '../../src/features/integrations/deliveries/dispatcher.ts';
import { asObjects, isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Described } from './described.ts';
import { createScene, hasRow, inTheirOrder, isCreation, isStream, type Located, type Scene } from './example-scene.ts';
import { type TestApi, testApi } from './setup.ts';

/** GET operations whose answer differs each time, with the reason. */
const everNew: Readonly<Record<string, string>> = {
  'GET /metrics': 'the very request is counted',
  'GET /api/config/plans/{id}/outputs': 'it can be read once',
  'GET /api/config/backup': 'it is sent while it is read',
  'GET /api/reverse-proxies/domains/{domainId}/validate': 'it starts a check',
};

/** Reads about the account as a whole, whose answer changes with every change. */
const ofAll: readonly string[] = ['/api/config/status', '/api/config/revisions', '/api/config/export'];

/** Creates an account with everything that the examples of the OpenAPI document create. */
async function filled(edition: 'self-hosted' | 'hosted') {
  const txt = new Map<string, readonly string[]>();
  const api = await testApi('postgres', { edition, resolveTxt: async (name) => txt.get(name) ?? [] });
  const scene = await createScene(api, edition, txt);
  const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
  expect(await inTheirOrder(scene, creations, async (of) => expect(await scene.attempt(of)).toEqual([]))).toEqual([]);
  const reads = scene.operations.filter((of) => of.method === 'get' && !isStream(of) && !(of.name in everNew));
  return { api, scene, reads, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

/**
 * Whether an answer no longer changes by itself, by operation. All other answers are stable as soon as they are
 * written.
 */
const settled: Readonly<Record<string, (body: Json) => boolean>> = {
  // A pending delivery shows how long it has waited, which changes with each read.
  'GET /api/config/deliveries': (body) =>
    asObjects(body).some(({ state }) => state === 'idle') &&
    asObjects(body).every(({ state }) => state === 'idle' || state === 'disabled'),
};

/** Starts deliveries to receivers that accept everything. Returns a function that stops them. */
function deliverAll({ engine }: TestApi): () => Promise<void> {
  return runDeliveries({
    engine,
    open: () => ({ chooseBatchSize: (waiting) => waiting.length, deliver: async () => ({ outcome: 'accepted' }) }),
    ...{ leaseSeconds: 30, pollMs: 50, gatherMs: 5, random: () => 0 },
    report: (_, message) => expect.unreachable(message),
  });
}

const askAgain = (api: TestApi, { url, headers }: Located, etag: string) =>
  api.call('GET', url, undefined, { ...headers, 'if-none-match': etag });

async function etagOf(api: TestApi, { url, headers }: Located): Promise<string> {
  const answer = await api.call('GET', url, undefined, headers);
  expect([url, answer.status, answer.headers['etag']]).toEqual([
    url,
    200,
    expect.stringMatching(/^"\d+\.[0-9a-f]{16}"$/),
  ]);
  return answer.headers['etag'] ?? '';
}

describe.each(['self-hosted', 'hosted'] as const)('every GET in the %s edition', (edition) => {
  it('returns an ETag, and 304 when that is sent in If-None-Match', async () => {
    await using account = await filled(edition);
    const { api, scene, reads } = account;
    expect(reads.length).toBeGreaterThan(50);
    const named = [...Object.keys(everNew), ...Object.keys(settled)];
    expect(named.filter((name) => !scene.operations.some((of) => of.name === name))).toEqual([]);
    await using _deliveries = { [Symbol.asyncDispose]: deliverAll(api) };
    for (const of of reads) {
      const at = await scene.locate(of);
      const isSettled = settled[of.name] ?? (() => true);
      await expect.poll(async () => isSettled((await api.call('GET', at.url, undefined, at.headers)).body)).toBe(true);
      const etag = await etagOf(api, at);
      const again = await askAgain(api, at, etag);
      expect([of.name, again.status, again.body, again.headers['etag']]).toEqual([of.name, 304, '', etag]);
    }
  });

  it('returns 200 with a new ETag after a change', async () => {
    await using account = await filled(edition);
    const { api, scene, reads } = account;
    const changes = scene.operations.filter((of) => of.method === 'put' && !hasRow(of));
    for (const change of changes) {
      // A source is not an object of the account, so an export does not contain it.
      const whole = change.path.startsWith('/api/config/') ? ofAll.filter((path) => !path.endsWith('/export')) : ofAll;
      const about = reads.filter(({ path }) => [change.path, listOf(change), ...whole].includes(path));
      expect([change.name, about.length > whole.length]).toEqual([change.name, true]);
      const located = await Promise.all(about.map((of) => scene.locate(of)));
      const before = await Promise.all(located.map((one) => etagOf(api, one)));
      await vary(api, scene, change);
      for (const [at, of] of about.entries()) {
        const again = await askAgain(api, located[at] as Located, before[at] ?? '');
        expect([change.name, of.name, again.status]).toEqual([change.name, of.name, 200]);
        expect(again.headers['etag']).not.toBe(before[at]);
      }
    }
  });
});

function listOf({ path }: Described): string {
  return path.replace(/\/\{\w+\}$/, '');
}

/**
 * Replaces an object with its example, or with a variation of the example: the first one that is accepted and changes
 * the object.
 */
async function vary(api: TestApi, scene: Scene, change: Described): Promise<void> {
  const { url } = await scene.locate(change);
  const before = await api.revision();
  const example = scene.exampleOf(change) ?? {};
  for (const body of [example, ...variations(example)]) {
    const { status } = await api.call('PUT', url, body);
    if (status === 200 && (await api.revision()) > before) return;
  }
  throw new Error(`${change.name}: no variation of the example is a change`);
}

/** Yields variations of a value, each with one part changed. */
function* variations(value: Json, name = ''): Generator<Json> {
  if (typeof value === 'boolean') yield !value;
  else if (typeof value === 'string' && ['name', 'description', 'prefix'].includes(name)) yield `${value} 2`;
  else if (typeof value === 'number') yield value + 1;
  else if (Array.isArray(value) && value.length > 0) yield [];
  else if (isObject(value))
    for (const [member, item] of Object.entries(value as JsonObject))
      for (const other of variations(item, member)) yield { ...(value as JsonObject), [member]: other };
}
