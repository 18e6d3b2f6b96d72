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
import type { Database, RunSql } from '../database.ts';
import type { ArchiveHeader, SectionName } from './format.ts';
import { smallTables } from './read.ts';

/** Rows of a section of an archive. */
export interface SectionRows {
  readonly section: SectionName;
  readonly rows: readonly JsonObject[];
}

/** Account that a restore replaces. */
export interface RestoreTarget {
  /** Id of the existing account to replace. Absent: the restore adds an account. */
  readonly account?: string;
  /**
   * True when the account to replace was never used, or when there is none. False when a used account with the
   * archive's id is replaced.
   */
  readonly isUnused: boolean;
  /** Whether the restored account becomes the operator's account. */
  readonly becomesOperatorAccount: boolean;
}

/** A checked archive, and the account that it replaces. */
export interface RestoreInput {
  readonly header: ArchiveHeader;
  /** Row of the account in the archive. */
  readonly account: JsonObject;
  readonly state: Snapshot;
  readonly target: RestoreTarget;
  /**
   * The tokens of the user `from` of the replaced account keep working, as tokens of the user `to` of the restored
   * account. Absent: no tokens are kept.
   */
  readonly keep?: { readonly from: string; readonly to: string };
  readonly actor: Actor;
  readonly requestId: string;
  /** Time of the restore, in ISO 8601. */
  readonly at: string;
  /** Reads the rows of all sections again, in the order of the archive. */
  rows(): AsyncIterable<SectionRows>;
}

/** Result of a restore. `revision` is the account's new revision. */
export interface RestoreResult {
  readonly revision: number;
  /** Number of rows written. */
  readonly rows: number;
}

/** Replaces the account by the archive, or adds the account, in one transaction. */
export async function restoreAccount(database: Database, input: RestoreInput): Promise<RestoreResult> {
  let restored: RestoreResult = { revision: 0, rows: 0 };
  const work = async (run: RunSql) => {
    await run(`select set_config('enable_seqscan', 'off', true)`);
    restored = await restore(run, input);
  };
  await database.asOwner(work, { write: 'long' });
  database.countWrittenRows(restored.rows);
  return restored;
}

async function restore(run: RunSql, input: RestoreInput): Promise<RestoreResult> {
  const { header, state, target, keep } = input;
  // Blocks a server that starts at the same time from creating an account.
  await run('select pg_advisory_xact_lock(1212498020, 2)');
  const present = await lockTarget(run, input);
  const kept = keep === undefined || target.account === undefined ? [] : await tokensOf(run, target.account, keep.from);
  await clearAccount(run, input);
  const revision = Math.max(present, header.revision);
  await putHead(run, input, revision);
  if (target.becomesOperatorAccount) await recordOperatorAccount(run, header.account);
  let rows = await putObjects(run, header.account, state, revision);
  for await (const { section, rows: some } of input.rows()) rows += await putRows(run, header.account, section, some);
  if (keep !== undefined) await putTokens(run, header.account, keep.to, kept);
  await putBase(run, input, revision + 1);
  await putRevision(run, input, revision);
  return { revision: revision + 1, rows };
}

/**
 * Locks the account that is replaced and returns its revision, or 0 when `isUnused`. Throws `Conflict` when the account
 * was created or used since `target` was determined.
 */
async function lockTarget(run: RunSql, { header, target }: RestoreInput): Promise<number> {
  const found = await run(
    'select account_id, revision from accounts where account_id = any($1::text[]) order by account_id for update',
    [[target.account ?? header.account, header.account]],
  );
  const own = found.find((row) => row['account_id'] === target.account);
  const isAsDecided =
    own === undefined ? target.account === undefined : !target.isUnused || Number(own['revision']) <= 1;
  if (!isAsDecided || found.length > (own === undefined ? 0 : 1))
    throw new Conflict('taken', 'the account was created or changed while the archive was read; nothing was written');
  return target.isUnused ? 0 : Number(own?.['revision']);
}

/**
 * Tables that limit the sources of an account on this server. They are not part of an archive. Without them, a file
 * that was shown to one host could be shown to another host.
 */
const sourceLimits = ['credential_hosts', 'former_git_hosts'];

/** Tables of deliveries. Their rows are kept, because a restore does not undo deliveries that happened. */
const deliveryTables = [
  ...['deliveries', 'set_aside_events', 'webhook_keys'],
  ...['feed_numbers', 'record_deliveries', 'set_aside_records'],
];

/**
 * Deletes the rows of the account from every table. Keeps source limits and deliveries when the account has the
 * archive's id, and the audit events of a used account, because they record what happened.
 */
async function clearAccount(run: RunSql, { header, target: { account, isUnused } }: RestoreInput): Promise<void> {
  if (account === undefined) return;
  const kept = account === header.account ? [...sourceLimits, ...deliveryTables] : [];
  await deleteRows(run, account, isUnused ? kept : [...kept, 'audit_events', 'audit_base']);
  if (isUnused) await run('delete from accounts where account_id = $1', [account]);
}

/**
 * Sequence numbers and audit event ids continue after the highest ones that the existing account or the archive has
 * assigned.
 */
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

async function putHead(run: RunSql, { header, account }: RestoreInput, revision: number): Promise<void> {
  const { audit_sequence: events, sequences, created_at: created } = account;
  await run(headText, [header.account, revision, events, JSON.stringify(sequences), created]);
}

/** Number of objects per statement. */
const objectsPerStatement = 2000;

async function putObjects(run: RunSql, account: string, state: Snapshot, revision: number): Promise<number> {
  const ids = [...state.objects()].map(({ id }) => id);
  const rows = rowChanges(emptySnapshot(state.registry, account), state, ids);
  const put = async (
    part: 'new_objects' | 'new_keys' | 'new_refs' | 'new_declared' | 'new_deliveries',
    all: readonly JsonObject[],
  ) => {
    for (let at = 0; at < all.length; at += objectsPerStatement) {
      const some = all.slice(at, at + objectsPerStatement);
      const { text, parameters } = runToEnd(commitStatement([account, revision, revision, 0, null], { [part]: some }));
      await run(text, parameters);
    }
    return all.length;
  };
  // The rows of each part refer to rows of the parts before it.
  const written = [
    await put('new_objects', rows.insertObjects),
    await put('new_keys', rows.insertKeys),
    await put('new_refs', rows.insertReferences),
    await put('new_declared', rows.putDeclared),
    await put('new_deliveries', rows.insertDeliveries),
  ];
  return written.reduce((sum, count) => sum + count, 0);
}

/** Sections whose rows are inserted into the table of the same name. The other sections are written separately. */
const tables: ReadonlySet<SectionName> = new Set([
  ...smallTables,
  'audit_events',
  ...(['base_objects', 'revisions', 'changes'] as const),
]);

async function putRows(
  run: RunSql,
  account: string,
  section: SectionName,
  rows: readonly JsonObject[],
): Promise<number> {
  const [first] = rows;
  if (first === undefined || !tables.has(section)) return 0;
  const columns = Object.keys(first);
  await checkColumns(run, section, columns);
  const names = columns.join(', ');
  const again = section === 'directory' || section === 'audit_events' ? 'on conflict do nothing' : '';
  // Archives of release 0.1 contain entries of the kind `email`. Several accounts may have a user with the same
  // address, so these entries are not needed.
  const kept = section === 'directory' ? rows.filter((row) => row['kind'] !== 'email') : rows;
  await run(
    `insert into ${section} (account_id, ${names}) select $1, ${names} from jsonb_populate_recordset(null::${section}, $2::jsonb) ${again}`,
    [account, JSON.stringify(kept)],
  );
  if (section === 'directory') await refuseTakenEntries(run, account, kept);
  return rows.length;
}

/** Throws `Conflict` when another account has directory entries of the archive, because it proved or created them. */
async function refuseTakenEntries(run: RunSql, account: string, rows: readonly JsonObject[]): Promise<void> {
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
    `another account of this server already has entries of the archive: ${shown.slice(0, 10).join(', ')}${more}; remove them there, or restore the archive to a separate server`,
  );
}

/**
 * Returns the name of a domain entry. Names other entries only by their kind, because the value may be a hash of a
 * secret.
 */
function nameOfEntry(kind: string, value: string): string {
  return kind === 'domain' ? `the domain ${value.slice(0, 253)}` : `an entry of the kind ${kind}`;
}

/**
 * Throws `InvalidInput` for a column that this release does not have, because a newer release wrote the archive. The
 * names become part of a statement, so they are compared with the catalog.
 */
async function checkColumns(run: RunSql, table: SectionName, columns: readonly string[]): Promise<void> {
  const found = await run(
    `select attname as name from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped`,
    [table],
  );
  const known = new Set(found.map(({ name }) => name));
  const unknown = columns.find((column) => !known.has(column));
  if (unknown !== undefined)
    throw new InvalidInput(
      `the archive has the column ${unknown.slice(0, 50)} in ${table}, which this version of Heddle does not have; restore it with the version that wrote it, or a newer one`,
    );
}

async function tokensOf(run: RunSql, account: string, user: string): Promise<readonly JsonObject[]> {
  const rows = await run<{ readonly row: JsonObject }>(
    `select to_jsonb(t) - 'account_id' as row from tokens t where account_id = $1 and user_id = $2`,
    [account, user],
  );
  return rows.map(({ row }) => row);
}

/** Stores the caller's tokens in the restored account, except tokens that the archive contains itself. */
async function putTokens(run: RunSql, account: string, user: string, tokens: readonly JsonObject[]): Promise<void> {
  for (const token of tokens) {
    const added = await run(
      `insert into directory (account_id, kind, value, subject_id) values ($1, 'token', $2, $3) on conflict do nothing returning 1`,
      [account, token['hash'], token['id']],
    );
    if (added.length > 0) await putRows(run, account, 'tokens', [{ ...token, user_id: user, created_by: user }]);
  }
}

/**
 * Begins the history where the archive's history begins. From `validFrom` on, snapshots from before the restore can no
 * longer be brought up to date.
 */
async function putBase(run: RunSql, { header, state }: RestoreInput, validFrom: number): Promise<void> {
  await run('insert into history_base (account_id, revision, valid_from) values ($1, $2, $3)', [
    header.account,
    header.base,
    validFrom,
  ]);
  if (header.history) return;
  const objects = [...state.objects()];
  for (let at = 0; at < objects.length; at += objectsPerStatement)
    await putBaseObjects(run, header.account, objects.slice(at, at + objectsPerStatement));
}

/** Writes the restore as a revision without changes: the state is the archive's. */
async function putRevision(run: RunSql, input: RestoreInput, revision: number): Promise<void> {
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
