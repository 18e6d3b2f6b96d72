import { expect, it } from 'vitest';
import { testApi } from '../api/setup.ts';
import { setupKey } from '../peering/machine.ts';
import { runHere } from './collect.ts';

it('plays machines that enrol, connect, and leave when they are stopped', async () => {
  await using api = await testApi();
  const base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const key = String((await setupKey(api))['key']);
  let stop = (): void => undefined;
  const onInterrupt = (listener: () => void) => {
    stop = listener;
    return () => undefined;
  };
  const argv = ['agent', 'simulate', '--setup-key', key, '--name', 'laptop,server', '--server', base];
  const running = runHere(argv, {}, { onInterrupt });
  const names = async () =>
    (await api.call('GET', '/api/peers')).body.map(({ hostname }: { readonly hostname: string }) => hostname).sort();
  await expect.poll(names).toEqual(['laptop', 'server']);
  stop();
  const { code, out } = await running;
  expect([code, out]).toEqual([0, expect.stringContaining('laptop is laptop.heddle.internal at ')]);
});
