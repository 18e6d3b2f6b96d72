import { expect, it } from 'vitest';
import { testApi } from '../api/setup.ts';
import { runHere } from './collect.ts';

it('plays a proxy that is registered, serves, reports, and goes when it is stopped', async () => {
  await using api = await testApi();
  const base = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const made = await api.call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'played' });
  let stop = (): void => undefined;
  const onInterrupt = (listener: () => void) => {
    stop = listener;
    return () => undefined;
  };
  const line = ['proxy', 'simulate', '--address', 'play.example.com', '--custom-ports', '--requests', '3'];
  const argv = [...line, '--server', base, '--token', made.body.plain_token];
  const running = runHere(argv, {}, { onInterrupt });
  const cluster = async () => (await api.call('GET', '/api/reverse-proxies/clusters')).body[0];
  await expect
    .poll(cluster, { timeout: 20_000 })
    .toMatchObject({ address: 'play.example.com', online: true, supports_custom_ports: true });
  const body = { name: 'App', domain: 'app.play.example.com', enabled: true };
  const { id } = (await api.call('POST', '/api/reverse-proxies/services', body)).body;
  const status = async () => (await api.call('GET', `/api/reverse-proxies/services/${id}`)).body.meta.status;
  await expect.poll(status).toBe('active');
  const total = async () => (await api.call('GET', '/api/events/proxy?host=app.play.example.com')).body.total_records;
  await expect.poll(total).toBe(3);
  stop();
  expect((await running).code).toBe(0);
  expect(await cluster()).toMatchObject({ online: false, connected_proxies: 0 });
});
