import type { Database } from '../../src/db/database.ts';

/** Returns every row of every table, as text. */
export async function rowsOf(database: Database): Promise<readonly string[]> {
  const rows: string[] = [];
  await database.asOwner(async (run) => {
    const tables = await run(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables)
      for (const { row } of await run(`select row_to_json(t)::text as row from ${name} t`)) rows.push(String(row));
  });
  return rows;
}
