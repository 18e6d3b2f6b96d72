import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/client.ts';
import { sendPlan } from '../../src/cli/plan/sending.ts';
import { doc } from '../api/documents.ts';
import { token } from '../api/setup.ts';
import { launcherPath } from '../setup/bundle.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { losingProxy } from './losing-proxy.ts';
import { type Served, serve } from './served.ts';

const path = /\/plans\/\w+\/apply$/;

async function documents(name: string): Promise<string> {
  const folder = join(await temporaryDirectory(), name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), doc('Group', name, '{}'));
  return folder;
}

async function groupsOf({ api }: Served): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/api/groups');
  return body.map(({ name }: { readonly name: string }) => name).sort();
}

/** Starts an apply in a process of its own, with what it has written so far. */
async function startApply(served: Served, folder: string) {
  const env = { ...process.env, ...served.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, [launcherPath(), 'apply', folder, '--source-name', 'big', '--auto-approve'], {
    env,
  });
  const written = { out: '', note: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.note += text;
  });
  return { child, written };
}

describe('Ctrl-C while the server applies a plan (E149)', () => {
  it('does not stop the server, and the command says what became of it', async () => {
    await using served = await serve();
    const hold = await served.holdCommits();
    const { child, written } = await startApply(served, await documents('interrupted'));
    await hold.waited();
    child.kill('SIGINT');
    await expect.poll(() => written.note, { timeout: 30_000 }).toContain('cannot be stopped half-way');
    await hold.release();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(written.out).toMatch(/Applied as revision \d+\.\n$/);
    expect(await groupsOf(served)).toContain('interrupted');
  });

  it('stops waiting the second time, and says how to find out', async () => {
    await using served = await serve();
    const hold = await served.holdCommits();
    let interrupt = () => {};
    const onInterrupt = (listener: () => void) => {
      interrupt = listener;
      return () => {};
    };
    const folder = await documents('impatient');
    const running = served.heddle(['apply', folder, '--source-name', 'big', '--auto-approve', '--json'], {
      onInterrupt,
    });
    await hold.waited();
    interrupt();
    interrupt();
    const { code, out, note } = await running;
    expect([code, JSON.parse(out).error.message]).toEqual([1, expect.stringContaining('Stopped waiting; the plan is')]);
    const id = /`heddle apply (\w+)`/.exec(note)?.[1] ?? '';
    await hold.release();
    await expect.poll(() => groupsOf(served), { timeout: 30_000 }).toContain('impatient');
    await expect
      .poll(async () => (await served.heddle(['apply', id, '--auto-approve'])).note, { timeout: 30_000 })
      .toMatch(/was applied already as revision \d+/);
  });
});

describe('an answer that is lost', () => {
  it('is asked for again, and the plan is applied once', async () => {
    await using served = await serve();
    const folder = await documents('lost');
    await using proxy = await losingProxy(served.url, { path, times: 2 });
    const before = await served.api.revision();
    const { code, out } = await served.heddle([
      'apply',
      folder,
      '--source-name',
      'big',
      '--auto-approve',
      '--server',
      proxy.url,
    ]);
    expect([code, out, proxy.lost()]).toEqual([0, expect.stringContaining(`Applied as revision ${before + 1}.`), 2]);
    expect(await served.api.revision()).toBe(before + 1);
  });

  it.each([423, 503])('is like one that is %i and says to come again', async (status) => {
    await using served = await serve();
    const folder = await documents('again');
    await using proxy = await losingProxy(served.url, { path, times: 1, status });
    const { code, out } = await served.heddle([
      'apply',
      folder,
      '--source-name',
      'big',
      '--auto-approve',
      '--server',
      proxy.url,
    ]);
    expect([code, out, proxy.lost()]).toEqual([0, expect.stringContaining('Applied as revision'), 1]);
  });

  it('for good, is reported with the way to find out', async () => {
    await using served = await serve();
    const folder = await documents('gone');
    await using proxy = await losingProxy(served.url, { path, times: 99 });
    const plan = (await served.json('plan', folder, '--source-name', 'big')).document;
    const client = await connect({ server: proxy.url, token, dataDir: '/nowhere', configDir: undefined });
    const terminal = { note: () => {}, watched: false, onInterrupt: () => () => {} };
    const sent = sendPlan(terminal, client, plan, { strictBase: false, waits: [1, 1] });
    await expect(sent).rejects.toThrow(`\`heddle apply ${plan.id}\` applies it, or says that it was applied.`);
    expect(proxy.lost()).toBe(3);
  });
});
