import { createHash } from 'node:crypto';
import type { JsonObject } from '../../lib/json.ts';
import type { Signer } from '../../model/declare/signing.ts';
import { InvalidInput } from '../../model/errors.ts';

/**
 * An archive is text with one JSON value per line: a header; sections, each between a `{"section"}` line and an
 * `{"end", rows, sha256}` line; and a last line `{"end": "archive", rows, keys, sha256, key, signature}`. The signature
 * covers the last line without `signature` and, through its checksum, everything before it. An archive is stored and
 * sent compressed with gzip.
 */
export const formatVersion = 1;

/**
 * Sections of an archive, in their order. Only the history may be missing, and sections that earlier releases did not
 * write.
 */
export const sectionNames = [
  'account',
  'sources',
  'objects',
  'tokens',
  'credentials',
  'invites',
  'identities',
  'directory',
  'sync_logs',
  'audit_events',
  'base_objects',
  'revisions',
  'changes',
] as const;

export type SectionName = (typeof sectionNames)[number];

/** Sections that archives of the first releases do not contain. */
export const laterSections: readonly SectionName[] = ['credentials', 'invites', 'identities'];

/** Sections that an archive without history does not contain. */
export const historySections: readonly SectionName[] = ['base_objects', 'revisions', 'changes'];

/** First line of an archive, which describes its content. */
export interface ArchiveHeader {
  readonly archive: 'heddle';
  readonly formatVersion: number;
  readonly account: string;
  /** Revision whose state the archive contains. */
  readonly revision: number;
  /** Revision at which the history of the archive begins. Equals `revision` in an archive without history. */
  readonly base: number;
  readonly history: boolean;
  /** Time of the archive, in ISO 8601. */
  readonly createdAt: string;
  /** Release that wrote the archive. */
  readonly program: string;
}

/** A section and its rows, in pages. */
export interface Section {
  readonly name: SectionName;
  pages(): AsyncIterable<readonly JsonObject[]>;
}

/**
 * Matches texts that look like sealed values of any format, and captures the id of their key. Enough to list the keys
 * that a restore will need.
 */
export const sealedTextPattern = /"sealed:(?:2:)?([0-9a-f]{12}):/g;

/**
 * Maximum number of keys that the last line lists besides those of this server. Servers have few keys; more ids come
 * from texts that only look like sealed values, and would make the last line longer than readers accept.
 */
const maxListedKeys = 1000;

/** Writes a signed archive. Yields its text in pieces. */
export async function* writeArchive(
  header: ArchiveHeader,
  sections: Iterable<Section>,
  signer: Signer,
): AsyncGenerator<string> {
  const whole = createHash('sha256');
  const keys = new Set<string>();
  let total = 0;
  const line = (value: unknown): string => {
    const text = `${JSON.stringify(value)}\n`;
    whole.update(text);
    return text;
  };
  yield line(header);
  for (const section of sections) {
    yield line({ section: section.name });
    const hash = createHash('sha256');
    let rows = 0;
    for await (const page of section.pages()) {
      const texts = page.map((row) => `${JSON.stringify(row)}\n`);
      const text = texts.join('');
      for (const [, key = ''] of text.matchAll(sealedTextPattern))
        if (keys.size < maxListedKeys || signer.keyIds.includes(key)) keys.add(key);
      hash.update(text);
      whole.update(text);
      rows += page.length;
      yield text;
    }
    total += rows;
    yield line({ end: section.name, rows, sha256: hash.digest('hex') });
  }
  const end = signedText({ rows: total, keys: [...keys].sort(), sha256: whole.digest('hex'), key: signer.keyId });
  yield `${JSON.stringify({ ...JSON.parse(end), signature: signer.sign(end) })}\n`;
}

/** Returns the text that is signed: the last line without its signature. */
export function signedText({ rows, keys, sha256, key }: Pick<JsonObject, 'rows' | 'keys' | 'sha256' | 'key'>): string {
  return JSON.stringify({ end: 'archive', rows, keys, sha256, key });
}

/** Returns the error for a damaged archive. */
export function damagedArchiveError(how: string): InvalidInput {
  return new InvalidInput(damage(how));
}

/** The archive has no end, for example because its transfer was interrupted. */
export class ArchiveCutShort extends InvalidInput {
  constructor() {
    super(damage('it is cut short'));
  }
}

function damage(how: string): string {
  return `the archive is damaged: ${how}. Nothing was written; use another copy of it`;
}
