import { findOwner } from '../../../commit/bootstrap.ts';
import type { Engine } from '../../../commit/engine.ts';
import { operatorActor } from '../../../commit/operator.ts';
import { findOperatorAccount } from '../../../db/accounts/operator.ts';
import type { ArchiveHeader, SectionName } from '../../../db/archive/format.ts';
import { allowExcess } from '../../../db/archive/limits.ts';
import type { PackedArchive } from '../../../db/archive/packed.ts';
import { archiveRows } from '../../../db/archive/rows.ts';
import type { ArchiveStructure } from '../../../db/archive/structure.ts';
import { type RestoreResult, type RestoreTarget, restoreAccount, type SectionRows } from '../../../db/archive/write.ts';
import { countAccounts, findRevision } from '../../../db/commit/accounts.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { Conflict, InvalidInput } from '../../../model/errors.ts';
import { type ArchiveReadOptions, checkArchive, resealRow } from './read.ts';

/** Options of restoring a whole account. */
export interface AccountRestoreOptions extends ArchiveReadOptions {
  /** The id of the account, repeated to confirm that it may be replaced. */
  readonly replace?: string | undefined;
}

/** Result of a restore. */
export interface RestoreReport extends RestoreResult {
  readonly account: string;
  /** The revision of the archive. */
  readonly restored: number;
  readonly createdAt: string;
  readonly objects: number;
  readonly history: boolean;
}

/**
 * Restores the account of an archive with all of its content: people and their credentials, tokens, sources, history.
 * Only the operator may do this, because it reaches beyond the account: identities and domains resolve to the account
 * afterwards. It replaces the account of the same id if `replace` names it. On a server that was not used yet it
 * replaces the operator's unused account. Otherwise it adds an account. The whole archive is checked before the first
 * write, and everything is written or nothing. The archive may have any size: the machine is the operator's.
 */
export async function restoreWholeAccount(
  engine: Engine,
  archive: PackedArchive,
  options: AccountRestoreOptions = {},
): Promise<RestoreReport> {
  const { structure, ...checked } = await checkArchive(engine, archive, { ...options, onExcess: allowExcess });
  const { header, state } = checked;
  const target = await findRestoreTarget(engine, header, options.replace);
  // Wait for the mutations that are running on this server.
  await engine.committer.settle();
  const from =
    target.isUnused && target.account !== undefined
      ? findOwner(await engine.snapshots.fresh(target.account))
      : undefined;
  const to = findOwner(state);
  const restored = await restoreAccount(engine.database, {
    ...checked,
    ...{ target, actor: operatorActor satisfies Actor, requestId: engine.newId(), at: engine.now() },
    ...(from === undefined || to === undefined ? {} : { keep: { from: from.id, to: to.id } }),
    rows: () => sectionRows(engine, structure, archive),
  });
  engine.snapshots.clear();
  engine.pastStates.clear();
  engine.notices.publish({ what: 'revision', account: header.account, revision: restored.revision });
  engine.notices.publish({ what: 'sources', account: header.account });
  const { account, revision, createdAt, history } = header;
  return { account, ...restored, restored: revision, createdAt, objects: state.size, history };
}

/**
 * Returns the account to restore into. Throws `Conflict` when the account of this id is in use and `replace` does not
 * name it.
 */
async function findRestoreTarget(
  engine: Engine,
  header: ArchiveHeader,
  replace: string | undefined,
): Promise<RestoreTarget> {
  const { account } = header;
  if (replace !== undefined && replace !== account)
    throw new InvalidInput(
      `--replace names ${replace.slice(0, 100)}, but the archive belongs to the account ${account}`,
    );
  const revision = await findRevision(engine.database, account);
  if (revision !== undefined && revision > 1) {
    if (replace === undefined) throw accountInUseError(header);
    return { account, isUnused: false, becomesOperatorAccount: false };
  }
  if (revision !== undefined) return { account, isUnused: true, becomesOperatorAccount: false };
  const operator = await findOperatorAccount(engine.database);
  const accounts = await countAccounts(engine.database);
  // An unused account of the operator is replaced only when it is the only account of the server. Next to other
  // accounts it stays.
  if (operator !== undefined && operator.revision <= 1 && accounts === 1)
    return { account: operator.account, isUnused: true, becomesOperatorAccount: true };
  return { isUnused: true, becomesOperatorAccount: accounts === 0 };
}

function accountInUseError({ account, revision, createdAt }: ArchiveHeader): Conflict {
  return new Conflict(
    'taken',
    `the account ${account} is in use; everything that happened in it after revision ${revision} (${createdAt}) would be lost. Use \`--replace ${account}\` if you want that`,
  );
}

/** Limits of one insert statement: rows, and characters of JSON. */
const batch = { rows: 500, characters: 4_000_000 };

/** Yields the rows of the archive in batches. Called only after the whole archive was checked. */
async function* sectionRows(
  engine: Engine,
  structure: ArchiveStructure,
  archive: PackedArchive,
): AsyncGenerator<SectionRows> {
  const { account } = structure.header;
  let section: SectionName | undefined;
  let rows: JsonObject[] = [];
  let characters = 0;
  for await (const item of archiveRows(archive, structure, allowExcess)) {
    const isFull = rows.length >= batch.rows || characters >= batch.characters;
    if (section !== undefined && (item.section !== section || isFull)) {
      yield { section, rows };
      [rows, characters] = [[], 0];
    }
    section = item.section;
    const row = resealRow(engine, account, item);
    characters += JSON.stringify(row as Json).length;
    rows.push(row);
  }
  if (section !== undefined) yield { section, rows };
}
