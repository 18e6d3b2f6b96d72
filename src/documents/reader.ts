import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Document, ForeignFile, SourceFile } from '../model/document.ts';
import { Internal } from '../model/errors.ts';
import { type Problem, sortProblems, takeFaults } from '../model/problem.ts';
import type { ProblemCode } from '../model/problem-codes.ts';
import { digestOfFile } from './digest.ts';
import { createDuplicateFinder } from './duplicates.ts';
import { describeBytes, limits } from './limits.ts';
import type { Position } from './position.ts';
import type { PositionQuery } from './threads/job.ts';
import { createParser, type ParsedFile, type ParserOptions, type ReadCaller } from './threads/parser.ts';

/** Reads source revisions; unchanged files cost only a hash. */
export interface Reader {
  /** Returns all documents and all problems of one revision. The caller must refuse a revision that has any problem. */
  read(files: readonly SourceFile[], who?: ReadCaller): Promise<ReadRevision>;
  /** Returns the positions of values in a file. */
  locate(file: SourceFile, asked: readonly PositionQuery[], who?: ReadCaller): Promise<readonly Position[]>;
  /** Returns the number of files that were parsed, and of files that were cached, since the start. */
  stats(): { readonly parsed: number; readonly reused: number };
  /** Ends the threads. */
  close(): Promise<void>;
}

/** Result of reading a revision. */
export interface ReadRevision {
  documents: Document[];
  problems: Problem[];
  /** Files without Heddle documents. Their problems as documents are not part of `problems`. */
  foreign: ForeignFile[];
}

/** Limits of a reader, for tests and small machines. */
export interface ReaderOptions extends ParserOptions {
  /**
   * Size of the cache, measured as the JSON text of the documents. Their values need about three times as much memory.
   * With 0, texts are not cached, and need no digest.
   */
  readonly cacheBytes?: number;
}

/**
 * Creates a reader that parses in threads, in which accounts take turns, and caches results by the digest of the text.
 */
export function createReader(options: ReaderOptions = {}): Reader {
  const parser = createParser(options);
  const { cacheBytes = limits.revisionBytes } = options;
  const cache = createByteCache<ParsedFile>(cacheBytes);
  const findDuplicates = createDuplicateFinder();
  const counts = { parsed: 0, reused: 0 };
  let closed = false;
  const parse = async (file: SourceFile, digest: string, who: ReadCaller): Promise<ParsedFile> => {
    const parsed = await parser.parse(file.text, who);
    cache.set(digest, parsed, parsed.bytes + parsed.problems.length * bytesPerProblem);
    return parsed;
  };
  const readText = (file: SourceFile, who: ReadCaller): ParsedFile | Promise<ParsedFile> => {
    who.signal?.throwIfAborted();
    if (closed) throw new Internal('The reader is closed.');
    if (cacheBytes === 0) {
      counts.parsed += 1;
      return parser.parse(file.text, who);
    }
    const digest = digestOfFile(file);
    const known = cache.get(digest);
    counts[known === undefined ? 'parsed' : 'reused'] += 1;
    return known ?? parse(file, digest, who);
  };
  return {
    read: async (files, who = {}) => readRevision(files, (file) => readText(file, who), findDuplicates),
    locate: async (file, asked, who = {}) => parser.locate(file.text, asked, who),
    stats: () => ({ ...counts }),
    async close() {
      closed = true;
      await parser.close();
    },
  };
}

/** Size of a problem in the cache. A file of 4 KB can have 1000 problems, and a revision thousands of such files. */
const bytesPerProblem = 512;

type ReadText = (file: SourceFile) => ParsedFile | Promise<ParsedFile>;

const charactersPerTurn = 4 * 1024 * 1024;

/** Cost of a file in addition to its text, in characters: thousands of empty files also take time. */
const fileCostCharacters = 4096;

/**
 * The same cost for a file that was not cached, in characters. It is higher because the file may have been parsed
 * without a thread.
 */
const parseCostCharacters = 16_384;

async function readRevision(
  files: readonly SourceFile[],
  readText: ReadText,
  findDuplicates: ReturnType<typeof createDuplicateFinder>,
): Promise<ReadRevision> {
  if (files.length > limits.revisionFiles)
    return refusal('revision_too_many_files', `${files.length} files`, String(limits.revisionFiles));
  const bytes = files.reduce((total, file) => total + Buffer.byteLength(file.text), 0);
  if (bytes > limits.revisionBytes)
    return refusal('revision_too_large', describeBytes(bytes), describeBytes(limits.revisionBytes));
  const documents: Document[] = [];
  const byFile: (readonly Document[])[] = [];
  const problems: Problem[] = [];
  const foreign: ForeignFile[] = [];
  let characters = 0;
  const ahead = startAhead(files, readText);
  for (const file of files) {
    const text = ahead();
    const isKnown = !(text instanceof Promise);
    const parsed = isKnown ? text : await text;
    const result = addFilePath(file.path, parsed);
    byFile.push(result.documents);
    for (const document of result.documents) documents.push(document);
    if (result.foreign !== undefined) foreign.push(result.foreign);
    for (const problem of takeFaults(result.problems, problems.length)) problems.push(problem);
    characters += file.text.length + (isKnown ? fileCostCharacters : parseCostCharacters);
    if (characters < charactersPerTurn) continue;
    // A few files fit into one turn of the event loop. Hashing 64 MiB of files, or parsing thousands, in one turn would
    // hold up requests.
    characters = 0;
    await nextTurn();
  }
  if (documents.length > limits.revisionDocuments) {
    return refusal('revision_too_many_documents', `${documents.length} documents`, String(limits.revisionDocuments));
  }
  return { documents, problems: [...sortProblems([...problems, ...findDuplicates(byFile)])], foreign };
}

/**
 * Number of files that are read at the same time, so that a thread need not wait until the caller has taken the
 * previous result.
 */
const filesAhead = 8;

/**
 * Starts to read the files in order, a few ahead of the caller. Each call of the returned function gives the result of
 * the next file.
 */
function startAhead(files: readonly SourceFile[], readText: ReadText): () => ReturnType<ReadText> {
  const rest = files.values();
  const started: ReturnType<ReadText>[] = [];
  return () => {
    while (started.length < filesAhead) {
      const { value, done } = rest.next();
      if (done === true) break;
      const text = readText(value);
      // When an earlier file fails, no caller awaits this promise.
      if (text instanceof Promise) text.catch(() => {});
      started.push(text);
    }
    return started.shift() as ReturnType<ReadText>;
  };
}

/** Content of a file, with the path of the file. */
interface FileContent {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
  readonly foreign?: ForeignFile;
}

const contentByPath = new WeakMap<ParsedFile, Map<string, FileContent>>();

/**
 * Adds the path of the file to its documents and problems. Returns identical documents for an unchanged file, so that
 * callers can find changes by comparing references.
 */
function addFilePath(file: string, parsed: ParsedFile): FileContent {
  const known = contentByPath.get(parsed) ?? new Map<string, FileContent>();
  contentByPath.set(parsed, known);
  const present = known.get(file);
  if (present !== undefined) return present;
  const { foreign } = parsed;
  const inFile = (problems: readonly Problem[]) => problems.map((problem) => ({ ...problem, file }));
  const result = {
    documents: parsed.documents.map((document) => ({ ...document, position: { ...document.position, file } })),
    problems: inFile(parsed.problems),
    ...(foreign === undefined ? {} : { foreign: { ...foreign, file, problems: inFile(foreign.problems) } }),
  };
  known.set(file, result);
  return result;
}

function refusal(code: ProblemCode, found: string, limit: string): ReadRevision {
  const message = `The source contains ${found} and may contain ${limit}; split it into several sources.`;
  return { documents: [], problems: [{ code, message }], foreign: [] };
}

/** Cache of values by key, bounded by total size. Evicts the value that was not used for the longest time first. */
export interface ByteCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, bytes: number): void;
}

function createByteCache<Value>(capacity: number): ByteCache<Value> {
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let total = 0;
  const remove = (key: string) => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      // A `Map` keeps the order of insertion, so inserting the entry again makes it the newest.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      remove(key);
      if (bytes > capacity) return;
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= capacity) return;
        remove(oldest);
      }
    },
  };
}
