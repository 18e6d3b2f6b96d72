import type { Database, Run } from './database.ts';
import { migrations as known, type Migration } from './migrations/index.ts';
import { SchemaTooNew } from './schema-too-new.ts';

// Two keys of our own, so that no other program of the same database takes the same lock by chance.
const LOCK = 'select pg_advisory_xact_lock(1212498020, 1)';

const LEDGER = `create table if not exists heddle_schema (
  migration text primary key,
  oldest_program int not null,
  applied_at timestamptz not null
)`;

/** Brings the database to this program's schema and returns the names of what it applied; any number of processes may do so at once. */
export async function migrate(
  database: Database,
  options: { readonly migrations?: readonly Migration[] } = {},
): Promise<readonly string[]> {
  const migrations = options.migrations ?? known;
  let missing: readonly Migration[] = [];
  await database.asOwner(async (run) => {
    await run(LOCK);
    missing = await readMissing(run, migrations);
    for (const migration of missing) await apply(run, migration);
  });
  return missing.map((migration) => migration.name);
}

async function readMissing(run: Run, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  // Asked first: `if not exists` alone would send a notice at every start.
  const [ledger] = await run(`select to_regclass('heddle_schema') is not null as "exists"`);
  if (ledger?.['exists'] !== true) await run(LEDGER);
  const applied = await run('select migration, oldest_program from heddle_schema order by migration');
  const names = new Set(migrations.map((migration) => migration.name));
  const tooNew = applied.find(
    (row) => !names.has(String(row['migration'])) && Number(row['oldest_program']) > migrations.length,
  );
  if (tooNew) throw new SchemaTooNew(refusal(tooNew, migrations));
  const done = new Set(applied.map((row) => row['migration']));
  return migrations.filter((migration) => !done.has(migration.name));
}

async function apply(run: Run, migration: Migration): Promise<void> {
  for (const statement of migration.statements) await run(statement);
  await run('insert into heddle_schema (migration, oldest_program, applied_at) values ($1, $2, now())', [
    migration.name,
    migration.oldestProgram,
  ]);
}

function refusal(row: Readonly<Record<string, unknown>>, migrations: readonly Migration[]): string {
  return (
    `This database was migrated by a newer Heddle: its migration ${row['migration']} wants a program with schema ` +
    `${row['oldest_program']} or newer, and this program has schema ${migrations.length} (${migrations.at(-1)?.name}). ` +
    'Start the newer Heddle, or restore the backup made before the upgrade.'
  );
}
