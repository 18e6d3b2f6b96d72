import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { type ArchiveHeader, type SectionName, sectionNames, writeArchive } from '../../src/db/archive/format.ts';
import { compressArchive } from '../../src/db/archive/lines.ts';
import { archiveOfBytes } from '../../src/db/archive/packed.ts';
import { archiveRows } from '../../src/db/archive/rows.ts';
import { measureArchive, verifyArchive } from '../../src/db/archive/verify.ts';
import { createSigner } from '../../src/db/sealing/signer.ts';
import type { JsonObject } from '../../src/lib/json.ts';

export const signer = createSigner([randomBytes(32)], 'archives');
export const header: ArchiveHeader = {
  ...{ archive: 'heddle', formatVersion: 1, account: 'a', revision: 3, base: 3, history: false },
  ...{ createdAt: '2026-01-01T00:00:00Z', program: 'test' },
};
const names = sectionNames.filter((name) => !['base_objects', 'revisions', 'changes'].includes(name));

/** Returns a signed archive with these rows in its section `objects`. */
export async function written(rows: readonly JsonObject[]): Promise<Buffer> {
  const sections = names.map((name) => ({
    name,
    async *pages() {
      if (name === 'account') yield [{ sequences: {} }];
      if (name === 'objects') yield rows;
    },
  }));
  return Buffer.concat(await compressArchive(writeArchive(header, sections, signer)).toArray());
}

/** Returns an archive with these texts as rows of `objects`, in Latin-1, with matching checksums and these keys. */
export function packedRows(rows: readonly string[], keys?: readonly string[]): Buffer {
  const sha256 = (lines: readonly string[]) => createHash('sha256').update(lines.join(''), 'latin1').digest('hex');
  const section = (name: SectionName) => {
    const lines = name === 'objects' ? rows.map((row) => `${row}\n`) : [];
    return [`{"section":"${name}"}\n`, ...lines, endOf(name, lines.length, sha256(lines))];
  };
  const lines = [`${JSON.stringify(header)}\n`, ...names.flatMap(section)];
  return gzipSync(Buffer.from([...lines, endOf('archive', rows.length, sha256(lines), keys)].join(''), 'latin1'));
}

function endOf(end: string, rows: number, sha256: string, keys?: readonly string[]): string {
  return `${JSON.stringify({ end, rows, keys, sha256 })}\n`;
}

/** Returns the rows of the section `objects`, after verifying the archive or another one in its place. */
export async function rowsIn(archive: Buffer, verified = archive): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const structure = await verifyArchive(archiveOfBytes(verified));
  for await (const { section, row } of archiveRows(archiveOfBytes(archive), structure))
    if (section === 'objects') found.push(row);
  return found;
}

/**
 * Expects that measuring an archive with these rows returns an excess that contains this text, and that the archive is
 * verified nevertheless.
 */
export async function expectExcess(rows: readonly JsonObject[], text: string): Promise<void> {
  const archive = await written(rows);
  const { structure, excess } = await measureArchive(archiveOfBytes(archive));
  expect([structure.rows.get('objects'), excess]).toEqual([rows.length, expect.stringContaining(text)]);
  await expect(measureArchive(archiveOfBytes(archive.subarray(0, -40)))).rejects.toThrow(/cut short/);
}
