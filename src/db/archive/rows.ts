import type { JsonObject } from '../../lib/json.ts';
import type { SectionName } from './format.ts';
import { type OnExcess, refuseExcess } from './limits.ts';
import { archiveLines } from './lines.ts';
import { parseLine } from './parse-line.ts';
import { createStructureReader } from './structure.ts';

/** A row of an archive, and the section that contains it. */
export interface ArchiveRow {
  readonly section: SectionName;
  readonly row: JsonObject;
  /** Number of JSON values in the row, counted as `measureJson` counts. */
  readonly values: number;
}

/** Yields the rows of an archive. Call `verifyArchive` first: rows of unknown authors are expensive to parse. */
export async function* archiveRows(
  compressed: AsyncIterable<Uint8Array>,
  onExcess: OnExcess = refuseExcess,
): AsyncGenerator<ArchiveRow> {
  const reader = createStructureReader();
  for await (const lines of archiveLines(compressed, onExcess))
    for (const line of lines) {
      const section = reader.take(line);
      if (section === undefined) continue;
      const { value, values } = parseLine(line, onExcess);
      yield { section, row: value, values };
    }
  reader.end();
}
