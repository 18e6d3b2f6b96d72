import { asObject, equalJson, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { isSealed, sealPlaces } from '../../model/schema/sealing.ts';
import { hasSecrets } from '../../model/schema/secret-fields.ts';
import type { Database, Run } from '../database.ts';
import { type Sealer, sealBase, sealChange, sealCredentials, sealRecord, sealSpec, sealText } from './reseal.ts';
import { finishSealing } from './sealing.ts';
import type { UnreadableSecret } from './unreadable.ts';

/** How many rows one step reads. */
const step = 500;

/** How many unreadable secrets are named. */
const mostNamed = 1000;

/** What became of the stored secrets. */
export interface Resealed {
  /** How many rows were written. */
  readonly rows: number;
  /** What does not open and stays as it is; the first of them when there are very many. */
  readonly unreadable: readonly UnreadableSecret[];
  readonly unreadableCount: number;
}

/**
 * Seals every secret again under the vault's current key and bound to its place, history included, one account at a time
 * while no commit is under way there. From then on the unbound form is refused. Returns how many rows were written. What does
 * not open stays as it is and is named: one account's lost secret must not keep the others from a new key. No value changes, but what servers remember of an account holds old seals: a revision of its own makes them read it again, and
 * commits that were planned before are planned again.
 */
export async function sealAgain(database: Database, given: Omit<Sealer, 'leave'>): Promise<Resealed> {
  let written = 0;
  // History has many texts of one place.
  const left = new Map<string, UnreadableSecret>();
  const leave: Sealer['leave'] = (secret) => {
    left.set(JSON.stringify([secret.what, secret.account, secret.object, secret.path]), secret);
  };
  const sealer: Sealer = { ...given, leave };
  await database.asOwner(async (run) => {
    const accounts = await run('select account_id from accounts order by account_id for no key update');
    // What is folded or sealed meanwhile would come to lie behind us under its old seals.
    await run(
      'lock table history_base, plans, idempotency_keys, credentials, idp_keys, idp_records, webhook_keys in exclusive mode',
    );
    const moves = await finishSealing(run, sealer.vault);
    for (const { account_id: id } of accounts) {
      const account = String(id);
      let rows = 0;
      for (const table of tables) rows += await sealTable(run, sealer, account, table);
      // Without one a server that does not know yet would go on in the old form.
      if (rows > 0 || moves) await addRevision(run, account, rows);
      written += rows;
    }
    for (const table of serverTables) written += await sealTable(run, sealer, undefined, table);
  });
  return { rows: written, unreadable: [...left.values()].slice(0, mostNamed), unreadableCount: left.size };
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

/** A table in which sealed texts stand, in places that are known without looking at the texts. */
interface Table {
  readonly name: string;
  /** What names a row within its account, with the types. */
  readonly key: readonly (readonly [column: string, type: 'text' | 'bigint' | 'int'])[];
  readonly columns: readonly string[];
  /** Joined to `t`, and what else is read of a row. */
  readonly join?: string;
  readonly reads?: string;
  /** Which rows to look at; `$2` are the kinds that have secrets. */
  readonly where: string;
  /** The columns of a row with everything sealed again. */
  seal(sealer: Sealer, row: JsonObject, account: string): JsonObject;
}

/** The columns are jsonb. */
const tables: readonly Table[] = [
  {
    name: 'objects',
    key: [['id', 'text']],
    columns: ['spec'],
    reads: 't.kind',
    where: 't.kind = any($2)',
    seal: (sealer, { kind, id, spec }, account) => ({
      spec: sealSpec(sealer, String(kind), [account, String(id)], asObject(spec)),
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
    seal: (sealer, { kind, object_id: id, stated }, account) => ({
      stated: sealSpec(sealer, String(kind), [account, String(id)], asObject(stated)),
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
    seal: sealChange,
  },
  {
    name: 'base_objects',
    key: [['object_id', 'text']],
    columns: ['image'],
    where: "t.image ->> 'kind' = any($2)",
    seal: sealBase,
  },
  {
    name: 'plans',
    key: [['id', 'text']],
    columns: ['request', 'outputs'],
    where: '$2::text[] is not null',
    seal: (sealer, { id, request, outputs }, account) => {
      const sealed = isObject(request) ? request['sealed'] : undefined;
      const next = isSealed(sealed) ? sealText(sealer, sealed, sealPlaces.plan(account, String(id))) : undefined;
      return {
        request: next === undefined ? (request ?? null) : { ...asObject(request), sealed: next },
        outputs: isSealed(outputs)
          ? sealText(sealer, outputs, sealPlaces.outputs(account, String(id)))
          : (outputs ?? null),
      };
    },
  },
  {
    name: 'idempotency_keys',
    key: [['key', 'text']],
    columns: ['answer'],
    where: "t.answer ? 'sealed' and $2::text[] is not null",
    seal: (sealer, { key, answer }, account) => ({ answer: sealAnswer(sealer, account, String(key), answer ?? null) }),
  },
];

function sealAnswer(sealer: Sealer, account: string, key: string, answer: Json): Json {
  const sealed = isObject(answer) ? answer['sealed'] : undefined;
  if (!isSealed(sealed)) return answer;
  return { ...asObject(answer), sealed: sealRecord(sealer, sealed, sealPlaces.answer(account, key)) };
}

/** The columns are texts, and some are of no account. */
const serverTables: readonly Table[] = [
  {
    name: 'credentials',
    key: [
      ['account_id', 'text'],
      ['email', 'text'],
    ],
    columns: ['totp_secret'],
    where: 't.totp_secret is not null',
    seal: (sealer, row) => sealCredentials(sealer, row, String(row['account_id'])),
  },
  {
    name: 'idp_keys',
    key: [['id', 'text']],
    columns: ['sealed'],
    where: 'true',
    seal: (sealer, { id, sealed }) => ({
      sealed: sealText(sealer, String(sealed), sealPlaces.providerKey(String(id))),
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
    seal: (sealer, { account_id: account, id, sealed }) => ({
      sealed: sealText(sealer, String(sealed), sealPlaces.webhookKey(String(account), String(id))),
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
    seal: (sealer, { model, id, payload }) => ({
      payload: sealRecord(sealer, String(payload), sealPlaces.providerRecord(String(model), String(id))),
    }),
  },
];

/** Seals the rows of a table again, of one account or of the whole server, page by page of its key: it ends whatever rows hold. */
async function sealTable(run: Run, sealer: Sealer, account: string | undefined, table: Table): Promise<number> {
  const [read, write] = [readText(table, account), writeText(table, account)];
  const given = account === undefined ? [] : [account, kindsWithSecrets(sealer.registry)];
  let written = 0;
  let last: readonly unknown[] = table.key.map(() => null);
  for (;;) {
    const rows = await run(read, [...given, ...last]);
    for (const found of rows) {
      const row = asObject(parseJson(String(found['row'])));
      const next = table.seal(sealer, row, account ?? '');
      if (table.columns.every((column) => equalJson(next[column], row[column]))) continue;
      const values = table.columns.map((column) => columnText(account, next[column]));
      await run(write, [...(account === undefined ? [] : [account]), ...keyOf(table, row), ...values]);
      written += 1;
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < step) return written;
    last = keyOf(table, asObject(parseJson(String(end['row']))));
  }
}

function kindsWithSecrets({ kinds }: Registry): readonly string[] {
  return kinds.filter(({ spec }) => hasSecrets(spec)).map(({ name }) => name);
}

function keyOf({ key }: Table, row: JsonObject): readonly unknown[] {
  return key.map(([column]) => row[column]);
}

/** Tables of accounts have jsonb, which goes in as text; those of the server have texts. */
function columnText(account: string | undefined, value: Json | undefined): string | null {
  if (value === null || value === undefined) return null;
  return account === undefined ? String(value) : JSON.stringify(value);
}

function readText({ name, key, columns, join = '', reads, where }: Table, account: string | undefined): string {
  const own = [...key.map(([column]) => column), ...columns].map((column) => `t.${column}`);
  const first = account === undefined ? 1 : 3;
  const names = key.map(([column]) => `t.${column}`).join(', ');
  const after = key.map(([, type], at) => `$${first + at}::${type}`).join(', ');
  const begin = `$${first}::${key[0]?.[1]} is null`;
  const mine = account === undefined ? '' : 't.account_id = $1 and ';
  return `select row_to_json(x)::text as row from (
    select ${[...own, ...(reads === undefined ? [] : [reads])].join(', ')} from ${name} t ${join}
    where ${mine}(${where}) and (${begin} or (${names}) > (${after}))
    order by ${names} limit ${step}
  ) x`;
}

function writeText({ name, key, columns }: Table, account: string | undefined): string {
  const first = account === undefined ? 1 : 2;
  const mine = account === undefined ? '' : 'account_id = $1 and ';
  const where = key.map(([column, type], at) => `${column} = $${first + at}::${type}`).join(' and ');
  const type = account === undefined ? 'text' : 'jsonb';
  const set = columns.map((column, at) => `${column} = $${first + key.length + at}::${type}`).join(', ');
  return `update ${name} set ${set} where ${mine}${where}`;
}
