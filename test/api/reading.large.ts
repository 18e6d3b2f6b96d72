import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { group } from '../documents/sample.ts';
import { testApi, token } from './setup.ts';

it('documents of a disconnected client are not read further, and do not delay the next ones of the account', async () => {
  await using own = await testApi('postgres');
  const url = `${await own.app.listen({ host: '127.0.0.1', port: 0 })}/api/config/validate`;
  const send = async (
    text: string,
    signal?: AbortSignal,
  ): Promise<{ readonly status: number; readonly ms: number }> => {
    const start = performance.now();
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ source: 'team', files: [{ path: 'a.yaml', text }] });
    const response = await fetch(url, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
    await response.text();
    return { status: response.status, ms: performance.now() - start };
  };
  let taken = 0;
  own.app.server.on('request', (request: IncomingMessage) =>
    request.on('end', () => {
      taken += 1;
    }),
  );
  const large = (at: number) => `apiVersion: heddle.dev/v1\nkind: Group\nx: [${'0,'.repeat(240_000 + at)}]`;
  const whole = await send(large(1));
  expect(whole.status).toBe(422);
  const abort = new AbortController();
  const gone = Promise.all([2, 3, 4, 5].map((at) => expect(send(large(at), abort.signal)).rejects.toThrow('gone')));
  await expect.poll(() => taken).toBe(5);
  abort.abort(new Error('gone'));
  await gone;
  const next = await send(`# ${'-'.repeat(70_000)}\n${group('a')}`);
  expect(next.status).toBe(200);
  expect(next.ms).toBeLessThan(2 * whole.ms);
});
