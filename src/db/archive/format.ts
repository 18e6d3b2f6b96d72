import { createHash, type Hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Signature, Signer } from '../../model/declare/signing.ts';
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
const laterSections: readonly SectionName[] = ['credentials', 'invites', 'identities'];

/** Sections that an archive without history does not contain. */
const historySections: readonly SectionName[] = ['base_objects', 'revisions', 'changes'];

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
      for (const [, key = ''] of text.matchAll(sealedTextPattern)) keys.add(key);
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
function signedText({ rows, keys, sha256, key }: Pick<JsonObject, 'rows' | 'keys' | 'sha256' | 'key'>): string {
  return JSON.stringify({ end: 'archive', rows, keys, sha256, key });
}

/** Item that `readArchive` yields: the header, then every row, then the keys and the signature. */
export type ArchiveItem =
  | { readonly header: ArchiveHeader }
  | { readonly section: SectionName; readonly row: JsonObject }
  | { readonly keys: readonly string[]; readonly signed?: { readonly text: string } & Signature };

/**
 * Reads an archive and checks order, counts and checksums while it reads. When it throws `InvalidInput`, the items that
 * it yielded before must be discarded. The last item is yielded only when all checks passed.
 */
export async function* readArchive(lines: AsyncIterable<string>): AsyncGenerator<ArchiveItem> {
  const whole = createHash('sha256');
  // The assertion keeps TypeScript from narrowing the type to the initial value.
  let state = { at: 'start' } as State;
  for await (const line of lines) {
    const value = parseLine(line);
    if (state.at === 'end') throw damagedArchiveError('it has data after its end');
    if (state.at === 'start') {
      state = { at: 'between', header: headerOf(value), done: [], total: 0 };
      yield { header: state.header };
    } else if (state.at === 'inside') {
      if (value['end'] === state.section && typeof value['sha256'] === 'string') state = endSection(state, value);
      else {
        state.hash.update(`${line}\n`);
        state.rows.count += 1;
        yield { section: state.section, row: value };
      }
    } else if ('section' in value) {
      state = beginSection(state, String(value['section']));
    } else {
      endArchive(state, value, whole);
      yield endItem(value);
      state = { at: 'end' };
      continue;
    }
    whole.update(`${line}\n`);
  }
  if (state.at !== 'end') throw damagedArchiveError('it is cut short');
}

interface Between {
  readonly at: 'between';
  readonly header: ArchiveHeader;
  readonly done: readonly SectionName[];
  readonly total: number;
}

type State =
  | { readonly at: 'start' }
  | { readonly at: 'end' }
  | Between
  | (Omit<Between, 'at'> & {
      readonly at: 'inside';
      readonly section: SectionName;
      readonly hash: Hash;
      readonly rows: { count: number };
    });

function headerOf(value: JsonObject): ArchiveHeader {
  if (value['archive'] !== 'heddle')
    throw new InvalidInput('this is not an archive of Heddle; give a file that `heddle backup` wrote');
  const version = value['formatVersion'];
  if (typeof version !== 'number' || version > formatVersion)
    throw new InvalidInput(
      `the archive has the format ${String(version)} of a newer Heddle; this version reads formats up to ${formatVersion}. Restore the archive with the newer version`,
    );
  const { account, revision, base, createdAt } = value;
  if (typeof account !== 'string' || typeof createdAt !== 'string' || !isCount(revision) || !isCount(base))
    throw damagedArchiveError('its header is incomplete');
  // The members that are used are checked; the others are only shown.
  return value as unknown as ArchiveHeader;
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function beginSection(state: Between, name: string): State {
  const section = sectionNames.find((known) => known === name);
  const last = state.done.at(-1);
  const isNext =
    section !== undefined && (last === undefined || sectionNames.indexOf(section) > sectionNames.indexOf(last));
  if (!isNext) throw damagedArchiveError(`the section ${name.slice(0, 50)} is unknown or out of order`);
  return { ...state, at: 'inside', section, hash: createHash('sha256'), rows: { count: 0 } };
}

function endSection(state: Extract<State, { readonly at: 'inside' }>, value: JsonObject): State {
  const { section, hash, rows, header, done, total } = state;
  if (value['rows'] !== rows.count || value['sha256'] !== hash.digest('hex'))
    throw damagedArchiveError(`the checksum of its section ${section} does not match`);
  return { at: 'between', header, done: [...done, section], total: total + rows.count };
}

function endArchive({ header, done, total }: Between, value: JsonObject, whole: Hash): void {
  const required = sectionNames.filter((name) => header.history || !historySections.includes(name));
  const missing = required.filter((name) => !done.includes(name) && !laterSections.includes(name));
  if (value['end'] !== 'archive') throw damagedArchiveError('it has an unexpected line');
  if (missing.length > 0) throw damagedArchiveError(`its section ${missing[0]} is missing`);
  if (value['rows'] !== total || value['sha256'] !== whole.digest('hex'))
    throw damagedArchiveError('its checksum does not match');
}

/**
 * Returns the content of the last line: the ids of the keys of the secrets in the archive, and its signature. Archives
 * of the first releases are not signed.
 */
function endItem(value: JsonObject): ArchiveItem {
  const { keys, key, signature } = value;
  const names = Array.isArray(keys) ? keys.map(String) : [];
  if (typeof key !== 'string' || typeof signature !== 'string') return { keys: names };
  return { keys: names, signed: { text: signedText(value as Parameters<typeof signedText>[0]), key, signature } };
}

function parseLine(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value as JsonObject;
  } catch {
    // Refused below, like a line that is valid JSON but not an object.
  }
  throw damagedArchiveError('one of its lines is not a JSON object');
}

/** Returns the error for a damaged archive. */
export function damagedArchiveError(how: string): InvalidInput {
  return new InvalidInput(`the archive is damaged: ${how}. Nothing was written; use another copy of it`);
}
