import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHere } from './collect.ts';

// Tests the messages of commands when another program, or another release of Heddle, answers at the server's address.
let answered = { type: 'text/html', body: '' };
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': answered.type }).end(answered.body);
});
let url = '';

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The cast is safe: the server listens on a port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

async function heddle(...argv: readonly string[]) {
  const { code, note, out } = await runHere(argv, { HEDDLE_SERVER: url, HEDDLE_TOKEN: 'nbp_x' });
  return { code, out, note: note.replaceAll(url, 'URL') };
}

const wayOut =
  'which this program cannot read; name a Heddle server with --server, and use the version of heddle that matches it.';

it.each([
  { argv: ['status'], id: 'readStatus' },
  { argv: ['sources'], id: 'listSources' },
  { argv: ['reconcile', 'office'], id: 'listSources' },
  { argv: ['history'], id: 'listRevisions' },
  { argv: ['history', '7'], id: 'readRevision' },
  { argv: ['drift'], id: 'readDrift' },
  { argv: ['test'], id: 'readTests' },
  { argv: ['proxy', 'token', 'list'], id: 'listProxyTokens' },
])('heddle $argv names the server that answers with an HTML page', async ({ argv, id }) => {
  answered = { type: 'text/html', body: '<html>Welcome</html>' };
  expect(await heddle(...argv)).toEqual({
    ...{ code: 1, out: '' },
    note: `error: URL answered ${id} with no JSON, ${wayOut}\n`,
  });
});

it('the error names the member of an answer that does not match', async () => {
  const source = { id: 'office', type: 'git', suspended: false, generation: 1, objects: 'many', status: {} };
  answered = { type: 'application/json', body: JSON.stringify([source]) };
  expect((await heddle('sources')).note).toBe(
    `error: URL answered listSources with something else at /0/objects, ${wayOut}\n`,
  );
  answered = { type: 'application/json', body: '{}' };
  expect((await heddle('sources')).note).toBe(`error: URL answered listSources with something else, ${wayOut}\n`);
});
