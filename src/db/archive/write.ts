import type { JsonObject } from '../../lib/json.ts';
import { runToEnd } from '../../lib/steps.ts';
import type { Actor } from '../../model/declare/actor.ts';
import { Conflict, InvalidInput } from '../../model/errors.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';
import { currentContext } from '../../telemetry/context.ts';
import { recordOperatorAccount } from '../accounts/operator.ts';
import { eventRow } from '../audit-entry.ts';
import { deleteRows } from '../commit/account-rows.ts';
import { commitStatement } from '../commit/commit-statement.ts';
import { putBaseObjects } from '../commit/compaction.ts';
import { rowChanges } from '../commit/rows.ts';
import type { Database, Run } from '../database.ts';
import type { ArchiveHeader, SectionName } from './format.ts';
import { smallTables } from './read.ts';

/** Rows of one section of an archive. */
export interface SectionRows {
  readonly section: SectionName;
  readonly rows: readonly JsonObject[];
}

/** What an archive takes the place of. */
export interface RestorePlace {
  /** The account that is there; absent: none, the archive's is one more. */
  readonly account?: string;
  /** It was made and never used, or there is none; otherwise it is the archive's own, and is replaced. */
  readonly fresh: boolean;
  /** What is restored becomes the operator's account. */
  readonly isOperators: boolean;
}

/** An archive that was checked, and what to put it in the place of. */
export interface RestoreInput {
  readonly header: ArchiveHeader;
  /** The row of the account. */
  readonly account: JsonObject;
  readonly state: Snapshot;
  readonly place: RestorePlace;
  /** The tokens of this user of the place work on, as those of that user of the restored account. */
  readonly keep?: { readonly from: string; readonly to: string };
  readonly actor: Actor;
  readonly requestId: string;
  /** ISO 8601. */
  readonly at: string;
  /** The rows of all sections once more, in the order of the archive. */
  rows(): AsyncIterable<SectionRows>;
}

/** The revision that an account has after a restore. */
export interface Restored {
  readonly revision: number;
  /** How many rows were written. */
  readonly rows: number;
}

/** Puts the archive in the place of the account, in one transaction. */
export async function restoreAccount(database: Database, input: RestoreInput): Promise<Restored> {
  let restored: Restored = { revision: 0, rows: 0 };
  const work = async (run: Run) => {
    await run(`select set_config('enable_seqscan', 'off', true)`);
    restored = await restore(run, input);
  };
  await database.asOwner(work, { write: 'long' });
  database.wrote(restored.rows);
  return restored;
}

async function restore(run: Run, input: RestoreInput): Promise<Restored> {
  const { header, state, place, keep } = input;
  // No server starts at the same moment and makes an account.
  await run('select pg_advisory_xact_lock(1212498020, 2)');
  const present = await lockPlace(run, input);
  const kept = keep === undefined || place.account === undefined ? [] : await tokensOf(run, place.account, keep.from);
  await clear(run, input);
  const revision = Math.max(present, header.revision);
  await putHead(run, input, revision);
  if (place.isOperators) await recordOperatorAccount(run, header.account);
  let rows = await putObjects(run, header.account, state, revision);
  for await (const { section, rows: some } of input.rows()) rows += await putRows(run, header.account, section, some);
  if (keep !== undefined) await putTokens(run, header.account, keep.to, kept);
  await putBase(run, input, revision + 1);
  await putRevision(run, input, revision);
  return { revision: revision + 1, rows };
}

/** Locks the account that is replaced and answers its revision; it must be as it was when this was decided. */
async function lockPlace(run: Run, { header, place }: RestoreInput): Promise<number> {
  const found = await run(
    'select account_id, revision from accounts where account_id = any($1::text[]) order by account_id for update',
    [[place.account ?? header.account, header.account]],
  );
  const own = found.find((row) => row['account_id'] === place.account);
  const isAsDecided = own === undefined ? place.account === undefined : !place.fresh || Number(own['revision']) <= 1;
  if (!isAsDecided || found.length > (own === undefined ? 0 : 1))
    throw new Conflict('taken', 'the account was used while the archive was read; nothing was written');
  return place.fresh ? 0 : Number(own?.['revision']);
}

/**
 * What limits the sources of an account on this server. No archive holds it, and without it a file that was shown to one
 * host could be shown to another.
 */
const sourceLimits = ['credential_hosts', 'former_git_hosts'];

/** What is delivered to whom goes on where it is: what happened happened. */
const deliveryTables = [
  ...['deliveries', 'set_aside_events', 'webhook_keys'],
  ...['feed_numbers', 'record_deliveries', 'set_aside_records'],
];

/** The archive replaces every table of the account; audit events stay, because what happened happened. */
async function clear(run: Run, { header, place: { account, fresh } }: RestoreInput): Promise<void> {
  if (account === undefined) return;
  const kept = account === header.account ? [...sourceLimits, ...deliveryTables] : [];
  await deleteRows(run, account, fresh ? kept : [...kept, 'audit_events', 'audit_base']);
  if (fresh) await run('delete from accounts where account_id = $1', [account]);
}

/** Numbers and audit events go on behind those that were given already. */
const headText = `insert into accounts (account_id, revision, audit_sequence, sequences, created_at)
values ($1, $2, $3, $4::jsonb, $5::timestamptz)
on conflict (account_id) do update set revision = excluded.revision,
  audit_sequence = greatest(accounts.audit_sequence, excluded.audit_sequence),
  sequences = (
    select coalesce(jsonb_object_agg(kind, number), '{}') from (
      select key as kind, max(value::bigint) as number
      from (select * from jsonb_each_text(accounts.sequences) union all select * from jsonb_each_text(excluded.sequences)) n
      group by key
    ) numbers
  )`;

async function putHead(run: Run, { header, account }: RestoreInput, revision: number): Promise<void> {
  const { audit_sequence: events, sequences, created_at: created } = account;
  await run(headText, [header.account, revision, events, JSON.stringify(sequences), created]);
}

/** How many objects one statement carries. */
const objectsAtOnce = 2000;

async function putObjects(run: Run, account: string, state: Snapshot, revision: number): Promise<number> {
  const ids = [...state.objects()].map(({ id }) => id);
  const rows = rowChanges(emptySnapshot(state.registry, account), state, ids);
  const put = async (
    part: 'new_objects' | 'new_keys' | 'new_refs' | 'new_declared' | 'new_deliveries',
    all: readonly JsonObject[],
  ) => {
    for (let at = 0; at < all.length; at += objectsAtOnce) {
      const some = all.slice(at, at + objectsAtOnce);
      const { text, parameters } = runToEnd(commitStatement([account, revision, revision, 0, null], { [part]: some }));
      await run(text, parameters);
    }
    return all.length;
  };
  // Each kind of rows refers to those before it.
  const written = [
    await put('new_objects', rows.insertObjects),
    await put('new_keys', rows.insertKeys),
    await put('new_refs', rows.insertReferences),
    await put('new_declared', rows.putDeclared),
    await put('new_deliveries', rows.insertDeliveries),
  ];
  return written.reduce((sum, count) => sum + count, 0);
}

/** Sections that are rows of the table of their name; the others are read by themselves. */
const tables: ReadonlySet<SectionName> = new Set([
  ...smallTables,
  'audit_events',
  ...(['base_objects', 'revisions', 'changes'] as const),
]);

async function putRows(run: Run, account: string, section: SectionName, rows: readonly JsonObject[]): Promise<number> {
  const [first] = rows;
  if (first === undefined || !tables.has(section)) return 0;
  const columns = Object.keys(first);
  await checkColumns(run, section, columns);
  const names = columns.join(', ');
  const again = section === 'directory' || section === 'audit_events' ? 'on conflict do nothing' : '';
  // Archives of release 0.1 have them. Several accounts may have a user with one, so they are not needed.
  const kept = section === 'directory' ? rows.filter((row) => row['kind'] !== 'email') : rows;
  await run(
    `insert into ${section} (account_id, ${names}) select $1, ${names} from jsonb_populate_recordset(null::${section}, $2::jsonb) ${again}`,
    [account, JSON.stringify(kept)],
  );
  if (section === 'directory') await refuseTaken(run, account, kept);
  return rows.length;
}

/** Throws `Conflict` when entries of the directory lead to another account, which proved or made them. */
async function refuseTaken(run: Run, account: string, rows: readonly JsonObject[]): Promise<void> {
  const found = await run(
    `select d.kind, d.value from jsonb_to_recordset($2::jsonb) r(kind text, value text)
     join directory d on d.kind = r.kind and d.value = r.value and d.account_id <> $1 order by 1, 2`,
    [account, JSON.stringify(rows)],
  );
  if (found.length === 0) return;
  const names = found.map(({ kind, value }) => nameOfEntry(String(kind), String(value)));
  const shown = [...new Set(names)];
  const more = shown.length > 10 ? ` and ${shown.length - 10} more` : '';
  throw new Conflict(
    'taken',
    `another account of this server has entries of the archive: ${shown.slice(0, 10).join(', ')}${more}; remove them there, or restore the archive to a server of its own`,
  );
}

/** A domain by its name; everything else by its kind alone, because the value may be a hash of a secret. */
function nameOfEntry(kind: string, value: string): string {
  return kind === 'domain' ? `the domain ${value.slice(0, 253)}` : `an entry of the kind ${kind}`;
}

/** A column that this program does not know is of a newer one. The names become part of a statement, so they are looked up. */
async function checkColumns(run: Run, table: SectionName, columns: readonly string[]): Promise<void> {
  const found = await run(
    `select attname as name from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped`,
    [table],
  );
  const known = new Set(found.map(({ name }) => name));
  const unknown = columns.find((column) => !known.has(column));
  if (unknown !== undefined)
    throw new InvalidInput(
      `the archive keeps ${unknown.slice(0, 50)} in ${table}, which this Heddle does not know; restore it with the one that wrote it, or a newer one`,
    );
}

/** The tokens of a user. */
async function tokensOf(run: Run, account: string, user: string): Promise<readonly JsonObject[]> {
  const rows = await run<{ readonly row: JsonObject }>(
    `select to_jsonb(t) - 'account_id' as row from tokens t where account_id = $1 and user_id = $2`,
    [account, user],
  );
  return rows.map(({ row }) => row);
}

/** The caller's tokens go on working, unless the archive has them itself. */
async function putTokens(run: Run, account: string, user: string, tokens: readonly JsonObject[]): Promise<void> {
  for (const token of tokens) {
    const added = await run(
      `insert into directory (account_id, kind, value, subject_id) values ($1, 'token', $2, $3) on conflict do nothing returning 1`,
      [account, token['hash'], token['id']],
    );
    if (added.length > 0) await putRows(run, account, 'tokens', [{ ...token, user_id: user, created_by: user }]);
  }
}

/** The history begins where that of the archive does; no state from before the restore says anything about what follows. */
async function putBase(run: Run, { header, state }: RestoreInput, validFrom: number): Promise<void> {
  await run('insert into history_base (account_id, revision, valid_from) values ($1, $2, $3)', [
    header.account,
    header.base,
    validFrom,
  ]);
  if (header.history) return;
  const objects = [...state.objects()];
  for (let at = 0; at < objects.length; at += objectsAtOnce)
    await putBaseObjects(run, header.account, objects.slice(at, at + objectsAtOnce));
}

/** The restore is a revision like any other, without changes: the state is that of the archive. */
async function putRevision(run: Run, input: RestoreInput, revision: number): Promise<void> {
  const { header, actor, at, requestId } = input;
  const row = {
    ...{
      revision: revision + 1,
      created_at: at,
      actor: { ...actor },
      source_id: null,
      commit_ref: null,
      plan_id: null,
    },
    ...{ plan_digest: null, request_id: requestId, summary: { restored: header.revision } },
    http_request: currentContext().requestId ?? null,
  };
  const meta = { revision: String(header.revision), created_at: header.createdAt, program: header.program };
  const event = eventRow({ actor, event: { code: 'config.restored', target: header.account, meta }, at }, revision + 1);
  const parts = { new_revisions: [row], new_events: [event] };
  const { text, parameters } = runToEnd(commitStatement([header.account, revision, revision + 1, 1, null], parts));
  await run(text, parameters);
}
