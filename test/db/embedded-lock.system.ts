import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { lockDirectory } from '../../src/db/embedded/directory-lock.ts';
import { migrate } from '../../src/db/migrate.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { programFile } from '../setup/bundle.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { serverProcess } from '../setup/server-process.ts';

// Opens the directory and inserts one account after the other until the process is killed. Prints a line for each.
const writer = `
  import { CompiledQuery } from 'kysely';
  import { openDatabase } from '${programFile('src/db/database.ts')}';
  import { migrate } from '${programFile('src/db/migrate.ts')}';
  const database = await openDatabase({ dataDir: process.argv[1] });
  await migrate(database);
  for (let n = 1; ; n += 1) {
    const id = String(n);
    await database.inAccount(id, [CompiledQuery.raw('insert into accounts (account_id, created_at) values ($1, now())', [id])], { write: true });
    console.log(id);
    await new Promise((done) => setImmediate(done));
  }`;

// Takes the lock, prints `held`, and keeps the lock while the process runs.
const holder = `
  import { lockDirectory } from '${programFile('src/db/embedded/directory-lock.ts')}';
  try {
    await lockDirectory(process.argv[1]);
    console.log('held');
    setInterval(() => {}, 1000);
  } catch (error) {
    console.log('refused');
  }`;

function run(program: string, directory: string): ChildProcess & { readonly lines: AsyncIterator<string> } {
  const { execArgv, env } = serverProcess();
  const child = spawn(process.execPath, [...execArgv, '--input-type=module', '-e', program, directory], {
    cwd: new URL('../..', import.meta.url),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('The child has no output.');
  return Object.assign(child, { lines: createInterface(child.stdout)[Symbol.asyncIterator]() });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function longDirectory(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'd'.repeat(120), 'é'.repeat(60));
  await mkdir(directory, { recursive: true });
  return directory;
}

describe.each([
  ['a short path', temporaryDirectory],
  ['a path too long for a socket', longDirectory],
])('a data directory with %s', (_, make) => {
  it('is locked by one process; a second one is refused, and opens it after a kill -9 of the first', async () => {
    const dataDir = await make();
    await copyEmbedded(dataDir);
    const first = run(writer, dataDir);
    for (let line = 0; line < 20; line += 1) await first.lines.next();
    const second = openDatabase({ dataDir });
    await expect(second).rejects.toThrow(Unavailable);
    await expect(second).rejects.toThrow(`The data directory ${dataDir} is in use by another Heddle.`);
    await kill(first);

    const database = await openDatabase({ dataDir });
    expect(await migrate(database)).toEqual([]);
    const [row] = await database.lookUp(
      CompiledQuery.raw('select count(*) as accounts from accounts') as CompiledQuery<{ accounts: number }>,
    );
    expect(row?.accounts).toBeGreaterThanOrEqual(20);
    await database.close();
  });

  it('is locked by exactly one of ten processes that start after the owner was killed', async () => {
    const directory = await make();
    const killed = run(holder, directory);
    expect((await killed.lines.next()).value).toBe('held');
    await kill(killed);
    const children = Array.from({ length: 10 }, () => run(holder, directory));
    const said = await Promise.all(children.map(async (child) => (await child.lines.next()).value));
    await Promise.all(children.map(kill));
    expect(said.filter((word) => word === 'held')).toHaveLength(1);
    expect(said.filter((word) => word === 'refused')).toHaveLength(9);
  });

  it('contains no lock file after release', async () => {
    const directory = await make();
    for (let turn = 0; turn < 3; turn += 1) await (await lockDirectory(directory))();
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('the lock of a data directory', () => {
  it('is refused a second time in the same process', async () => {
    const directory = await temporaryDirectory();
    const release = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toThrow('is in use by another Heddle');
    await release();
    await (await lockDirectory(directory))();
  });

  it('is free after a killed first start, and the database is created again', async () => {
    const dataDir = await temporaryDirectory();
    const first = run(writer, dataDir);
    await expect.poll(() => readdir(dataDir), { interval: 5 }).toContain('postgres.new');
    await kill(first);
    const database = await openDatabase({ dataDir });
    await database.ping();
    await database.close();
    expect((await readdir(dataDir)).sort()).toEqual(['data-directory.json', 'postgres']);
  });

  it('is refused for a missing directory, with the reason', async () => {
    await expect(lockDirectory(join(await temporaryDirectory(), 'missing'))).rejects.toThrow('cannot be locked');
  });
});
