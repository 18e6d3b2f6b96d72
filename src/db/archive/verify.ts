import type { SectionName } from './format.ts';
import { createObjectMeter, type OnExcess, refuseExcess } from './limits.ts';
import { archiveLines } from './lines.ts';
import type { PackedArchive } from './packed.ts';
import { measureLine } from './parse-line.ts';
import { type ArchiveStructure, createStructureReader } from './structure.ts';

/**
 * Reads an archive to its end and checks its order, counts and checksums, without parsing or keeping its rows. Whatever
 * the archive contains, this needs memory for one line. Throws `InvalidInput` when a check fails. The signature is left
 * to the caller, who has the keys.
 */
export async function verifyArchive(
  archive: PackedArchive,
  onExcess: OnExcess = refuseExcess,
  takeRow: (section: SectionName, line: Uint8Array) => void = () => {},
): Promise<ArchiveStructure> {
  const reader = createStructureReader();
  for await (const lines of archiveLines(archive, onExcess))
    for (const line of lines) {
      const section = reader.take(line);
      if (section !== undefined) takeRow(section, line);
    }
  return reader.end();
}

/** An archive of any size that was verified. */
export interface MeasuredArchive {
  readonly structure: ArchiveStructure;
  /** First limit of an owner's restore that the archive exceeds, as a clause. */
  readonly excess?: string;
}

/** Verifies an archive of any size, and finds out whether an owner can restore it. */
export async function measureArchive(archive: PackedArchive): Promise<MeasuredArchive> {
  const found: string[] = [];
  const note: OnExcess = (excess) => {
    if (found.length === 0) found.push(excess);
  };
  const countValues = createObjectMeter(note);
  const structure = await verifyArchive(archive, note, (section, line) =>
    countValues(section, measureLine(line, note)),
  );
  const [excess] = found;
  return { structure, ...(excess === undefined ? {} : { excess }) };
}
