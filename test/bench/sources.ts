import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readInput } from '../../src/documents/input.ts';
import { createReader } from '../../src/documents/reader.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { defineDirectory, type OpenOptions } from '../../src/features/sources/definition.ts';
import { openDirectory } from '../../src/features/sources/directory/directory.ts';
import { createFileCache } from '../../src/features/sources/directory/file-memory.ts';
import { readDirectory } from '../../src/features/sources/directory/read-directory.ts';
import { superviseSources } from '../../src/features/sources/loop/supervisor.ts';
import { generateFiles, writeFiles } from '../setup/generate.ts';
import { countTransactions } from './counting.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace, type Stand, type Workplace } from './stand.ts';
import { inTurns, time } from './timing.ts';

/** Watched directories: no change, and a change to one of many documents. */
export const sources: Benchmark = {
  name: 'sources',
  run: async (stand) => [await nothingChanged(stand), await oneChanged(stand)],
};

async function nothingChanged(stand: Stand): Promise<Row> {
  const directory = await stand.directory();
  await writeFiles(directory, generateFiles(10_000));
  await mustWriteNothing(stand, directory);
  const options = { cache: createFileCache() };
  await readDirectory(directory, options);
  const measured = await inTurns(
    20,
    () => time(() => readDirectory(directory, options)),
    () => time(() => readAndHash(directory)),
  );
  const what = 'no-op reconcile of 10,000 documents, nothing written';
  return { what, ...measured, unit: 'ms', budget: { is: 'at most', value: 1.5 } };
}

async function readAndHash(directory: string): Promise<string> {
  const total = createHash('sha256');
  for (const name of (await readdir(directory)).sort()) {
    const text = await readFile(join(directory, name));
    total.update(createHash('sha256').update(text).digest());
  }
  return total.digest('hex');
}

/**
 * Lets the source loop poll an unchanged directory. Throws when the loop runs a transaction, because it must not even
 * query the database.
 */
async function mustWriteNothing(stand: Stand, directory: string): Promise<void> {
  let transactions = () => 0;
  await using workplace = await openWorkplace({ url: await stand.postgres() }, (database) => {
    const counted = countTransactions(database);
    transactions = counted.transactions;
    return counted.database;
  });
  const { engine, account } = workplace;
  const reader = createReader();
  const applied = Promise.withResolvers<void>();
  const publish = () => applied.resolve();
  const directorySource = defineDirectory(account, { name: 'bench', path: directory });
  const open = (options: OpenOptions) => openDirectory({ path: directory, settleMs: 0, pollMs: 50, ...options });
  const hour = 3600;
  const stop = superviseSources({
    ...{ engine, reader, report: publish, version: 'bench', leaseSeconds: hour, pollMs: hour * 1000 },
    definitions: [{ ...directorySource, open }],
  });
  await applied.promise;
  // The status of the source is stored after the report.
  await delay(500);
  const before = transactions();
  await delay(2000);
  const asked = transactions() - before;
  await stop();
  await reader.close();
  if (asked > 0) throw new Error(`an unchanged directory led to ${asked} transactions`);
}

async function oneChanged(stand: Stand): Promise<Row> {
  await using large = await openWorkplace({ url: await stand.postgres() });
  await using small = await openWorkplace({ url: await stand.postgres() });
  const changeLarge = await followDirectory(large, await stand.directory(), 10_000);
  const changeSmall = await followDirectory(small, await stand.directory(), 100);
  const measured = await inTurns(40, changeLarge.change, changeSmall.change);
  await changeLarge.close();
  await changeSmall.close();
  const what = 'one changed document of 10,000, against one of 100';
  return { what, ...measured, unit: 'ms', budget: { is: 'at most', value: 2 } };
}

/**
 * Number of files of which one is changed at a time, the same for both accounts. A file is read again for two seconds
 * after its change, so with all files, each change in the large account would include the reading of the files that were
 * changed in the two seconds before it.
 */
const changedFiles = 5;

/**
 * Applies a generated directory and returns a function that changes one document and reconciles. Does the work of the
 * source loop, without the wait for events.
 */
async function followDirectory({ engine, account }: Workplace, directory: string, documents: number) {
  const files = generateFiles(documents);
  await writeFiles(directory, files);
  const reader = createReader();
  const memory = createFileCache();
  let since: ApplyRequest['since'];
  const reconcile = async () => {
    const found = await readDirectory(directory, { cache: memory });
    if (!found.ok) throw new Error(found.reason);
    const input = await readInput(reader, found.files);
    const call = { account, actor: { type: 'source', id: 'bench', name: 'bench' }, revision: 0 } as const;
    const applyRequest = { source: 'bench', ...input, prune: true, allowEmpty: false };
    const result = await applyDocuments(engine, call, { ...applyRequest, ...(since === undefined ? {} : { since }) });
    if (result.state !== 'applied' || result.revision === undefined) throw new Error(`not applied: ${result.state}`);
    since = { documents: input.documents, revision: result.revision };
  };
  await reconcile();
  // The cache does not trust a file that was changed recently: the file is read again until its time stamp is old
  // enough.
  await delay(2500);
  await readDirectory(directory, { cache: memory });
  let changes = 0;
  return {
    async change() {
      changes += 1;
      const file = files[changes % changedFiles];
      const text = file?.text.replace(/Generated/, `Generated ${changes}`) ?? '';
      await writeFile(join(directory, file?.path ?? ''), text);
      return time(reconcile);
    },
    close: () => reader.close(),
  };
}
