import { createHash } from 'node:crypto';
import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { runHeddle, type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

let dataDir: string;
let source: string;

beforeEach(async () => {
  const directory = await temporaryDirectory();
  dataDir = join(directory, 'data');
  source = join(directory, 'quickstart');
  await cp(quickstart, source, { recursive: true });
});

const serve = () => serveHeddle(['--data-dir', dataDir, '--source', source]);

/** Starts a server on a copy of an existing database, because creating a database takes most of a first start. */
async function serveMade(flags = ['--source', source]): Promise<ServedHeddle> {
  await copyEmbedded(dataDir);
  return serveHeddle(['--data-dir', dataDir, ...flags]);
}

it('a second start leaves every table unchanged except leases', async () => {
  const first = await serveMade();
  await first.line(/documents, revision/);
  expect(await first.stop()).toBe(0);
  const before = await hashTables();
  const second = await serve();
  await second.line(/documents, nothing to do/);
  expect(await second.stop()).toBe(0);
  expect(await hashTables()).toEqual(before);
});

it('one line edited in a watched file changes one object in one revision, and one log line names file, object and field', async () => {
  await using server = await serveMade();
  await server.line(/documents, revision/);
  const from = server.lines.length;
  const [newest] = await revisions(server);
  await replaceIn('routes.yaml', 'metric: 100', 'metric: 200');
  const summary = await server.line(/source quickstart: .*revision/, from);
  expect(summary).toMatch(/0 created, 1 changed, 0 deleted/);
  const reported = server.lines.slice(from).filter((line) => line.includes('metric'));
  expect(reported).toHaveLength(1);
  expect(reported[0]).toMatch(/Route office: .*metric.*100.*200.*routes\.yaml/);
  const after = await revisions(server);
  expect(after[0]?.revision).toBe((newest?.revision ?? 0) + 1);
  const shown = await ask(server, `/api/config/revisions/${after[0]?.revision}`);
  expect(shown.changes).toMatchObject([{ action: 'update', kind: 'Route', key: 'office' }]);
});

it('a source with a missing directory is unavailable and deletes nothing, until the directory is back', async () => {
  await using server = await serveMade();
  await server.line(/documents, revision/);
  const count = (await ask(server, '/api/groups')).length;
  await rename(source, `${source}.away`);
  await server.line(/source quickstart is unavailable/);
  expect(await ask(server, '/api/groups')).toHaveLength(count);
  expect((await ask(server, '/api/config/sources'))[0].status.state).toBe('unavailable');
  const from = server.lines.length;
  await rename(`${source}.away`, source);
  await server.line(/documents, nothing to do/, from);
  expect((await ask(server, '/api/config/sources'))[0].status.state).toBe('applied');
  expect(await ask(server, '/api/groups')).toHaveLength(count);
  expect(server.lines.slice(from).filter((line) => / deleted: /.test(line))).toEqual([]);
});

it('a start with a data directory that another server uses is refused with one sentence', async () => {
  await using server = await serveMade();
  const second = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir]);
  expect(second.code).toBe(1);
  expect(second.err + second.out).toContain('is in use by another Heddle');
  expect(second.err).not.toMatch(/\n\s+at /);
  expect((await ask(server, '/api/groups')).length).toBeGreaterThan(0);
});

it('after kill -9, the next server of the data directory does not wait for the leases of the killed one', async () => {
  const killed = await serveMade();
  await killed.line(/documents, revision/);
  expect(await killed.stop('SIGKILL')).toBe('SIGKILL');
  const database = await openDatabase({ dataDir });
  // Longer than the test runs.
  const text = "update leases set until = now() + interval '1 hour' where until > now() returning name";
  const held = await database.lookUp(statement<{ readonly name: string }>(text, []));
  await database.close();
  expect(held.map(({ name }) => name).join()).toContain('quickstart');
  await using server = await serve();
  await server.line(/documents, nothing to do/);
});

it('on SIGTERM the server completes a request under way and exits with 0 within the grace period', async () => {
  await using server = await serveMade();
  const part = await sendPart(server, '{"name":"Almost late"}');
  const stopping = server.stop('SIGTERM');
  await server.line(/SIGTERM: stopping/);
  await expect.poll(() => refusesConnections(server)).toBe(true);
  const answer = await part.finish();
  expect(answer).toMatch(/^HTTP\/1\.1 200/);
  expect(await stopping).toBe(0);
  expect(server.lines.at(-1)).toMatch(/stopped$/);
});

it('on SIGTERM the server does not wait longer than the grace period', async () => {
  await using server = await serveMade(['--shutdown-grace', '1s']);
  await sendPart(server, '{"name":"Too late"}');
  // The request never ends, so a server that waited for it would never exit.
  expect(await server.stop('SIGTERM')).toBe(0);
});

async function token(): Promise<string> {
  return (await readFile(join(dataDir, 'token'), 'utf8')).trim();
}

// Tests look into answers member by member; a wrong member is `undefined` and fails the test.
// biome-ignore lint/suspicious/noExplicitAny: see above.
async function ask(server: ServedHeddle, path: string): Promise<any> {
  const response = await fetch(server.url + path, { headers: { authorization: `Token ${await token()}` } });
  return response.json();
}

function revisions(server: ServedHeddle): Promise<readonly { readonly revision: number }[]> {
  return ask(server, '/api/config/revisions');
}

async function replaceIn(file: string, old: string, text: string): Promise<void> {
  const path = join(source, file);
  await writeFile(path, (await readFile(path, 'utf8')).replace(old, text));
}

/** Sends a POST without the last byte of its body. */
async function sendPart(server: ServedHeddle, body: string) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
  socket.on('error', () => {});
  const head = `POST /api/groups HTTP/1.1\r\nhost: x\r\nauthorization: Token ${await token()}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
  // The server has begun to handle the request when it answers this later one.
  await ask(server, '/healthz');
  return {
    finish() {
      socket.write(body.slice(-1));
      return closed;
    },
  };
}

async function refusesConnections(server: ServedHeddle): Promise<boolean> {
  return fetch(`${server.url}/healthz`).then(
    () => false,
    () => true,
  );
}

/** Returns a hash of the rows of each table, independent of their order. */
async function hashTables(): Promise<Readonly<Record<string, string>>> {
  const database = await openDatabase({ dataDir });
  const listing = "select table_name as name from information_schema.tables where table_schema = 'public' order by 1";
  const hashes: Record<string, string> = {};
  for (const { name } of await database.lookUp(statement<{ readonly name: string }>(listing, []))) {
    if (name === 'leases') continue;
    const text = `select to_jsonb(t) as row from ${name} t`;
    const rows = await database.lookUp(statement<{ readonly row: object }>(text, []));
    // On a busy machine, a check of the source may take longer than a second. It is then shown as running, which
    // changes `lastTransitionTime`.
    const texts = rows.map(({ row }) => JSON.stringify(row).replaceAll(/"lastTransitionTime":"[^"]*"/g, ''));
    const sorted = texts.sort();
    hashes[name] = createHash('sha256').update(sorted.join('\n')).digest('hex');
  }
  await database.close();
  return hashes;
}
