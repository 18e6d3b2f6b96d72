import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { implement } from '../../src/api/operations/implement.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { defineOperation } from '../../src/model/operation/operation.ts';
import { string } from '../../src/model/schema/field.ts';

const facts = { method: 'GET', access: { open: 'a test' }, summary: 'A test.', example: {} } as const;
const area = {
  text: defineOperation({ ...facts, id: 'text', path: '/text', answer: string({ doc: 'A text.' }) }),
  stream: defineOperation({ ...facts, id: 'stream', path: '/stream', answer: string({ doc: 'A text.' }) }),
};

const lines: string[] = [];
const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } });

beforeEach(async () => {
  lines.length = 0;
  if (app.hasRoute({ method: 'GET', url: '/text' })) return;
  const routes = implement(area, () => ({
    text: async ({ reply }) => reply.send('sent by the handler'),
    stream: async ({ reply }) => reply.send(Readable.from(['sent ', 'in parts'])),
  }));
  // Neither handler uses the engine or the options.
  await routes.add(app, {} as Engine, {} as Parameters<typeof routes.add>[2]);
});

afterEach(() => expect(lines).toEqual([]));

test.each([
  ['/text', 'sent by the handler'],
  ['/stream', 'sent in parts'],
])('an answer that the handler of %s sends itself is sent once', async (url, body) => {
  expect((await app.inject(url)).body).toBe(body);
});
