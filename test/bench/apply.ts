import { statement } from '../../src/db/builder.ts';
import type { DatabaseOptions } from '../../src/db/database.ts';
import { readInput } from '../../src/documents/input.ts';
import { createReader } from '../../src/documents/reader.ts';
import { parseYaml } from '../../src/documents/yaml/yaml.ts';
import { type ApplyResult, applyDocuments } from '../../src/features/config/plans/documents.ts';
import type { SourceFile } from '../../src/model/document.ts';
import { createObject } from '../../src/objects/objects.ts';
import { generateFiles } from '../setup/generate.ts';
import type { Benchmark, Row } from './result.ts';
import { addAccount, openWorkplace, type Stand, type Workplace } from './stand.ts';
import { inTurns, time } from './timing.ts';

const documents = 10_000;
const rounds = 3;

/** Applies YAML with 10,000 new objects and 30,000 references. Reference: parsing the YAML and inserting the rows. */
export const apply: Benchmark = {
  name: 'apply',
  async run(stand) {
    const files = generateFiles(documents);
    const warmUp = generateFiles(1000);
    const rows: Row[] = [];
    for (const engine of ['postgres', 'embedded'] as const) {
      const where = () => databaseOptionsOf(stand, engine);
      await applyOnce(await where(), warmUp, 0);
      const written = await rowsOf(await where(), files);
      const reference = async () => insertOnce(await where(), files, written);
      for (const commits of [0, 300]) {
        const measured = await inTurns(rounds, async () => applyOnce(await where(), files, commits), reference);
        const options = commits === 0 ? 'a fresh connection' : `${commits} single commits before`;
        const what = `apply 10,000 documents, ${engine}, ${options}`;
        rows.push({ what, ...measured, unit: 'ms', budget: { is: 'at most', value: 2.5 } });
      }
    }
    return rows;
  },
};

async function databaseOptionsOf(stand: Stand, engine: 'postgres' | 'embedded'): Promise<DatabaseOptions> {
  return engine === 'postgres' ? { url: await stand.postgres() } : { dataDir: await stand.embedded() };
}

async function applyOnce(where: DatabaseOptions, files: readonly SourceFile[], commits: number): Promise<number> {
  await using workplace = await openWorkplace(where);
  await commitSingly(workplace, commits);
  const reader = createReader();
  const milliseconds = await time(async () => {
    const input = await readInput(reader, files);
    const applyRequest = { source: 'bench', ...input, prune: true, allowEmpty: false };
    requireApplied(await applyDocuments(workplace.engine, callOf(workplace), applyRequest));
  });
  await reader.close();
  return milliseconds;
}

function callOf({ account }: Workplace) {
  return { account, actor: { type: 'source', id: 'bench', name: 'bench' }, revision: 0 } as const;
}

function requireApplied(result: ApplyResult): void {
  if (result.state !== 'applied') throw new Error(`the documents were not applied: ${JSON.stringify(result)}`);
}

/** Creates policies one by one. The session thereby plans its foreign-key checks while the account is small. */
async function commitSingly(workplace: Workplace, count: number): Promise<void> {
  const { engine } = workplace;
  const write = (kind: string, body: object) =>
    createObject(engine, callOf(workplace), engine.registry.get(kind), { ...body }, { strict: true });
  const { object } = await write('Group', { name: 'Everywhere' });
  const sides = { sources: [object.id], destinations: [object.id] };
  for (let n = 1; n < count; n += 1) {
    const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: false, protocol: 'all', ...sides };
    await write('Policy', { name: `Single ${n}`, enabled: true, rules: [rule] });
  }
}

interface WrittenRows {
  readonly objects: readonly object[];
  readonly references: readonly object[];
}

/** Returns the rows that applying the files writes. */
async function rowsOf(where: DatabaseOptions, files: readonly SourceFile[]): Promise<WrittenRows> {
  await applyOnce(where, files, 0);
  await using workplace = await openWorkplace(where);
  const all = async (table: string) => {
    const text = `select x.* from ${table} x`;
    return await workplace.engine.database.lookUp(statement<object>(text, []));
  };
  const written = { objects: await all('objects'), references: await all('object_refs') };
  if (written.references.length !== documents * 3) throw new Error(`there are ${written.references.length} references`);
  return written;
}

const insertObjects = `insert into objects
  select $1, x.id, x.kind, x.parent_id, x.key, x.name, x.spec, x.derived, x.owner, x.protected, x.created_revision, x.updated_revision, x.created_at, x.updated_at
  from json_to_recordset($2::json) as x(id text, kind text, parent_id text, key text, name text, spec jsonb, derived jsonb, owner text,
    protected boolean, created_revision bigint, updated_revision bigint, created_at timestamptz, updated_at timestamptz)`;

const insertReferences = `insert into object_refs
  select $1, x.from_id, x.field, x.to_id, x.origin
  from json_to_recordset($2::json) as x(from_id text, field text, to_id text, origin text)`;

/**
 * Runs the reference: parses the same YAML and inserts the same rows, with the same constraints, through the same pool.
 */
async function insertOnce(where: DatabaseOptions, files: readonly SourceFile[], rows: WrittenRows): Promise<number> {
  await using workplace = await openWorkplace(where);
  const { database, newId } = workplace.engine;
  const account = await addAccount(database, newId());
  return await time(async () => {
    for (const { text } of files) for (const document of parseYaml(text).documents) document.toJS();
    const insert = (text: string, list: readonly object[]) => statement(text, [account, JSON.stringify(list)]);
    const statements = [insert(insertObjects, rows.objects), insert(insertReferences, rows.references)];
    await database.inAccount(account, statements, { write: true });
  });
}
