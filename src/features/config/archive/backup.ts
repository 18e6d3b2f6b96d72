import type { Readable } from 'node:stream';
import type { Engine } from '../../../commit/engine.ts';
import { type ArchiveHeader, formatVersion, writeArchive } from '../../../db/archive/format.ts';
import { compressArchive } from '../../../db/archive/lines.ts';
import { type AccountRows, archiveSections, readAccountRows } from '../../../db/archive/read.ts';
import { NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/** An archive that is being written. */
export interface Backup {
  readonly account: string;
  readonly revision: number;
  /** Compressed archive. The stream fails when the archive cannot be written completely. */
  readonly stream: Readable;
}

/**
 * Writes the account as an archive: the state of one revision, unaffected by concurrent writes, with or without
 * history. Throws `NotFound`.
 */
export async function backUp(
  engine: Engine,
  id: string,
  { history, program }: { readonly history: boolean; readonly program: string },
): Promise<Backup> {
  const rows = await readAccountRows(engine.database, id);
  if (rows === undefined) throw new NotFound(`account ${id} not found`);
  const state = await stateOf(engine, id, rows);
  const { account, revision } = state;
  const header: ArchiveHeader = {
    archive: 'heddle',
    formatVersion,
    ...{ account, revision, base: history ? rows.historyExtent.base : revision },
    ...{ history, createdAt: engine.now(), program },
  };
  const sections = archiveSections(engine.database, rows, state, { history });
  return {
    account,
    revision,
    stream: compressArchive(writeArchive(header, sections, engine.planEnvironment.archiveSigner)),
  };
}

/** Returns the objects as of the revision at which the small tables were read. */
async function stateOf(engine: Engine, account: string, { revision }: AccountRows): Promise<Snapshot> {
  const state = await engine.snapshots.atLeast(account, revision);
  return state.revision === revision ? state : await engine.pastStates.at(account, revision);
}
