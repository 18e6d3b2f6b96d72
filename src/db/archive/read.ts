import type { CompiledQuery } from 'kysely';
import { type JsonObject, keysOf } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { imageOf } from '../../model/state/members.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { statement } from '../builder.ts';
import { type HistoryExtent, readHistoryExtent } from '../commit/past.ts';
import type { Database } from '../database.ts';
import type { Section, SectionName } from './format.ts';

/** Order of the rows of small tables in an archive: the columns that identify a row within the account. */
const sortColumns = {
  sources: 'id',
  tokens: 'id',
  credentials: 'email',
  invites: 'id',
  identities: 'issuer, subject',
  directory: 'kind, value',
  sync_logs: 'integration_id, id',
} as const;

type SmallTable = keyof typeof sortColumns;

/** Tables that are read in one snapshot together with the account row. */
export const smallTables = keysOf(sortColumns);

/**
 * Account row and small tables of an archive, read in one snapshot. Objects, audit events and history are read
 * separately.
 */
export interface AccountRows {
  readonly revision: number;
  readonly historyExtent: HistoryExtent;
  readonly account: JsonObject;
  readonly tables: ReadonlyMap<SmallTable, readonly JsonObject[]>;
}

interface Row {
  readonly row: JsonObject;
}

/**
 * Returns the query for the rows of a table, each with its account id, because the directory has no row-level security
 * policy that separates accounts. Leaves out the e-mail addresses of the directory: a missing address would reveal to
 * an owner that another account has it.
 */
function rowsOf(account: string, table: SmallTable): CompiledQuery<Row & { readonly account: string }> {
  return statement(
    `select account_id as account, to_jsonb(t) - 'account_id' as row from ${table} t where account_id = $1${table === 'directory' ? " and kind <> 'email'" : ''} order by ${sortColumns[table]}`,
    [account],
  );
}

interface Head extends Row {
  readonly revision: number;
  readonly base: number;
  readonly validFrom: number;
}

const accountText = `select a.revision, coalesce(b.revision, 0) as base, coalesce(b.valid_from, 0) as "validFrom",
  jsonb_build_object('created_at', a.created_at, 'audit_sequence', a.audit_sequence, 'sequences', a.sequences) as row
from accounts a left join history_base b using (account_id) where a.account_id = $1`;

/**
 * Reads the account row and the small tables of an account in one snapshot. Returns `undefined` when the account does
 * not exist.
 */
export async function readAccountRows(database: Database, account: string): Promise<AccountRows | undefined> {
  const first = statement<Head>(accountText, [account]);
  const [[head], ...tables] = await database.inAccount(
    account,
    [first, ...smallTables.map((table) => rowsOf(account, table))],
    { snapshot: true },
  );
  if (head === undefined) return undefined;
  const { revision, base, validFrom, row } = head;
  const plain = smallTables.map(
    (table, at) => [table, (tables[at] ?? []).filter((one) => one.account === account).map((one) => one.row)] as const,
  );
  return {
    revision,
    historyExtent: { head: revision, base, validFrom },
    account: row,
    tables: new Map(plain),
  };
}

/** Number of rows per page. */
const pageSize = 2000;

/**
 * Returns the sections of an archive. History and audit events are read while the archive is written, because existing
 * rows no longer change.
 */
export function archiveSections(
  database: Database,
  rows: AccountRows,
  state: Snapshot,
  { history }: { readonly history: boolean },
): readonly Section[] {
  const { account } = state;
  const events = Number(rows.account['audit_sequence']);
  const [sources, ...small] = smallTables.map((name) => rowsSection(name, rows.tables.get(name) ?? []));
  return [
    rowsSection('account', [rows.account]),
    ...(sources === undefined ? [] : [sources]),
    { name: 'objects', pages: () => objectPages(state) },
    ...small,
    querySection(database, account, { name: 'audit_events', key: ['id'], where: 'id <= $2', parameters: [events] }),
    ...(history ? historySections(database, rows, account) : []),
  ];
}

function historySections(
  database: Database,
  { revision, historyExtent }: AccountRows,
  account: string,
): readonly Section[] {
  const where = 'revision > $2 and revision <= $3';
  const given = [historyExtent.base, revision];
  const changes = querySection(database, account, {
    name: 'changes',
    key: ['revision', 'seq'],
    where,
    parameters: given,
  });
  return [
    querySection(database, account, { name: 'base_objects', key: ['object_id'], where: 'true', parameters: [] }),
    querySection(database, account, { name: 'revisions', key: ['revision'], where, parameters: given }),
    { name: 'changes', pages: () => requireUnfolded(database, account, historyExtent, changes) },
  ];
}

function rowsSection(name: SectionName, rows: readonly JsonObject[]): Section {
  return {
    name,
    async *pages() {
      for (let at = 0; at < rows.length; at += pageSize) yield rows.slice(at, at + pageSize);
    },
  };
}

async function* objectPages(state: Snapshot): AsyncGenerator<readonly JsonObject[]> {
  const objects = [...state.objects()].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (let at = 0; at < objects.length; at += pageSize) {
    yield objects.slice(at, at + pageSize).map(imageOf);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Rows of a table to read. `key` lists the columns that order and identify the rows. */
interface SectionQuery {
  readonly name: SectionName;
  readonly key: readonly string[];
  /** Condition. Its parameters are numbered from `$2`. */
  readonly where: string;
  readonly parameters: readonly number[];
}

/**
 * Returns a section that reads the rows of a table in the order of `key`, page by page. Each page starts after the last
 * row of the previous page.
 */
function querySection(database: Database, account: string, { name, key, where, parameters }: SectionQuery): Section {
  const columns = key.join(', ');
  const type = name === 'base_objects' ? 'text' : 'bigint';
  const behind = key.map((_, at) => `$${at + 2 + parameters.length}::${type}`).join(', ');
  const select = (condition: string) =>
    `select to_jsonb(t) - 'account_id' as row from ${name} t
     where account_id = $1 and ${where}${condition} order by ${columns} limit ${pageSize}`;
  return {
    name,
    async *pages() {
      let last: JsonObject | undefined;
      for (;;) {
        const text = select(last === undefined ? '' : ` and (${columns}) > (${behind})`);
        const values = last === undefined ? [] : key.map((column) => last?.[column]);
        const [rows] = await database.inAccount(account, [statement<Row>(text, [account, ...parameters, ...values])]);
        if (rows.length > 0) yield rows.map(({ row }) => row);
        last = rows.at(-1)?.row;
        if (rows.length < pageSize) return;
      }
    },
  };
}

/**
 * Yields the changes, then throws `Unavailable` when the history was folded during the read, because the folded changes
 * are missing from the pages.
 */
async function* requireUnfolded(
  database: Database,
  account: string,
  kept: HistoryExtent,
  { pages }: Section,
): AsyncGenerator<readonly JsonObject[]> {
  yield* pages();
  const still = await readHistoryExtent(database, account);
  if (still?.base !== kept.base || still.validFrom !== kept.validFrom)
    throw new Unavailable(
      'old revisions were removed from the history while the archive was written; create the archive again',
    );
}
