import { findOwner } from '../../../commit/bootstrap.ts';
import type { Engine } from '../../../commit/engine.ts';
import { operatorActor } from '../../../commit/operator.ts';
import { findOperatorAccount } from '../../../db/accounts/operator.ts';
import { type ArchiveHeader, readArchive, type SectionName } from '../../../db/archive/format.ts';
import { archiveLines } from '../../../db/archive/lines.ts';
import { type Restored, type RestorePlace, restoreAccount, type SectionRows } from '../../../db/archive/write.ts';
import { countAccounts, findRevision } from '../../../db/commit/accounts.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { Conflict, InvalidInput } from '../../../model/errors.ts';
import { asChunks, checkArchive, openable, type ReadOptions } from './read.ts';

/** How a whole account is restored. */
export interface AccountRestoreOptions extends ReadOptions {
  /** The id of the account, repeated to confirm that it may be replaced. */
  readonly replace?: string | undefined;
}

/** What was restored. */
export interface RestoreReport extends Restored {
  readonly account: string;
  /** The revision of the archive. */
  readonly restored: number;
  readonly createdAt: string;
  readonly objects: number;
  readonly history: boolean;
}

/**
 * Makes the account of an archive again with everything that is in it: people and their credentials, tokens, sources, history.
 * For the operator alone, because that reaches beyond the account: identities and domains lead to it from then on. It takes
 * the place of the account of this id, if that is said; on a server that was not used yet that of the operator's account;
 * else it is one more account. All of it, or nothing: the whole archive is checked before the first write.
 */
export async function restoreWholeAccount(
  engine: Engine,
  archive: Uint8Array,
  options: AccountRestoreOptions = {},
): Promise<RestoreReport> {
  const checked = await checkArchive(engine, archive, options);
  const { header, state } = checked;
  const place = await placeFor(engine, header, options.replace);
  // What is under way on this server ends first.
  await engine.committer.settle();
  const from =
    place.fresh && place.account !== undefined ? findOwner(await engine.snapshots.fresh(place.account)) : undefined;
  const to = findOwner(state);
  const restored = await restoreAccount(engine.database, {
    ...checked,
    ...{ place, actor: operatorActor satisfies Actor, requestId: engine.newId(), at: engine.now() },
    ...(from === undefined || to === undefined ? {} : { keep: { from: from.id, to: to.id } }),
    rows: () => sectionRows(engine, header.account, archive),
  });
  engine.snapshots.forget();
  engine.past.forget();
  engine.notices.publish({ what: 'revision', account: header.account, revision: restored.revision });
  engine.notices.publish({ what: 'sources', account: header.account });
  const { account, revision, createdAt, history } = header;
  return { account, ...restored, restored: revision, createdAt, objects: state.size, history };
}

/** The account to restore into. Throws `Conflict` when there is one of this id that may not be replaced. */
async function placeFor(engine: Engine, header: ArchiveHeader, replace: string | undefined): Promise<RestorePlace> {
  const { account } = header;
  if (replace !== undefined && replace !== account)
    throw new InvalidInput(`--replace names ${replace.slice(0, 100)}, and the archive is of the account ${account}`);
  const revision = await findRevision(engine.database, account);
  if (revision !== undefined && revision > 1) {
    if (replace === undefined) throw inUse(header);
    return { account, fresh: false, isOperators: false };
  }
  if (revision !== undefined) return { account, fresh: true, isOperators: false };
  const operator = await findOperatorAccount(engine.database);
  const accounts = await countAccounts(engine.database);
  // On a server with other accounts an unused one of the operator is not in anybody's way.
  if (operator !== undefined && operator.revision <= 1 && accounts === 1)
    return { account: operator.account, fresh: true, isOperators: true };
  return { fresh: true, isOperators: accounts === 0 };
}

function inUse({ account, revision, createdAt }: ArchiveHeader): Conflict {
  return new Conflict(
    'taken',
    `the account ${account} is in use; everything that happened in it after revision ${revision} (${createdAt}) would be lost. Say \`--replace ${account}\` if that is what you want`,
  );
}

/** How much one statement carries. */
const batch = { rows: 500, characters: 4_000_000 };

/** The rows of the archive in batches, once it is known to be whole. */
async function* sectionRows(engine: Engine, account: string, archive: Uint8Array): AsyncGenerator<SectionRows> {
  let section: SectionName | undefined;
  let rows: JsonObject[] = [];
  let characters = 0;
  for await (const item of readArchive(archiveLines(asChunks(archive)))) {
    if (!('row' in item)) continue;
    const isFull = rows.length >= batch.rows || characters >= batch.characters;
    if (section !== undefined && (item.section !== section || isFull)) {
      yield { section, rows };
      [rows, characters] = [[], 0];
    }
    section = item.section;
    const row = openable(engine, account, item);
    characters += JSON.stringify(row as Json).length;
    rows.push(row);
  }
  if (section !== undefined) yield { section, rows };
}
