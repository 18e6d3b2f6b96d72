import Fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { sendInParts } from '../../src/api/answers/long-answers.ts';

/** Returns the answer to a request for a text, and the number of turns of the event loop while it was sent. */
async function receive(text: string) {
  const app = Fastify();
  onTestFinished(() => app.close());
  let [turns, isSending] = [0, false];
  const count = (): void => {
    turns += 1;
    if (isSending) setImmediate(count);
  };
  app.addHook('onSend', async () => {
    isSending = true;
    setImmediate(count);
  });
  app.addHook('onResponse', async () => {
    isSending = false;
  });
  sendInParts(app);
  app.get('/', async (_request, reply) => reply.type('text/plain').send(text));
  const { body, headers } = await app.inject('/');
  return { body, headers, turns };
}

it('a long text is sent in parts, between which other work runs', async () => {
  const text = 'größer 😀\n'.repeat(400_000);
  const { body, headers, turns } = await receive(text);
  expect(body === text).toBe(true);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
  // A part has 256 Ki characters.
  expect(turns).toBeGreaterThanOrEqual(Math.floor(text.length / (256 * 1024)));
});

it('a short text is sent as a whole', async () => {
  const { body, headers } = await receive('größer');
  expect(body).toBe('größer');
  expect(headers['transfer-encoding']).toBeUndefined();
  expect(Number(headers['content-length'])).toBe(8);
});
