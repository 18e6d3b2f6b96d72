import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { statement } from '../../../src/db/builder.ts';
import { type DatabaseOptions, openDatabase } from '../../../src/db/database.ts';
import { programVersion } from '../../../src/version.ts';
import type { Stand } from '../stand.ts';
import type { Machine } from './figures.ts';

/**
 * Describes the machine. The returned function adds the load and the duration, and is called when everything has been
 * measured.
 */
export async function describeMachine(stand: Stand): Promise<() => Machine> {
  const begun = performance.now();
  const before = loadNow();
  const described = {
    cores: cpus().length,
    processor: processorName(),
    memory: totalmem() / 1e9,
    node: process.versions.node,
    postgres: await versionOf({ url: await stand.postgres() }),
    embedded: await versionOf({ dataDir: await stand.embedded() }),
    heddle: programVersion(),
    day: new Date().toISOString().slice(0, 10),
  };
  return () => ({ ...described, load: [before, loadNow()], minutes: (performance.now() - begun) / 60_000 });
}

function loadNow(): number {
  return loadavg()[0] ?? 0;
}

/** Returns the model of the processor, or `unknown`: virtual machines may hide it. */
function processorName(): string {
  return /^model name\s*: (.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.trim() ?? 'unknown';
}

async function versionOf(where: DatabaseOptions): Promise<string> {
  const database = await openDatabase({ poolSize: 1, ...where });
  const [row] = await database.lookUp(
    statement<{ readonly version: string }>("select current_setting('server_version') as version", []),
  );
  await database.close();
  return row?.version.split(' ')[0] ?? '';
}
