import { describe, expect, it } from 'vitest';
import { applyPath, losingProxy } from './losing-proxy.ts';
import { documents } from './one-group.ts';
import { serve } from './served.ts';

describe('a lost answer to apply', () => {
  it('is retried, and the plan is applied once', async () => {
    await using served = await serve();
    const folder = await documents('lost');
    await using proxy = await losingProxy(served.url, { path: applyPath, times: 2 });
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
    await using proxy = await losingProxy(served.url, { path: applyPath, times: 1, status });
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
});
