import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { generateFiles } from '../setup/generate.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { openReplicas } from './replicas.ts';

const objects = 1000;

/** Settings that allow rewriting everything without an approval. */
const settings = `sources:
  - name: big
    type: directory
    path: documents
    limits: { deletes: 100000, deleteShare: 1, kindShare: 1, updateShare: 1 }
`;

/** Numbers of objects of the source in the account: of the first set, and of the second. */
interface Look {
  readonly first: number;
  readonly second: number;
}

/**
 * Runs two servers with one source of 1,000 objects, rewrites all of them, and kills the server that applies them at a
 * random moment. Expects that another server finishes the job as one revision, and that no reader ever sees a partial
 * apply.
 */
export async function killWhoApplies(moments: number): Promise<void> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'documents'));
  await writeFile(join(directory, 'heddle.yaml'), settings);
  await write(directory, 0);
  await using replicas = await openReplicas(['--config', join(directory, 'heddle.yaml')]);
  let servers = [await replicas.start(), await replicas.start()];
  const database = await openDatabase({ url: replicas.url });
  try {
    await settled(database, 0);
    for (let moment = 1; moment <= moments; moment += 1) {
      const before = await revisionsOf(database);
      // A killed server may still be recorded as the lease holder until the lease ends.
      const holds = ({ pid }: ServedHeddle, owner: string) => owner.split(' ').includes(String(pid));
      const findHolder = async () => {
        const owner = await holder(database);
        return servers.find((server) => holds(server, owner));
      };
      await expect.poll(findHolder).toBeDefined();
      const writeAndReplace = async () => {
        await write(directory, moment % 2);
        await delay(Math.random() * 1500);
        return replace(servers, await findHolder(), () => replicas.start());
      };
      [servers] = await Promise.all([writeAndReplace(), settled(database, moment % 2)]);
      expect(await revisionsOf(database)).toBe(before + 1);
    }
  } finally {
    await database.close();
  }
}

/** Writes one of two sets in one atomic step. The sets differ in every document. */
async function write(directory: string, set: number): Promise<void> {
  const variant = set === 0 ? '' : ' again';
  const [file] = generateFiles(objects, { variant, documentsPerFile: objects });
  const hidden = join(directory, 'documents', '.next');
  await writeFile(hidden, file?.text ?? '');
  await rename(hidden, join(directory, 'documents', 'all.yaml'));
}

/** Kills the server that has the lease, and starts another server instead. */
async function replace(
  servers: readonly ServedHeddle[],
  killed: ServedHeddle | undefined,
  start: () => Promise<ServedHeddle>,
): Promise<ServedHeddle[]> {
  if (killed === undefined) throw new Error('none of the servers has the lease');
  await killed.stop('SIGKILL');
  return [...servers.filter((server) => server !== killed), await start()];
}

/** Waits until all objects belong to one set, and checks that no look finds objects of both. */
async function settled(database: Database, set: number): Promise<void> {
  // Collected, because a poll ignores what its function throws as long as it may try again.
  const mixed: Look[] = [];
  const written = async () => {
    const seen = await look(database);
    if (seen.first > 0 && seen.second > 0) mixed.push(seen);
    return set === 0 ? seen.first : seen.second;
  };
  await expect
    .poll(written)
    .toBe(objects)
    .finally(() => expect(mixed).toEqual([]));
}

async function look(database: Database): Promise<Look> {
  const [row] = await database.lookUp(
    statement<Look>(
      `select count(*) filter (where not again) as first, count(*) filter (where again) as second
      from (select spec::text ~ ' again|"ttl": 301' as again from objects where owner = 'big') stated`,
      [],
    ),
  );
  return row ?? { first: 0, second: 0 };
}

/** Returns the number of revisions that changed objects of the source. */
async function revisionsOf(database: Database): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>(
      `select count(*) as count from revisions where source_id = 'big' and (summary ->> 'update')::int > 0`,
      [],
    ),
  );
  return row?.count ?? 0;
}

async function holder(database: Database): Promise<string> {
  const [row] = await database.lookUp(
    statement<{ readonly owner: string }>(`select owner from leases where name = 'source/big'`, []),
  );
  return row?.owner ?? '';
}
