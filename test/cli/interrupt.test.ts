import { describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/client.ts';
import { sendPlan } from '../../src/cli/plan/sending.ts';
import { token } from '../api/setup.ts';
import { losingProxy } from './losing-proxy.ts';
import { documents, groupsOf } from './one-group.ts';
import { serve } from './served.ts';

const path = /\/plans\/\w+\/apply$/;

describe('Ctrl-C while the server applies a plan (E149)', () => {
  it('stops waiting the second time, and states how to check the result', async () => {
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

describe('a lost answer to apply', () => {
  it('is retried, and the plan is applied once', async () => {
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

  it.each([423, 503])('is retried like a %i that asks to retry', async (status) => {
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

  it('is reported after all retries, with the command that shows the result', async () => {
    await using served = await serve();
    const folder = await documents('gone');
    await using proxy = await losingProxy(served.url, { path, times: 99 });
    const plan = (await served.json('plan', folder, '--source-name', 'big')).document;
    const client = await connect({ server: proxy.url, token, dataDir: '/nowhere', configDir: undefined });
    const terminal = { note: () => {}, watched: false, onInterrupt: () => () => {} };
    const sent = sendPlan(terminal, client, plan, { strictBase: false, waits: [1, 1] });
    await expect(sent).rejects.toThrow(`\`heddle apply ${plan.id}\` applies it, or reports that it was applied.`);
    expect(proxy.lost()).toBe(3);
  });
});
