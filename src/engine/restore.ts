import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { Conflict, InvalidInput } from '../model/errors.ts';
import type { StoredObject } from '../model/object.ts';
import { emptySnapshot, type Snapshot } from '../model/snapshot.ts';
import { type ArchiveHeader, damaged, readArchive, type SectionName } from '../store/archive-format.ts';
import { archiveLines } from '../store/archive-lines.ts';
import { type Restored, restoreAccount, type SectionRows } from '../store/archive-write.ts';
import { resealed } from '../store/rotate.ts';
import type { Call, Engine } from './engine.ts';
import { faultsOfState } from './restore-checks.ts';

/** How an archive is restored. */
export interface RestoreOptions {
  /** The id of the account, said once more by whoever wants it replaced. */
  readonly replace?: string;
  /** Whose tokens the caller's become, when the caller's account was only made to restore into. */
  keeper(state: Snapshot): string | undefined;
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
 * Puts an archive in the place of the caller's account: of one that was never used, or of the very account that the archive
 * is of, if that is asked for by its name. All of it, or nothing: the whole archive is checked before the first write.
 */
export async function restoreArchive(
  engine: Engine,
  call: Call,
  archive: Uint8Array,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const present = await engine.snapshots.fresh(call.account);
  const checked = await checkArchive(engine, archive);
  const { header, state } = checked;
  const fresh = present.revision <= 1;
  if (!fresh) confirm(call.account, header, options.replace);
  // What is under way on this server ends first.
  await engine.committer.settle();
  const to = fresh ? options.keeper(state) : undefined;
  const restored = await restoreAccount(engine.database, {
    ...checked,
    ...{ place: call.account, fresh, actor: call.actor, requestId: engine.newId(), at: engine.now() },
    ...(to === undefined ? {} : { keep: { from: call.actor.id, to } }),
    rows: () => sectionRows(engine, archive),
  });
  engine.snapshots.forget();
  engine.past.forget();
  engine.notices.tell({ what: 'revision', account: header.account, revision: restored.revision });
  engine.notices.tell({ what: 'sources', account: header.account });
  const { account, revision, createdAt, history } = header;
  return { account, ...restored, restored: revision, createdAt, objects: state.size, history };
}

function confirm(account: string, header: ArchiveHeader, replace: string | undefined): void {
  if (header.account !== account)
    throw new Conflict(
      'taken',
      `this account is in use, and the archive is of another one, ${header.account}; restore it on a server that was not used yet, and was started without sources`,
    );
  if (replace === account) return;
  if (replace !== undefined)
    throw new InvalidInput(`\`replace\` names ${replace.slice(0, 100)}, and this is the account ${account}`);
  throw new Conflict(
    'taken',
    `the account ${account} is in use; everything that happened in it after revision ${header.revision} (${header.createdAt}) would be lost. Say \`--replace ${account}\` if that is what you want, or restore on a server that was not used yet`,
  );
}

interface Checked {
  readonly header: ArchiveHeader;
  readonly account: JsonObject;
  readonly state: Snapshot;
}

/** Reads the archive to its end: checksums, secrets, and whether its objects make an account. */
async function checkArchive(engine: Engine, archive: Uint8Array): Promise<Checked> {
  let header: ArchiveHeader | undefined;
  let account: JsonObject | undefined;
  const objects: StoredObject[] = [];
  for await (const item of readArchive(archiveLines(asChunks(archive)))) {
    if ('header' in item) header = item.header;
    if (!('row' in item)) continue;
    const row = openable(engine, item.row);
    if (item.section === 'account') account = row;
    if (item.section === 'objects') objects.push(objectOf(row));
  }
  if (header === undefined || account === undefined) throw damaged('its account is missing');
  const strange = objects.find(({ kind }) => engine.registry.find(kind) === undefined);
  if (strange !== undefined)
    throw new InvalidInput(
      `the archive holds objects of the kind ${strange.kind}, which this Heddle does not know; restore it with the one that wrote it, or a newer one`,
    );
  const state = emptySnapshot(engine.registry, header.account, header.revision, numbersOf(account)).with({
    put: objects,
    remove: [],
  });
  const problems = faultsOfState(state, objects);
  if (problems.length > 0)
    throw new InvalidInput('the objects of the archive do not make an account; nothing was written', { problems });
  return { header, account, state };
}

/** The row with its secrets under this server's key. */
function openable(engine: Engine, row: JsonObject): JsonObject {
  const keys = new Set([...JSON.stringify(row).matchAll(/"sealed:([^:"]*):/g)].map(([, key = '']) => key));
  if (keys.size === 0) return row;
  try {
    // What is rebuilt has the shape of what it was built from.
    return resealed(engine.means.vault, row) as JsonObject;
  } catch (cause) {
    const { keyId } = engine.means.vault;
    throw new InvalidInput(
      `the archive holds secrets that are sealed with the key ${[...keys].join(', ')}, and this server cannot open them (its own is ${keyId}); start it with that key too, behind its own in HEDDLE_SECRET_KEY or its file, and they are sealed again with its own`,
      { cause },
    );
  }
}

function objectOf(row: JsonObject): StoredObject {
  const { id, kind, name, spec, derived, declared, createdRevision, updatedRevision } = row;
  const texts = [id, kind, name].every((text) => typeof text === 'string');
  const numbers = [createdRevision, updatedRevision].every((number) => typeof number === 'number');
  if (!texts || !numbers || !isObject(spec) || !isObject(derived) || !Array.isArray(declared))
    throw damaged('an object in it is incomplete');
  // The members that the machinery relies on are there; the rest was written by it.
  return row as unknown as StoredObject;
}

function numbersOf({ sequences }: JsonObject): Readonly<Record<string, number>> {
  const numbers = isObject(sequences) ? Object.entries(sequences as JsonObject) : [];
  return Object.fromEntries(numbers.map(([kind, number]) => [kind, Number(number)]));
}

/** How much one statement carries. */
const batch = { rows: 500, characters: 4_000_000 };

/** The rows of the archive in batches, once it is known to be whole. */
async function* sectionRows(engine: Engine, archive: Uint8Array): AsyncGenerator<SectionRows> {
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
    const row = openable(engine, item.row);
    characters += JSON.stringify(row as Json).length;
    rows.push(row);
  }
  if (section !== undefined) yield { section, rows };
}

/** In pieces, so that others get their turn while it is unpacked. */
async function* asChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const size = 256 * 1024;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
