import { asObject, equalJson, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { isSealed, sealContexts } from '../../model/schema/sealing.ts';
import { hasSecrets } from '../../model/schema/secret-fields.ts';
import type { Database, RunSql } from '../database.ts';
import {
  type Resealer,
  resealBaseObject,
  resealChange,
  resealCredentials,
  resealRecord,
  resealSpec,
  resealText,
} from './reseal.ts';
import { finishSealing } from './sealing.ts';
import type { UnreadableSecret } from './unreadable.ts';

/** Number of rows that one step reads. */
const rowsPerStep = 500;

/** Maximum number of unreadable secrets that the result lists. */
const maxListed = 1000;

/** Result of sealing the stored secrets again. */
export interface ResealResult {
  /** Number of rows that were written. */
  readonly rows: number;
  /** Secrets that no key opens. They are unchanged. At most `maxListed` of them are listed. */
  readonly unreadable: readonly UnreadableSecret[];
  readonly unreadableCount: number;
}

/**
 * Seals every secret again under the vault's current key and bound to its context, history included, one account after
 * the other, while no commit can run. From then on, the unbound form is refused. Secrets that no key opens are left
 * unchanged and listed: a lost secret of one account must not keep other accounts from using a new key. No value
 * changes, but servers have the old sealed texts in memory: a separate revision makes them read the account again, and
 * commits that were planned before it are planned again.
 */
export async function resealAll(database: Database, given: Omit<Resealer, 'onUnreadable'>): Promise<ResealResult> {
  let written = 0;
  // History contains many texts of the same context. Each context is listed once.
  const left = new Map<string, UnreadableSecret>();
  const leave: Resealer['onUnreadable'] = (secret) => {
    left.set(JSON.stringify([secret.what, secret.account, secret.object, secret.path]), secret);
  };
  const sealer: Resealer = { ...given, onUnreadable: leave };
  await database.asOwner(async (run) => {
    written = 0;
    left.clear();
    const accounts = await run('select account_id from accounts order by account_id for no key update');
    // Without these locks, rows that other transactions compact or seal now, with their old seals, could end up behind
    // the position that this function has reached.
    await run(
      'lock table history_base, plans, idempotency_keys, credentials, idp_keys, idp_records, webhook_keys in exclusive mode',
    );
    const moves = await finishSealing(run, sealer.vault);
    for (const { account_id: id } of accounts) {
      const account = String(id);
      let rows = 0;
      for (const table of tables) rows += await resealTable(run, sealer, account, table);
      // Without a revision, a server that has not seen the change yet would continue to write the old form.
      if (rows > 0 || moves) await addRevision(run, account, rows);
      written += rows;
    }
    for (const table of serverTables) written += await resealTable(run, sealer, undefined, table);
  });
  return { rows: written, unreadable: [...left.values()].slice(0, maxListed), unreadableCount: left.size };
}

const actor = { type: 'system', id: 'secrets', name: 'secrets rotate' };

async function addRevision(run: RunSql, account: string, rows: number): Promise<void> {
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

/** A table with sealed texts, whose contexts follow from the row without looking at the texts. */
interface Table {
  readonly name: string;
  /** Columns that identify a row, within its account if it belongs to one, and their types. */
  readonly key: readonly (readonly [column: string, type: 'text' | 'bigint' | 'int'])[];
  readonly columns: readonly string[];
  /** SQL that is joined to `t`. `reads` has further columns to select. */
  readonly join?: string;
  readonly reads?: string;
  /** Condition for the rows to seal; `$2` is the list of kinds that have secrets. */
  readonly where: string;
  /** Returns the columns of a row, sealed again. */
  reseal(sealer: Resealer, row: JsonObject, account: string): JsonObject;
}

/** Tables that are sealed per account. Their columns are jsonb. */
const tables: readonly Table[] = [
  {
    name: 'objects',
    key: [['id', 'text']],
    columns: ['spec'],
    reads: 't.kind',
    where: 't.kind = any($2)',
    reseal: (sealer, { kind, id, spec }, account) => ({
      spec: resealSpec(sealer, String(kind), [account, String(id)], asObject(spec)),
    }),
  },
  {
    name: 'declared',
    key: [
      ['object_id', 'text'],
      ['source_id', 'text'],
    ],
    columns: ['stated'],
    join: 'join objects o on o.account_id = t.account_id and o.id = t.object_id',
    reads: 'o.kind',
    where: 'o.kind = any($2)',
    reseal: (sealer, { kind, object_id: id, stated }, account) => ({
      stated: resealSpec(sealer, String(kind), [account, String(id)], asObject(stated)),
    }),
  },
  {
    name: 'changes',
    key: [
      ['revision', 'bigint'],
      ['seq', 'int'],
    ],
    columns: ['units', 'image'],
    reads: 't.kind, t.object_id',
    where: 't.kind = any($2)',
    reseal: resealChange,
  },
  {
    name: 'base_objects',
    key: [['object_id', 'text']],
    columns: ['image'],
    where: "t.image ->> 'kind' = any($2)",
    reseal: resealBaseObject,
  },
  {
    name: 'plans',
    key: [['id', 'text']],
    columns: ['request', 'outputs'],
    where: '$2::text[] is not null',
    reseal: (sealer, { id, request, outputs }, account) => {
      const sealed = isObject(request) ? request['sealed'] : undefined;
      const next = isSealed(sealed) ? resealText(sealer, sealed, sealContexts.plan(account, String(id))) : undefined;
      return {
        request: next === undefined ? (request ?? null) : { ...asObject(request), sealed: next },
        outputs: isSealed(outputs)
          ? resealText(sealer, outputs, sealContexts.outputs(account, String(id)))
          : (outputs ?? null),
      };
    },
  },
  {
    name: 'idempotency_keys',
    key: [['key', 'text']],
    columns: ['answer'],
    where: "t.answer ? 'sealed' and $2::text[] is not null",
    reseal: (sealer, { key, answer }, account) => ({
      answer: resealAnswer(sealer, account, String(key), answer ?? null),
    }),
  },
];

function resealAnswer(sealer: Resealer, account: string, key: string, answer: Json): Json {
  const sealed = isObject(answer) ? answer['sealed'] : undefined;
  if (!isSealed(sealed)) return answer;
  return { ...asObject(answer), sealed: resealRecord(sealer, sealed, sealContexts.answer(account, key)) };
}

/** Tables that are sealed for the whole server. Their columns are text, and some of the tables have no account. */
const serverTables: readonly Table[] = [
  {
    name: 'credentials',
    key: [
      ['account_id', 'text'],
      ['email', 'text'],
    ],
    columns: ['totp_secret'],
    where: 't.totp_secret is not null',
    reseal: (sealer, row) => resealCredentials(sealer, row, String(row['account_id'])),
  },
  {
    name: 'idp_keys',
    key: [['id', 'text']],
    columns: ['sealed'],
    where: 'true',
    reseal: (sealer, { id, sealed }) => ({
      sealed: resealText(sealer, String(sealed), sealContexts.providerKey(String(id))),
    }),
  },
  {
    name: 'webhook_keys',
    key: [
      ['account_id', 'text'],
      ['id', 'text'],
    ],
    columns: ['sealed'],
    where: 'true',
    reseal: (sealer, { account_id: account, id, sealed }) => ({
      sealed: resealText(sealer, String(sealed), sealContexts.webhookKey(String(account), String(id))),
    }),
  },
  {
    name: 'idp_records',
    key: [
      ['model', 'text'],
      ['id', 'text'],
    ],
    columns: ['payload'],
    where: 'true',
    reseal: (sealer, { model, id, payload }) => ({
      payload: resealRecord(sealer, String(payload), sealContexts.providerRecord(String(model), String(id))),
    }),
  },
];

/**
 * Seals the rows of a table again, of one account or of the whole server. Reads page by page in the order of the key,
 * so that it terminates whatever the rows contain. Returns the number of rows written.
 */
async function resealTable(run: RunSql, sealer: Resealer, account: string | undefined, table: Table): Promise<number> {
  const [read, write] = [selectText(table, account), updateText(table, account)];
  const given = account === undefined ? [] : [account, kindsWithSecrets(sealer.registry)];
  let written = 0;
  let last: readonly unknown[] = table.key.map(() => null);
  for (;;) {
    const rows = await run(read, [...given, ...last]);
    for (const found of rows) {
      const row = asObject(parseJson(String(found['row'])));
      const next = table.reseal(sealer, row, account ?? '');
      if (table.columns.every((column) => equalJson(next[column], row[column]))) continue;
      const values = table.columns.map((column) => columnText(account, next[column]));
      await run(write, [...(account === undefined ? [] : [account]), ...keyOf(table, row), ...values]);
      written += 1;
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < rowsPerStep) return written;
    last = keyOf(table, asObject(parseJson(String(end['row']))));
  }
}

function kindsWithSecrets({ kinds }: Registry): readonly string[] {
  return kinds.filter(({ spec }) => hasSecrets(spec)).map(({ name }) => name);
}

function keyOf({ key }: Table, row: JsonObject): readonly unknown[] {
  return key.map(([column]) => row[column]);
}

/** Columns of account tables are jsonb and are written as JSON text. Columns of server tables are text. */
function columnText(account: string | undefined, value: Json | undefined): string | null {
  if (value === null || value === undefined) return null;
  return account === undefined ? String(value) : JSON.stringify(value);
}

function selectText({ name, key, columns, join = '', reads, where }: Table, account: string | undefined): string {
  const own = [...key.map(([column]) => column), ...columns].map((column) => `t.${column}`);
  const first = account === undefined ? 1 : 3;
  const names = key.map(([column]) => `t.${column}`).join(', ');
  const after = key.map(([, type], at) => `$${first + at}::${type}`).join(', ');
  const begin = `$${first}::${key[0]?.[1]} is null`;
  const mine = account === undefined ? '' : 't.account_id = $1 and ';
  return `select row_to_json(x)::text as row from (
    select ${[...own, ...(reads === undefined ? [] : [reads])].join(', ')} from ${name} t ${join}
    where ${mine}(${where}) and (${begin} or (${names}) > (${after}))
    order by ${names} limit ${rowsPerStep}
  ) x`;
}

function updateText({ name, key, columns }: Table, account: string | undefined): string {
  const first = account === undefined ? 1 : 2;
  const mine = account === undefined ? '' : 'account_id = $1 and ';
  const where = key.map(([column, type], at) => `${column} = $${first + at}::${type}`).join(' and ');
  const type = account === undefined ? 'text' : 'jsonb';
  const set = columns.map((column, at) => `${column} = $${first + key.length + at}::${type}`).join(', ');
  return `update ${name} set ${set} where ${mine}${where}`;
}
