import { availableParallelism } from 'node:os';
import type { Position } from '../position.ts';
import { type ReadText, readPlainJson } from '../read.ts';
import { type Job, type PositionQuery, readAnswer, runJob } from './job.ts';
import { Pool } from './pool.ts';

/** Result of reading one text. `bytes` is its size as JSON text. The file path in positions and problems is empty. */
export interface ParsedFile extends ReadText {
  readonly bytes: number;
}

/** The caller for which a text is read. */
export interface ReadCaller {
  /** Account of the caller. Accounts take turns; all callers without an account share the turns of one account. */
  readonly account?: string;
  /** Aborts the reading when its result is not needed any more. */
  readonly signal?: AbortSignal;
}

/** Reads texts in threads, so that no input can block the process or exhaust its memory. */
export interface Parser {
  parse(text: string, who: ReadCaller): Promise<ParsedFile>;
  locate(text: string, asked: readonly PositionQuery[], who: ReadCaller): Promise<readonly Position[]>;
  close(): Promise<void>;
}

/** Limits of a parser. */
export interface ParserOptions {
  /**
   * Maximum time for a file, in milliseconds. A timeout does not mean that the file is wrong: the caller may try again.
   */
  readonly timeoutMs?: number;
  /**
   * Maximum memory of a thread, in MiB. A thread that needs more is stopped, which does not mean that the file is wrong
   * either.
   */
  readonly heapMebibytes?: number;
  /** Number of threads that read. An account never has all of them. */
  readonly threads?: number;
  /** Number of threads that may read large texts at the same time, each of which may need the maximum memory. */
  readonly largeThreads?: number;
  /** Maximum length of a text that is read without a thread, in characters. 0 by default. */
  readonly maxInlineCharacters?: number;
}

/** The largest text takes 20 s on an idle machine, so a timeout means that the thread was kept from working. */
const defaultTimeoutMs = 120_000;

/** The largest heap that a text of 4 MiB was observed to need is 1.9 GB. */
const defaultHeapMebibytes = 2048;

/**
 * Creates a parser. By default, it has one thread more than the machine has cores, at most four, so that one account can
 * use all cores of a small machine. For large texts it has one to three, because each may need 2 GB. Its threads start
 * when there is a text to read.
 */
export function createParser({ maxInlineCharacters = 0, ...options }: ParserOptions = {}): Parser {
  const cores = availableParallelism();
  const {
    timeoutMs = defaultTimeoutMs,
    heapMebibytes = defaultHeapMebibytes,
    threads = Math.min(4, cores + 1),
    largeThreads = Math.max(1, Math.min(3, cores - 2)),
  } = options;
  const pool = new Pool({ threads, largeThreads, timeoutMs, heapMebibytes });
  const run = (job: Job, { account = '', signal }: ReadCaller): Promise<readonly string[]> | readonly string[] =>
    job.text.length <= maxInlineCharacters ? runJob(job) : pool.run({ job, account, signal });
  return {
    async parse(text, who) {
      const plain = text.length <= maxInlineJsonCharacters ? readPlainJson(text) : undefined;
      if (plain !== undefined) return { ...plain, bytes: text.length };
      const parts = await run({ what: 'read', text }, who);
      const bytes = parts.reduce((total, part) => total + part.length, 0);
      return { ...(await readAnswer(parts)), bytes };
    },
    async locate(text, asked, who) {
      const [positions = '[]'] = await run({ what: 'locate', text, asked }, who);
      // `runJob` wrote the text.
      return JSON.parse(positions) as readonly Position[];
    },
    close: () => pool.close(),
  };
}

/**
 * Maximum length of JSON without problems that is read without a thread, in characters. The 10,000 resources of a
 * cluster are as many small files, and sending them to a thread and back takes three times as long as reading them.
 */
const maxInlineJsonCharacters = 16 * 1024;
