import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { runHere } from './collect.ts';

let postgres: PostgresServer;
let server: ServedHeddle;

beforeAll(async () => {
  postgres = await startPostgres();
  const env = { HEDDLE_DATABASE_URL: postgres.url(), HEDDLE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
  server = await serveHeddle(['--data-dir', await temporaryDirectory()], { env });
});

afterAll(async () => {
  await server.stop();
  await postgres[Symbol.asyncDispose]();
});

describe('heddle health', () => {
  test('reports without a token that a server is ready', async () => {
    const { code, out } = await runHere(['health', '--server', server.url]);
    expect({ code, out }).toEqual({ code: 0, out: `The server at ${server.url} is ready.\n` });
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
  ])('checks the server that listens on %s at %s', async (listened, asked) => {
    const { port } = new URL(server.url);
    const { code, out } = await runHere(['health'], { HEDDLE_LISTEN: `${listened}:${port}` });
    expect({ code, out }).toEqual({ code: 0, out: `The server at http://${asked}:${port} is ready.\n` });
  });

  test('checks a server that listens on all IPv6 addresses at its loopback address', async () => {
    const { code, note } = await runHere(['health'], { HEDDLE_LISTEN: '[::]:1' });
    expect(code).toBe(1);
    expect(note).toContain('No server answers at http://[::1]:1 within 5 seconds.');
  });

  test('exits with 1 while the database is down, and with 0 when it is back', async () => {
    await postgres.stop();
    const { code, note } = await runHere(['health', '--server', server.url]);
    expect(code).toBe(1);
    expect(note).toContain(`The server at ${server.url} answers but is not ready (503).`);
    await postgres.start();
    await expect.poll(async () => (await runHere(['health', '--server', server.url])).code).toBe(0);
  });
});
