import { EventSourceParserStream } from 'eventsource-parser/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { recordEvents } from '../../src/db/logs/events.ts';
import type { AuditEvent } from '../../src/model/declare/kind.ts';
import { createObject } from '../../src/objects/objects.ts';
import { testDatabase } from '../setup/database.ts';
import { callAs, person } from './people.ts';
import { apiOn, type TestApi, token } from './setup.ts';

let api: TestApi;
let base: string;
let url: string;

beforeAll(async () => {
  const made = await testDatabase('postgres');
  url = made.url ?? '';
  api = await apiOn(made.database, () => made[Symbol.asyncDispose]());
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => api[Symbol.asyncDispose]());

interface Reported {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Opens an event stream. `take` waits until this number of events has arrived. */
async function follow(query = '', headers: Readonly<Record<string, string>> = {}) {
  const ended = new AbortController();
  const response = await fetch(`${base}/api/config/events${query}`, {
    headers: { authorization: `Token ${token}`, ...headers },
    signal: ended.signal,
  });
  const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events?.getReader();
  const reported: Reported[] = [];
  const read = async (): Promise<boolean> => {
    const { value } = (await reader?.read()) ?? {};
    if (value?.id !== undefined)
      reported.push({ id: value.id, event: value.event ?? '', data: JSON.parse(value.data) });
    return value !== undefined;
  };
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    async take(count: number): Promise<readonly Reported[]> {
      while (reported.length < count) if (!(await read())) break;
      return reported.splice(0, count);
    },
    [Symbol.dispose]: () => ended.abort(),
  };
}

const positionOf = ({ id }: Reported) => id.split(':').map(Number);

const owner = { type: 'user', id: 'owner', name: 'Owner', granted: 'owner' } as const;

describe('GET /api/config/events', () => {
  test('sends the changes of a revision in their order and then the revision (E119)', async () => {
    using stream = await follow();
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await api.group('streamed');
    const [change, revision] = await stream.take(2);
    expect(change).toMatchObject({ event: 'change', data: { action: 'create', kind: 'Group', name: 'streamed' } });
    expect(revision).toMatchObject({ event: 'revision', data: { counts: { create: 1 } } });
    expect(positionOf(change as Reported)[0]).toBe(await api.revision());
  });

  test('resumes after the last seen event, given in Last-Event-ID or in `after`', async () => {
    using first = await follow();
    await api.group('before');
    const [, seen] = await first.take(2);
    await api.group('after');
    const begins = { event: 'change', data: { name: 'after' } };
    using again = await follow('', { 'last-event-id': (seen as Reported).id });
    expect((await again.take(1))[0]).toMatchObject(begins);
    using asked = await follow(`?after=${(seen as Reported).id}`);
    expect((await asked.take(1))[0]).toMatchObject(begins);
  });

  test('has positions that only increase, even with notices in between', async () => {
    using stream = await follow();
    await api.group('one');
    const at = api.engine.now();
    const notice: AuditEvent = { code: 'config.plan.approved', meta: { digest: 'd' } };
    await recordEvents(api.engine.database, api.account, { actor: owner, at, events: [notice] });
    await api.group('two');
    const reported = await stream.take(5);
    expect(reported.map(({ event }) => event)).toEqual(['change', 'revision', 'notice', 'change', 'revision']);
    expect(reported[2]?.data).toMatchObject({
      code: 'config.plan.approved',
      initiator: 'owner',
      meta: { digest: 'd' },
    });
    const positions = reported.map(positionOf);
    const sorted = [...positions].sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);
    expect(positions).toEqual(sorted);
  });

  test('sends changes made by another server', async () => {
    using stream = await follow();
    const database: Database = await openDatabase({ url });
    try {
      const other = createEngine({ database });
      const call = { account: api.account, actor: owner, revision: 0 };
      await createObject(other, call, other.registry.get('Group'), { name: 'elsewhere' }, { strict: true });
    } finally {
      await database.close();
    }
    expect((await stream.take(1))[0]).toMatchObject({ event: 'change', data: { name: 'elsewhere' } });
  });

  test('sends no values, which might be secrets: only the paths of changed units', async () => {
    const id = await api.group('renamed');
    using stream = await follow();
    await api.call('PUT', `/api/groups/${id}`, { name: 'renamed-again', peers: [] });
    const [change] = await stream.take(1);
    expect(change?.data).toMatchObject({ action: 'update', paths: ['name'] });
  });

  test('sends only kinds that the reader may read, and ends when the reader is blocked', async () => {
    const made = (await api.call('POST', '/api/users', person({ role: 'network_admin' }))).body;
    const token = (
      await (
        await callAs(api, made.id)
      )('POST', `/api/users/${made.id}/tokens`, { name: 't', expires_in: 1 })
    ).body;
    using stream = await follow('', { authorization: `Token ${token.plain_token}` });
    const channel = { type: 'email', target: { emails: ['a@example.com'] }, event_types: [], enabled: true };
    expect((await api.call('POST', '/api/integrations/notifications/channels', channel)).status).toBe(200);
    await api.group('seen');
    const reported = await stream.take(3);
    expect(reported.map(({ event, data }) => data['kind'] ?? event)).toEqual(['revision', 'Group', 'revision']);
    const blocked = { role: 'network_admin', auto_groups: [], is_blocked: true };
    expect((await api.call('PUT', `/api/users/${made.id}`, blocked)).status).toBe(200);
    await api.group('unseen');
    // The stream ends without further events.
    expect(await stream.take(1)).toEqual([]);
  });

  test('refuses an invalid position, and one that is no longer in the history', async () => {
    const wrong = await api.call('GET', '/api/config/events?after=yesterday');
    expect([wrong.status, wrong.body.message]).toEqual([422, expect.stringContaining('such as 12:3')]);
    await api.engine.database.asOwner([
      'delete from changes where revision < 3',
      'delete from revisions where revision < 3',
    ]);
    const old = await api.call('GET', '/api/config/events?after=1:0');
    expect([old.status, old.body.message]).toEqual([
      410,
      expect.stringContaining('events can be followed from 2:999999'),
    ]);
    expect((await api.call('GET', '/api/config/events?after=1:999999')).status).toBe(410);
  });

  test('requires credentials', async () => {
    expect((await fetch(`${base}/api/config/events`)).status).toBe(401);
  });

  test('ends when the server stops, so that stopping does not wait for readers', async () => {
    const made = await testDatabase('postgres');
    const own = await apiOn(made.database, () => made[Symbol.asyncDispose]());
    const address = await own.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${address}/api/config/events`, { headers: { authorization: `Token ${token}` } });
    await own[Symbol.asyncDispose]();
    const text = await response.text();
    expect(text).toBe('retry: 2000\n\n');
  });
});
