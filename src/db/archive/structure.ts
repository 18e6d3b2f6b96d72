import { createHash, type Hash } from 'node:crypto';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { Signature } from '../../model/declare/signing.ts';
import { InvalidInput } from '../../model/errors.ts';
import {
  ArchiveCutShort,
  type ArchiveHeader,
  damagedArchiveError,
  formatVersion,
  historySections,
  laterSections,
  type SectionName,
  sectionNames,
  signedText,
} from './format.ts';
import type { OnExcess } from './limits.ts';
import { parseLine } from './parse-line.ts';

/** Content of an archive except its rows. */
export interface ArchiveStructure {
  readonly header: ArchiveHeader;
  /** Number of rows of each section that the archive contains. */
  readonly rows: ReadonlyMap<SectionName, number>;
  /** Ids of the keys of the secrets in the archive. */
  readonly keys: readonly string[];
  /** The signed text and its signature, which is not verified yet. Archives of the first releases have none. */
  readonly signed?: { readonly text: string } & Signature;
}

/**
 * Reads the lines of one archive and checks their order, counts and checksums. Parses only the lines between the rows,
 * because a row may be built to be expensive to parse, and nothing is known about its author before the last line.
 */
export interface StructureReader {
  /** Takes the next line. Returns the name of its section when the line is a row. Throws `InvalidInput`. */
  take(line: Uint8Array): SectionName | undefined;
  /** Called after the last line. Returns what was read. Throws `InvalidInput` when the archive is not complete. */
  end(): ArchiveStructure;
}

/** Creates a reader for one archive. */
export function createStructureReader(): StructureReader {
  const whole = createHash('sha256');
  // The assertion keeps TypeScript from narrowing the type to the initial value.
  let state = { at: 'start' } as State;
  const take = (line: Uint8Array): SectionName | undefined => {
    if (state.at === 'end') throw damagedArchiveError('it has data after its end');
    const next = advance(state, line, whole);
    if (next?.at !== 'end') whole.update(line);
    if (next !== undefined) {
      state = next;
      return undefined;
    }
    // Only a row leaves the state as it is.
    const { section, hash, count } = state as Inside;
    hash.update(line);
    count.rows += 1;
    return section;
  };
  return {
    take,
    end() {
      if (state.at !== 'end') throw new ArchiveCutShort();
      return state.structure;
    },
  };
}

interface Between {
  readonly at: 'between';
  readonly header: ArchiveHeader;
  /** Number of rows of each complete section. */
  readonly rows: ReadonlyMap<SectionName, number>;
}

interface Inside extends Omit<Between, 'at'> {
  readonly at: 'inside';
  readonly section: SectionName;
  readonly hash: Hash;
  readonly count: { rows: number };
}

type State = { readonly at: 'start' } | Between | Inside | { readonly at: 'end'; readonly structure: ArchiveStructure };

/** Returns the state after the line, or `undefined` when the line is a row. */
function advance(state: Exclude<State, { at: 'end' }>, line: Uint8Array, whole: Hash): State | undefined {
  if (state.at === 'start') return { at: 'between', header: headerOf(parseMarker(line)), rows: new Map() };
  if (state.at === 'inside')
    return startsWith(line, sectionEndPrefix) ? endSection(state, parseMarker(line)) : undefined;
  const value = parseMarker(line);
  return 'section' in value ? beginSection(state, String(value['section'])) : endArchive(state, value, whole);
}

/** Beginning of a line that ends a section. No row begins so, because no table has a column of this name. */
const sectionEndPrefix = Buffer.from('{"end":');

function startsWith(line: Uint8Array, prefix: Buffer): boolean {
  return prefix.equals(line.subarray(0, prefix.length));
}

/**
 * Maximum length of a line that is not a row, in bytes. The longest one is the last line, which lists keys: about 1000
 * at most, but earlier releases listed every text that looked like the id of a key.
 */
const maxMarkerBytes = 1024 * 1024;

/** Parses a line that is not a row. */
function parseMarker(line: Uint8Array): JsonObject {
  if (line.length > maxMarkerBytes) throw damagedArchiveError('its header or the end of a section is too long');
  return parseLine(line, refuseDamaged).value;
}

/** Refuses any excess: a line that is not a row is small, whatever the size of the account. */
const refuseDamaged: OnExcess = (excess) => {
  throw damagedArchiveError(excess);
};

function headerOf(value: JsonObject): ArchiveHeader {
  if (value['archive'] !== 'heddle')
    throw new InvalidInput('this is not an archive of Heddle; give a file that `heddle backup` wrote');
  const version = value['formatVersion'];
  if (typeof version !== 'number' || version > formatVersion)
    throw new InvalidInput(
      `the archive has the format ${String(version).slice(0, 50)} of a newer Heddle; this version reads formats up to ${formatVersion}. Restore the archive with the newer version`,
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

function beginSection({ header, rows }: Between, name: string): Inside {
  const section = sectionNames.find((known) => known === name);
  const last = [...rows.keys()].at(-1);
  const isNext =
    section !== undefined && (last === undefined || sectionNames.indexOf(section) > sectionNames.indexOf(last));
  if (!isNext) throw damagedArchiveError(`the section ${name.slice(0, 50)} is unknown or out of order`);
  return { at: 'inside', header, rows, section, hash: createHash('sha256'), count: { rows: 0 } };
}

function endSection({ header, rows, section, hash, count }: Inside, value: JsonObject): Between {
  if (value['end'] !== section) throw damagedArchiveError('it has an unexpected line');
  if (value['rows'] !== count.rows || value['sha256'] !== hash.digest('hex'))
    throw damagedArchiveError(`the checksum of its section ${section} does not match`);
  return { at: 'between', header, rows: new Map([...rows, [section, count.rows]]) };
}

function endArchive({ header, rows }: Between, value: JsonObject, whole: Hash): State {
  const required = sectionNames.filter((name) => header.history || !historySections.includes(name));
  const missing = required.filter((name) => !rows.has(name) && !laterSections.includes(name));
  const total = [...rows.values()].reduce((sum, count) => sum + count, 0);
  if (value['end'] !== 'archive') throw damagedArchiveError('it has an unexpected line');
  if (missing.length > 0) throw damagedArchiveError(`its section ${missing[0]} is missing`);
  if (value['rows'] !== total || value['sha256'] !== whole.digest('hex'))
    throw damagedArchiveError('its checksum does not match');
  return { at: 'end', structure: { header, rows, ...lastLineOf(value) } };
}

function lastLineOf(value: JsonObject): Pick<ArchiveStructure, 'keys' | 'signed'> {
  const { keys, key, signature } = value;
  const names = Array.isArray(keys) ? keys.map(String) : [];
  if (typeof key !== 'string' || typeof signature !== 'string') return { keys: names };
  return { keys: names, signed: { text: signedText(value as Parameters<typeof signedText>[0]), key, signature } };
}
