import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { apiOn, type TestApi, token } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';
import { serverProcess } from '../setup/server-process.ts';
import { openCuttingProxy } from './cutting-proxy.ts';

/** For how long a server that says nothing more may keep others from writing, in milliseconds. */
const mostMs = 15_000;

it('a server that is stopped, or behind a network that swallows everything, blocks writes for 15 s at most and reads never', async () => {
  // Side by side, since all of them wait.
  await Promise.all([stopped(), behindDark('both'), behindDark('gone')]);
});

async function stopped(): Promise<void> {
  const made = await testDatabase('postgres');
  await using api = await apiOn(made.database, () => made[Symbol.asyncDispose]());
  const holder = fork(new URL('./holder.ts', import.meta.url), [made.url ?? '', api.account], serverProcess());
  await once(holder, 'message');
  holder.kill('SIGSTOP');
  try {
    await expectSoonFree(api);
  } finally {
    await end(holder);
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** The network goes while an account is held; `gone`: so does the host, whose process never hears of it. */
async function behindDark(what: 'both' | 'gone'): Promise<void> {
  const made = await testDatabase('postgres');
  await using api = await apiOn(made.database, () => made[Symbol.asyncDispose]());
  await using proxy = await openCuttingProxy(made.url ?? '', Math.random);
  const other = await openDatabase({ url: proxy.url, poolSize: 1, silenceMs: 2000 });
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: holds } = Promise.withResolvers<void>();
  const holding = other.holding(api.account, async () => {
    holds();
    await gate;
  });
  await held;
  proxy.set('dark');
  const failed = expect(holding).rejects.toThrow('The database cannot be reached');
  await expectSoonFree(api);
  if (what === 'both') proxy.set('clear');
  release();
  await failed;
  await other.close();
}

/** Writes until that goes through, and reads meanwhile. */
async function expectSoonFree(api: TestApi): Promise<void> {
  const begun = performance.now();
  const statuses: number[] = [];
  while (statuses.at(-1) !== 200) {
    const [written, read] = await Promise.all([
      api.call('POST', '/api/groups', { name: 'devs' }),
      api.call('GET', '/api/users/current', undefined, { authorization: `Token ${token}` }),
    ]);
    expect(read.status).toBe(200);
    statuses.push(written.status);
  }
  expect(performance.now() - begun).toBeLessThan(mostMs);
  expect(statuses.slice(0, -1).every((status) => status === 423)).toBe(true);
}
