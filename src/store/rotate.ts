import { isSealed, sealedPrefix, type Vault } from '../model/means.ts';
import type { Database, Run } from './database.ts';

/** The columns in which sealed texts may stand, by table, with the columns that name a row within its account. */
const places = [
  { table: 'objects', key: ['id'], columns: ['spec', 'derived'] },
  { table: 'declared', key: ['object_id', 'source_id'], columns: ['stated'] },
  { table: 'changes', key: ['revision', 'seq'], columns: ['units', 'image'] },
  { table: 'base_objects', key: ['object_id'], columns: ['image'] },
  { table: 'plans', key: ['id'], columns: ['request', 'result', 'outputs'] },
] as const;

/** How many rows one step reads. */
const step = 500;

/**
 * Seals everything again under the vault's current key, history included, one account at a time while no commit is under
 * way there. Answers how many rows were written. Not a revision: no value changes.
 */
export async function sealAgain(database: Database, vault: Vault): Promise<number> {
  let written = 0;
  await database.asOwner(async (run) => {
    const accounts = await run('select account_id from accounts order by account_id for no key update');
    // What is being folded meanwhile would come to lie behind us under its old seals.
    await run('lock table history_base in exclusive mode');
    for (const { account_id: account } of accounts) {
      for (const place of places) written += await sealTable(run, vault, String(account), place);
    }
  });
  return written;
}

async function sealTable(
  run: Run,
  vault: Vault,
  account: string,
  { table, key, columns }: (typeof places)[number],
): Promise<number> {
  let written = 0;
  for (const column of columns) {
    const names = key.join(', ');
    // A row that was written again no longer matches, so each step finds the next ones.
    const select = `select ${names}, ${column}::text as body from ${table}
      where account_id = $1 and ${column}::text ~ $2 limit ${step}`;
    const other = `${sealedPrefix}(?!${vault.keyId}:)`;
    for (;;) {
      const rows = await run(select, [account, other]);
      for (const row of rows) {
        const where = key.map((name, at) => `${name} = $${at + 3}`).join(' and ');
        const body = JSON.stringify(resealed(vault, JSON.parse(String(row['body']))));
        await run(`update ${table} set ${column} = $2::jsonb where account_id = $1 and ${where}`, [
          account,
          body,
          ...key.map((name) => row[name]),
        ]);
      }
      written += rows.length;
      if (rows.length < step) break;
    }
  }
  return written;
}

function resealed(vault: Vault, value: unknown): unknown {
  if (isSealed(value)) return vault.seal(vault.open(value));
  if (Array.isArray(value)) return value.map((item) => resealed(vault, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resealed(vault, item)]));
}
