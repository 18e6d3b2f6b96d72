import { expect, it, onTestFinished, vi } from 'vitest';
import { createNoticeBoard, type Notice } from '../../src/commit/notices.ts';
import { openNotices } from '../../src/db/notices.ts';
import { openCuttingProxy } from '../faults/cutting-proxy.ts';
import { testDatabase } from '../setup/database.ts';
import { onServer } from '../setup/sql.ts';

/** Opens the notices of one server, records those that arrive, and counts the reports of possibly missed notices. */
function server(url: string) {
  const heard: Notice[] = [];
  const state = { missed: 0 };
  const board = createNoticeBoard((key, message) => connection.notify(key, message));
  const connection = openNotices({
    url,
    onMessage: (message) => board.receive(message),
    onMissed: () => board.reportMissed(),
  });
  board.on((notice) => heard.push(notice));
  board.onMissed(() => {
    state.missed += 1;
  });
  onTestFinished(() => connection.close());
  return { board, heard, state, connection, ready: () => expect.poll(() => state.missed).toBeGreaterThan(0) };
}

async function database(): Promise<string> {
  const made = await testDatabase('postgres');
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made.url ?? '';
}

const revision = (number: number): Notice => ({ what: 'revision', account: 'a', revision: number });

it('a notice is received once and at once by its own server, and soon by every other server', async () => {
  const url = await database();
  const [one, two, three] = [server(url), server(url), server(url)];
  for (const each of [one, two, three]) await each.ready();
  one.board.publish(revision(1));
  one.board.publish({ what: 'sources', account: 'a' });
  expect(one.heard).toHaveLength(2);
  for (const { heard } of [two, three])
    await expect.poll(() => heard).toEqual([revision(1), { what: 'sources', account: 'a' }]);
  // A server's own notices would arrive before this later one.
  two.board.publish(revision(2));
  await expect.poll(() => one.heard.at(-1)).toEqual(revision(2));
  expect(one.heard).toHaveLength(3);
});

it('of a thousand revision notices the newest arrives, in fewer than 20 messages', async () => {
  const url = await database();
  const [one, two] = [server(url), server(url)];
  for (const each of [one, two]) await each.ready();
  for (let at = 1; at <= 1000; at += 1) one.board.publish(revision(at));
  await expect.poll(() => two.heard.at(-1)).toEqual(revision(1000));
  expect(two.heard.length).toBeLessThan(20);
});

it('notices of a busy server are sent every 25 ms, the first one after 5 ms', async () => {
  const url = await database();
  const [one, two] = [server(url), server(url)];
  for (const each of [one, two]) await each.ready();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  // `expect.poll` would advance the timers.
  const arrival = () => new Promise((resolve) => two.board.on(resolve));
  const first = arrival();
  one.board.publish(revision(1));
  vi.advanceTimersByTime(5);
  await first;
  one.board.publish(revision(2));
  vi.advanceTimersByTime(24);
  const second = arrival();
  one.board.publish(revision(3));
  vi.advanceTimersByTime(1);
  await second;
  expect(two.heard).toEqual([revision(1), revision(3)]);
});

it('a broken notice connection is reopened, and listeners are called as notices may have been missed', async () => {
  const url = await database();
  const [one, two] = [server(url), server(url)];
  for (const each of [one, two]) await each.ready();
  await onServer(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heddle notices' and datname = current_database()",
  );
  for (const { state } of [one, two]) await expect.poll(() => state.missed).toBe(2);
  one.board.publish(revision(7));
  await expect.poll(() => two.heard).toEqual([revision(7)]);
});

it('a notice connection to a database that does not answer is closed nevertheless', async () => {
  await using proxy = await openCuttingProxy(await database(), Math.random);
  const one = server(proxy.url);
  await one.ready();
  proxy.set('dark');
  one.board.publish(revision(1));
  await one.connection.close();
});

it('an unknown notice of a newer program is ignored, and a connection can be closed while it connects', async () => {
  const board = createNoticeBoard();
  const heard: Notice[] = [];
  board.on((notice) => heard.push(notice));
  for (const message of ['', 'x a', 'r a', 'r a b', 'z a 1 2']) board.receive(message);
  expect(heard).toEqual([]);
  await server(await database()).connection.close();
});
