import { availableParallelism } from 'node:os';
import type { Position } from '../position.ts';
import { type ReadText, readPlainJson } from '../read.ts';
import { type Asked, type Job, readAnswer, runJob } from './job.ts';
import { Pool } from './pool.ts';

/** What reading one text gave; `bytes` is its size as JSON text. Places and problems carry an empty path. */
export interface ParsedFile extends ReadText {
  readonly bytes: number;
}

/** On whose behalf something is read. */
export interface ReadFor {
  /** Accounts take turns; who names none shares the turns of all who name none. */
  readonly account?: string;
  /** Ends the reading when its result is not needed any more. */
  readonly signal?: AbortSignal;
}

/** Reads texts in threads, so that no input can hold up or exhaust the process. */
export interface Parser {
  parse(text: string, who: ReadFor): Promise<ParsedFile>;
  locate(text: string, asked: readonly Asked[], who: ReadFor): Promise<readonly Position[]>;
  close(): Promise<void>;
}

/** Limits of a parser. */
export interface ParserOptions {
  /** After so long a file is given up, which says nothing about it: it may be tried again. */
  readonly lateMs?: number;
  /** So much memory a thread may take; one that takes more is stopped, which says nothing about the file either. */
  readonly heapMebibytes?: number;
  /** How many threads read. */
  readonly threads?: number;
  /** Texts up to so many characters are read without a thread; none, unless said otherwise. */
  readonly charactersHere?: number;
}

/** The largest text takes 20 s on a quiet machine: who is later than this was kept from working. */
const plainLateMs = 120_000;

/** The largest that a text of 4 MiB was seen to need is 1.9 GB. */
const plainHeapMebibytes = 2048;

/** Creates a parser, whose threads start when there is something to read. */
export function createParser({ charactersHere = 0, ...options }: ParserOptions = {}): Parser {
  const { lateMs = plainLateMs, heapMebibytes = plainHeapMebibytes, threads = plainThreads() } = options;
  const pool = new Pool({ threads, lateMs, heapMebibytes });
  const run = (job: Job, { account = '', signal }: ReadFor): Promise<readonly string[]> | readonly string[] =>
    job.text.length <= charactersHere ? runJob(job) : pool.run({ job, account, signal });
  return {
    async parse(text, who) {
      const plain = text.length <= jsonCharactersHere ? readPlainJson(text) : undefined;
      if (plain !== undefined) return { ...plain, bytes: text.length };
      const parts = await run({ what: 'read', text }, who);
      const bytes = parts.reduce((total, part) => total + part.length, 0);
      return { ...(await readAnswer(parts)), bytes };
    },
    async locate(text, asked, who) {
      const [positions = '[]'] = await run({ what: 'locate', text, asked }, who);
      // As `runJob` wrote it.
      return JSON.parse(positions) as readonly Position[];
    },
    close: () => pool.close(),
  };
}

/**
 * JSON up to so many characters is read without a thread, unless something is wrong with it: the 10,000 resources of a
 * cluster are as many small files, and sending them to a thread and back takes three times as long as reading them.
 */
const jsonCharactersHere = 16 * 1024;

/** Two at least, so that a large text never keeps small ones waiting; each may need 2 GB. */
function plainThreads(): number {
  return Math.min(4, Math.max(2, availableParallelism() - 1));
}
