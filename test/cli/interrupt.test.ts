import { describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/client.ts';
import { sendPlan } from '../../src/cli/plan/sending.ts';
import { token } from '../api/setup.ts';
import { applyPath, losingProxy } from './losing-proxy.ts';
import { documents, groupsOf } from './one-group.ts';
import { serve } from './served.ts';

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
    await expect.poll(() => groupsOf(served)).toContain('impatient');
    await expect
      .poll(async () => (await served.heddle(['apply', id, '--auto-approve'])).note)
      .toMatch(/was applied already as revision \d+/);
  });
});

describe('a lost answer to apply', () => {
  it('is reported after all retries, with the command that shows the result', async () => {
    await using served = await serve();
    const folder = await documents('gone');
    await using proxy = await losingProxy(served.url, { path: applyPath, times: 99 });
    const plan = (await served.json('plan', folder, '--source-name', 'big')).document;
    const client = await connect({ server: proxy.url, token, dataDir: '/nowhere', configDir: undefined });
    const terminal = { note: () => {}, watched: false, onInterrupt: () => () => {} };
    const sent = sendPlan(terminal, client, plan, { strictBase: false, waits: [1, 1] });
    await expect(sent).rejects.toThrow(`\`heddle apply ${plan.id}\` applies it, or reports that it was applied.`);
    expect(proxy.lost()).toBe(3);
  });
});
