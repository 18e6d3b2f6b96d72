import type { JsonObject } from '../../lib/json.ts';
import { ArchiveCutShort, type SectionName } from './format.ts';
import { type OnExcess, refuseExcess } from './limits.ts';
import { archiveLines } from './lines.ts';
import type { PackedArchive } from './packed.ts';
import { parseLine } from './parse-line.ts';
import type { ArchiveStructure } from './structure.ts';

/** A row of an archive, and the section that contains it. */
export interface ArchiveRow {
  readonly section: SectionName;
  readonly row: JsonObject;
  /** Number of JSON values in the row, counted as `measureJson` counts. */
  readonly values: number;
}

/**
 * Yields the rows of an archive. Needs the structure that `verifyArchive` returned for the same archive, because rows of
 * unknown authors are expensive to parse. The checksums are not computed again: they take longer than finding the rows.
 */
export async function* archiveRows(
  archive: PackedArchive,
  structure: Pick<ArchiveStructure, 'rows'>,
  onExcess: OnExcess = refuseExcess,
): AsyncGenerator<ArchiveRow> {
  const sections = sectionsOfLines(structure);
  for await (const lines of archiveLines(archive, onExcess))
    for (const line of lines) {
      const { value: section, done } = sections.next();
      if (done === true) throw new Error('the archive has more lines than when it was verified');
      if (section === undefined) continue;
      const { value, values } = parseLine(line, onExcess);
      yield { section, row: value, values };
    }
  if (sections.next().done !== true) throw new ArchiveCutShort();
}

/** Yields for each line of an archive the section of which it is a row, or `undefined` for a line between rows. */
function* sectionsOfLines({ rows }: Pick<ArchiveStructure, 'rows'>): Generator<SectionName | undefined> {
  // The header.
  yield undefined;
  for (const [section, count] of rows) {
    yield undefined;
    for (let row = 0; row < count; row += 1) yield section;
    yield undefined;
  }
  // The last line.
  yield undefined;
}
