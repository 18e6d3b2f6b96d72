import { expect, it } from 'vitest';
import { type Served, sharedServer } from './served.ts';

const server = sharedServer();

/** Runs `heddle proxy simulate` until it is stopped. */
function play(argv: readonly string[]) {
  let stop = (): void => undefined;
  const onInterrupt = (listener: () => void) => {
    stop = listener;
    return () => undefined;
  };
  const running = server().heddle(['proxy', 'simulate', ...argv], { onInterrupt });
  return {
    async stop() {
      stop();
      return await running;
    },
  };
}

const call: Served['api']['call'] = (...request) => server().api.call(...request);
const cluster = async (address: string) =>
  (await call('GET', '/api/reverse-proxies/clusters')).body.find((one: { address: string }) => one.address === address);
const tokens = async () => (await server().json('proxy', 'token', 'list')).document.tokens;

it('heddle proxy simulate registers a proxy, serves, reports requests, and disconnects when stopped', async () => {
  const made = await server().heddle(['proxy', 'token', 'create', 'played']);
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^nbx_\S+\n$/) });
  const line = ['--address', 'play.example.com', '--custom-ports', '--requests', '3', '--name', 'one'];
  const played = play([...line, '--token', made.out.trim()]);
  await expect.poll(() => cluster('play.example.com')).toMatchObject({ online: true, supports_custom_ports: true });
  const body = { name: 'App', domain: 'app.play.example.com', enabled: true };
  const { id } = (await call('POST', '/api/reverse-proxies/services', body)).body;
  const status = async () => (await call('GET', `/api/reverse-proxies/services/${id}`)).body.meta.status;
  await expect.poll(status).toBe('active');
  const total = async () => (await call('GET', '/api/events/proxy?host=app.play.example.com')).body.total_records;
  await expect.poll(total).toBe(3);
  expect((await played.stop()).code).toBe(0);
  expect(await cluster('play.example.com')).toMatchObject({ online: false, connected_proxies: 0 });

  const [{ name, last_used }] = await tokens();
  expect([name, typeof last_used]).toEqual(['played', 'string']);
  const { out } = await server().heddle(['proxy', 'token', 'list']);
  expect([out, out.includes(made.out.trim())]).toEqual([expect.stringMatching(/^TOKEN +NAME.*\n\S+ +played /), false]);
  expect((await server().heddle(['proxy', 'token', 'revoke', 'played'])).code).toBe(1);
  const confirm = async () => true;
  const revoked = await server().heddle(['proxy', 'token', 'revoke', 'played'], { interactive: true, confirm });
  expect(revoked).toMatchObject({ code: 0, out: expect.stringContaining('Revoked the token played (') });
  expect(await tokens()).toEqual([]);
});

it('heddle proxy simulate without --token creates a token and deletes it at the end', async () => {
  const played = play(['--address', 'own.example.com', '--name', 'two']);
  await expect.poll(() => cluster('own.example.com')).toMatchObject({ online: true });
  expect(await tokens()).toMatchObject([{ name: 'two (simulated)', expires_at: expect.any(String) }]);
  expect(await played.stop()).toMatchObject({ code: 0, out: expect.stringContaining('two is gone') });
  expect(await tokens()).toEqual([]);
});

it('heddle proxy token revoke lists the ids of an ambiguous name, and suggests a name for a misspelt one', async () => {
  for (const _ of ['first', 'second']) await server().heddle(['proxy', 'token', 'create', 'twin']);
  const revoke = (word: string) => server().heddle(['proxy', 'token', 'revoke', word, '--auto-approve']);
  const [first, second] = await tokens();
  expect((await revoke('twin')).note).toContain(`write the id of the one you mean: ${first.id}, ${second.id}.`);
  expect((await revoke('twni')).note).toContain('did you mean twin?');
  for (const { id } of await tokens()) expect((await revoke(id)).code).toBe(0);
  expect((await server().heddle(['proxy', 'simulate'])).note).toContain('give --address');
});
