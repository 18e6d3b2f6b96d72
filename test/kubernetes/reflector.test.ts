import { afterEach, describe, expect, test } from 'vitest';
import { type ClientOptions, createClient } from '../../src/kubernetes/client.ts';
import type { Connection } from '../../src/kubernetes/connection.ts';
import { createOutage } from '../../src/kubernetes/outage.ts';
import {
  type Reflector,
  type ReflectorState,
  type ResourceChange,
  startReflector,
} from '../../src/kubernetes/reflector.ts';
import { type Conversation, type ConversationServer, listOf, startConversation, statusOf } from './conversation.ts';

const path = '/apis/heddle.dev/v1/groups';
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function group(name: string, version: number, labels: Readonly<Record<string, string>> = {}) {
  const metadata = {
    name,
    namespace: 'team',
    uid: `uid-${name}`,
    resourceVersion: String(version),
    generation: 1,
    labels,
  };
  return { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata, spec: {} };
}

const bookmark = (version: number) => ({
  type: 'BOOKMARK',
  object: {
    kind: 'Group',
    apiVersion: 'heddle.dev/v1',
    metadata: { resourceVersion: String(version), creationTimestamp: null },
  },
});

function connectionTo(url: string): Connection {
  return {
    server: url,
    namespace: undefined,
    credentials: async () => ({ tls: {}, headers: { authorization: 'Bearer token' } }),
    discardCredentials: () => undefined,
  };
}

interface Followed {
  readonly server: ConversationServer;
  readonly reflector: Reflector;
  readonly changes: readonly string[];
  readonly states: readonly ReflectorState[];
  readonly errors: readonly unknown[];
}

async function follow(
  conversation: Conversation,
  onChange?: (change: ResourceChange) => void,
  patience: Pick<ClientOptions, 'quietMs'> = {},
): Promise<Followed> {
  const server = await startConversation(conversation);
  const connection = connectionTo(server.url);
  const client = createClient({ connection, fieldManager: 'heddle', pageSize: 2, ...patience });
  const [changes, states, errors]: [string[], ReflectorState[], unknown[]] = [[], [], []];
  const reflector = startReflector({
    client,
    path,
    onChange(change) {
      const { before, after } = change;
      changes.push(
        `${before === undefined ? '+' : after === undefined ? '-' : '~'} ${(after ?? before)?.metadata.name}`,
      );
      onChange?.(change);
    },
    onState: (state) => states.push(state),
    onError: (error) => errors.push(error),
    backoff: { firstMs: 5, maxMs: 20 },
  });
  opened.push(server, {
    async [Symbol.asyncDispose]() {
      await reflector.stop();
      client.close();
    },
  });
  return { server, reflector, changes, states, errors };
}

const watchesIn = ({ server }: Followed) => server.requests.filter((request) => request.includes('watch=true'));
const listsIn = ({ server }: Followed) => server.requests.filter((request) => !request.includes('watch=true'));

describe('a reflector', () => {
  test('lists page by page, and watches with bookmarks from the version of the list', async () => {
    const followed = await follow({
      [path]: { lists: [listOf([group('a', 1), group('b', 2)], '7', 'page-2'), listOf([group('c', 3)], '7')] },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(1);
    expect(followed.changes).toEqual(['+ a', '+ b', '+ c']);
    expect(followed.states).toEqual([{ state: 'synced' }]);
    expect(listsIn(followed)).toEqual([`GET ${path}?limit=2`, `GET ${path}?limit=2&continue=page-2`]);
    expect(watchesIn(followed)[0]).toMatch(/allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=\d{3}$/);
  });

  test('applies the events of a watch', async () => {
    const followed = await follow({ [path]: { lists: [listOf([group('a', 1)], '1')] } });
    await expect.poll(() => watchesIn(followed).length).toBe(1);
    followed.server.say(
      path,
      { type: 'ADDED', object: group('b', 2) },
      { type: 'MODIFIED', object: group('a', 3, { team: 'x' }) },
      { type: 'DELETED', object: group('b', 4) },
    );
    await expect.poll(() => followed.changes).toEqual(['+ a', '+ b', '~ a', '- b']);
    expect(followed.reflector.objects.get('team/a')?.metadata.labels).toEqual({ team: 'x' });
    expect(followed.reflector.objects.size).toBe(1);
  });

  test('resumes a watch that ended from the version of the last event or bookmark', async () => {
    const followed = await follow({
      [path]: {
        lists: [listOf([], '1')],
        watches: [
          { lines: [{ type: 'ADDED', object: group('a', 5) }], afterwards: 'end' },
          { lines: [bookmark(9)], afterwards: 'cut' },
          { afterwards: 'hold' },
        ],
      },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(3);
    const versions = watchesIn(followed).map((request) => /resourceVersion=(\d+)/.exec(request)?.[1]);
    expect(versions).toEqual(['1', '5', '9']);
    expect(listsIn(followed)).toHaveLength(1);
  });

  test.each([
    ['before the watch begins', { status: 410, body: statusOf(410, 'Expired', 'too old resource version') }],
    [
      'in place of an event',
      { lines: [{ type: 'ERROR', object: statusOf(410, 'Expired', 'too old') }], afterwards: 'end' },
    ],
  ] as const)(
    'lists again and removes only what is gone when its version has expired, reported %s (E138)',
    async (_, expired) => {
      const followed = await follow({
        [path]: {
          lists: [listOf([group('a', 1), group('b', 2)], '2'), listOf([group('a', 1), group('c', 8)], '9')],
          watches: [expired, { afterwards: 'hold' }],
        },
      });
      await expect.poll(() => watchesIn(followed).length).toBe(2);
      expect(followed.changes).toEqual(['+ a', '+ b', '- b', '+ c']);
      expect(followed.states).toEqual([{ state: 'synced' }]);
    },
  );

  test('does not treat a page as the whole list when the next page fails', async () => {
    const followed = await follow({
      [path]: {
        lists: [
          listOf([group('a', 1), group('b', 2)], '2'),
          listOf([group('a', 1)], '5', 'page-2'),
          { status: 410, body: statusOf(410, 'Expired', 'the continue token is too old') },
          listOf([group('a', 1), group('b', 2)], '6'),
        ],
        watches: [{ status: 410, body: statusOf(410, 'Gone', 'gone') }, { afterwards: 'hold' }],
      },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(followed.changes).toEqual(['+ a', '+ b']);
  });

  test('reports a failure with its reason, deletes nothing, and recovers (E145)', async () => {
    const refused = statusOf(403, 'Forbidden', 'groups.heddle.dev is forbidden');
    const followed = await follow({
      [path]: {
        lists: [listOf([group('a', 1)], '1'), { status: 403, body: refused }, listOf([group('a', 1)], '2')],
        watches: [{ status: 410, body: statusOf(410, 'Gone', 'gone') }, { afterwards: 'hold' }],
      },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(followed.states).toEqual([
      { state: 'synced' },
      { state: 'failing', reason: 'the API server answered 403: groups.heddle.dev is forbidden', status: 403 },
      { state: 'synced' },
    ]);
    expect(followed.changes).toEqual(['+ a']);
  });

  test('retries at once when another reflector of the same API server succeeds after an outage', async () => {
    const server = await startConversation({ [path]: { lists: [listOf([], '1')] } });
    let isDown = true;
    const reach = connectionTo(server.url);
    const connection = {
      ...reach,
      credentials: () => (isDown ? Promise.reject(new Error('connect ECONNREFUSED')) : reach.credentials()),
    };
    const client = createClient({ connection, fieldManager: 'heddle' });
    const outage = createOutage();
    const [anHour, soon] = [3_600_000, 5].map((most) => {
      const backoff = { firstMs: most, maxMs: most };
      const nothing = () => undefined;
      const followed = { client, path, backoff, outage, onChange: nothing, onState: nothing, onError: nothing };
      return startReflector(followed);
    });
    opened.push(server, {
      async [Symbol.asyncDispose]() {
        await Promise.all([anHour?.stop(), soon?.stop()]);
        client.close();
      },
    });
    await expect.poll(() => [anHour?.state.state, soon?.state.state]).toEqual(['failing', 'failing']);
    isDown = false;
    await expect.poll(() => [anHour?.state.state, soon?.state.state]).toEqual(['synced', 'synced']);
  });

  test('waits for the time in Retry-After when there are too many requests', async () => {
    const begun = performance.now();
    const followed = await follow({
      [path]: {
        lists: [{ status: 429, headers: { 'retry-after': '1' }, body: 'storage is (re)initializing' }, listOf([], '1')],
      },
    });
    await expect.poll(() => followed.reflector.state.state).toBe('synced');
    expect(performance.now() - begun).toBeGreaterThan(900);
  });

  test('ends a watch at a line that does not parse, and resumes from the event before it', async () => {
    const followed = await follow({
      [path]: {
        lists: [listOf([], '1')],
        watches: [
          {
            lines: [
              { type: 'ADDED', object: group('a', 4) },
              '{"type":"ADDED","object"\n',
              { type: 'ADDED', object: group('x', 5) },
            ],
          },
          { afterwards: 'hold' },
        ],
      },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(watchesIn(followed)[1]).toContain('resourceVersion=4');
    expect(followed.changes).toEqual(['+ a']);
  });

  test('resumes a watch after its connection was reset', async () => {
    const followed = await follow({
      [path]: { lists: [listOf([], '1')] },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(1);
    followed.server.say(path, { type: 'ADDED', object: group('a', 4) });
    await expect.poll(() => followed.changes).toEqual(['+ a']);
    followed.server.reset(path);
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(followed.states).toEqual([{ state: 'synced' }]);
    expect(listsIn(followed)).toHaveLength(1);
  });

  test('ignores an incomplete event of a connection that was cut', async () => {
    const followed = await follow({
      [path]: {
        lists: [listOf([], '1')],
        watches: [
          { lines: [JSON.stringify({ type: 'ADDED', object: group('a', 4) })], afterwards: 'end' },
          { afterwards: 'hold' },
        ],
      },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(followed.changes).toEqual([]);
  });

  test('reports an exception of a handler and continues', async () => {
    const fault = new Error('a fault of the handler');
    const followed = await follow({ [path]: { lists: [listOf([group('a', 1), group('b', 2)], '2')] } }, ({ after }) => {
      if (after?.metadata.name === 'a') throw fault;
    });
    await expect.poll(() => watchesIn(followed).length).toBe(1);
    expect(followed.errors).toEqual([fault]);
    expect(followed.reflector.objects.size).toBe(2);
  });

  test('keeps its objects and its version when the API server briefly answers 429', async () => {
    const busy = { status: 429, headers: { 'retry-after': '0' }, body: statusOf(429, 'TooManyRequests', 'later') };
    const followed = await follow({
      [path]: { lists: [listOf([group('a', 1)], '1')], watches: [busy, { afterwards: 'hold' }] },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(2);
    expect(followed.states).toEqual([{ state: 'synced' }]);
    expect(listsIn(followed)).toEqual([`GET ${path}?limit=2`, `GET ${path}?limit=1`]);
  });

  test('lists again when a busy API server is behind the version it returned before', async () => {
    const busy = { status: 429, headers: { 'retry-after': '0' }, body: statusOf(429, 'TooManyRequests', 'later') };
    const followed = await follow({
      [path]: {
        lists: [listOf([group('a', 900)], '900'), listOf([group('b', 7)], '12')],
        watches: [busy, { afterwards: 'hold' }],
      },
    });
    await expect.poll(() => followed.changes).toEqual(['+ a', '- a', '+ b']);
  });

  test('restarts a watch that was silent for long, from its version', async () => {
    const followed = await follow({ [path]: { lists: [listOf([], '1')] } }, undefined, { quietMs: 50 });
    await expect.poll(() => watchesIn(followed).length).toBeGreaterThan(1);
    expect(watchesIn(followed)[1]).toContain('resourceVersion=1');
    expect(listsIn(followed)).toHaveLength(1);
  });

  test('stops at once, also while a list gets no answer', async () => {
    const followed = await follow({ [path]: { lists: [{ afterwards: 'hold' }] } });
    await expect.poll(() => listsIn(followed).length).toBe(1);
    const begun = performance.now();
    await followed.reflector.stop();
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  test('lists again after an outage of the API server, as its store may have been restored', async () => {
    const followed = await follow({
      [path]: { lists: [listOf([group('a', 900)], '900'), listOf([group('b', 7)], '12')] },
    });
    await expect.poll(() => watchesIn(followed).length).toBe(1);
    const { port } = new URL(followed.server.url);
    await followed.server.leave();
    await expect.poll(() => followed.reflector.state.state).toBe('failing');
    await followed.server.comeBack(Number(port));
    await expect.poll(() => followed.changes).toEqual(['+ a', '- a', '+ b']);
  });

  test('lists again when the API server refuses its version as too large, as after a restore from a backup', async () => {
    const tooLarge = { status: 504, body: statusOf(504, 'Timeout', 'Too large resource version: 900, current: 12') };
    const followed = await follow({
      [path]: {
        lists: [listOf([group('a', 900)], '900'), listOf([group('a', 7)], '12')],
        watches: [tooLarge, tooLarge, tooLarge, { afterwards: 'hold' }],
      },
    });
    await expect.poll(() => followed.changes).toEqual(['+ a', '~ a']);
  });
});
