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

/** The columns that are a sealed text themselves, some of them of no account. */
const texts = [
  { table: 'credentials', key: ['account_id', 'email'], column: 'totp_secret' },
  { table: 'idp_keys', key: ['id'], column: 'sealed' },
  { table: 'idp_records', key: ['model', 'id'], column: 'payload' },
] as const;

/** How many rows one step reads. */
const step = 500;

/**
 * Seals everything again under the vault's current key, history included, one account at a time while no commit is under
 * way there. Answers how many rows were written. No value changes, but what servers remember of an account holds old
 * seals: a revision of its own makes them read it anew, and commits that were planned before are planned again.
 */
export async function sealAgain(database: Database, vault: Vault): Promise<number> {
  let written = 0;
  await database.asOwner(async (run) => {
    const accounts = await run('select account_id from accounts order by account_id for no key update');
    // What is being folded meanwhile would come to lie behind us under its old seals.
    await run('lock table history_base in exclusive mode');
    for (const { account_id: account } of accounts) {
      let rows = 0;
      for (const place of places) rows += await sealTable(run, vault, String(account), place);
      if (rows > 0) await addRevision(run, String(account), rows);
      written += rows;
    }
    for (const place of texts) written += await sealTexts(run, vault, place);
  });
  return written;
}

const actor = { type: 'system', id: 'secrets', name: 'secrets rotate' };

async function addRevision(run: Run, account: string, rows: number): Promise<void> {
  const summary = { create: 0, update: 0, delete: 0, claims: 0, sealed: rows };
  const [head] = await run('update accounts set revision = revision + 1 where account_id = $1 returning revision', [
    account,
  ]);
  const revision = Number(head?.['revision']);
  await run(
    `insert into revisions (account_id, revision, created_at, actor, request_id, summary)
     values ($1, $2, now(), $3::jsonb, gen_random_uuid()::text, $4::jsonb)`,
    [account, revision, JSON.stringify(actor), JSON.stringify(summary)],
  );
  await run(
    `insert into history_base (account_id, revision, valid_from) values ($1, 0, $2)
     on conflict (account_id) do update set valid_from = excluded.valid_from`,
    [account, revision],
  );
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

async function sealTexts(run: Run, vault: Vault, { table, key, column }: (typeof texts)[number]): Promise<number> {
  const rows = await run(`select ${key.join(', ')}, ${column} as body from ${table} where ${column} ~ $1 for update`, [
    `^${sealedPrefix}(?!${vault.keyId}:)`,
  ]);
  for (const row of rows) {
    const where = key.map((name, at) => `${name} = $${at + 2}`).join(' and ');
    const sealed = vault.seal(vault.open(String(row['body'])));
    await run(`update ${table} set ${column} = $1 where ${where}`, [sealed, ...key.map((name) => row[name])]);
  }
  return rows.length;
}

/** A value with all that is sealed in it sealed under the vault's current key. */
export function resealed(vault: Vault, value: unknown): unknown {
  if (isSealed(value)) return vault.seal(vault.open(value));
  if (Array.isArray(value)) return value.map((item) => resealed(vault, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resealed(vault, item)]));
}
