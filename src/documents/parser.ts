import { Worker } from 'node:worker_threads';
import { Internal } from '../model/errors.ts';
import { limits } from './limits.ts';
import type { ReadResult } from './objects.ts';
import { ready } from './worker-message.ts';

/** What reading one text in the worker gave; `bytes` is its size as JSON text. Places and problems carry an empty path. */
export interface ParsedFile extends ReadResult {
  readonly bytes: number;
}

/** Reads one text at a time, in a worker thread so that no input can hold up or exhaust the process. */
export interface Parser {
  parse(text: string, signal?: AbortSignal): Promise<ParsedFile>;
  close(): Promise<void>;
}

// A 4 MiB list of 2 million zeros needs 2 GB to be found too long.
const heapMebibytes = 2048;

/** Limits of a parser. */
export interface ParserOptions {
  readonly fileMilliseconds?: number;
  /** Texts up to so many characters are read without a worker; none, unless said otherwise. */
  readonly charactersHere?: number;
}

/** Starts a worker when there is something to read and a new one when a text was too much for the last. */
export function createParser({ charactersHere = 0, ...options }: ParserOptions = {}): Parser {
  const milliseconds = options.fileMilliseconds ?? limits.fileMilliseconds;
  let worker: Worker | undefined;
  const drop = async () => {
    const dropped = worker;
    worker = undefined;
    await dropped?.terminate();
  };
  return {
    async parse(text, signal) {
      if (text.length <= charactersHere) return readHere(text);
      const isNew = worker === undefined;
      worker ??= startWorker();
      // An idle worker must not keep the process alive, one at work must.
      worker.ref();
      const outcome = await ask({ worker, isNew, milliseconds, signal }, text);
      if (outcome.state !== 'read') await drop();
      worker?.unref();
      if (outcome.state === 'failed') throw outcome.reason;
      return outcome.file;
    },
    close: drop,
  };
}

/** Reads what is too small to hold up anybody. */
async function readHere(text: string): Promise<ParsedFile> {
  const { readFile } = await import('./read.ts');
  return parsed(JSON.stringify(readFile({ path: '', text })));
}

function parsed(message: string): ParsedFile {
  return { ...(JSON.parse(message) as ReadResult), bytes: message.length };
}

/** What became of one text; only after a result the worker is of further use. */
type Outcome =
  | { readonly state: 'read'; readonly file: ParsedFile }
  | { readonly state: 'refused'; readonly file: ParsedFile }
  | { readonly state: 'failed'; readonly reason: unknown };

function startWorker(): Worker {
  // Under type stripping the file is TypeScript, in the build it is not, and the build does not rewrite URLs.
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  return new Worker(new URL(file, import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } });
}

interface Asking {
  readonly worker: Worker;
  readonly isNew: boolean;
  readonly milliseconds: number;
  readonly signal: AbortSignal | undefined;
}

function ask({ worker, isNew, milliseconds, signal }: Asking, text: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      worker.off('message', receive).off('error', fail).off('exit', exit);
      signal?.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const receive = (message: string) => {
      if (message === ready) startTimer();
      else settle({ state: 'read', file: parsed(message) });
    };
    const fail = (error: Error) => settle(outcomeOf(error));
    const exit = () => settle({ state: 'failed', reason: new Internal('The reader was closed while it read a file.') });
    const abort = () => settle({ state: 'failed', reason: signal?.reason });
    const startTimer = () => {
      timer = setTimeout(() => settle({ state: 'refused', file: tooSlow(milliseconds) }), milliseconds);
    };
    // The time to start a worker is not the file's.
    if (!isNew) startTimer();
    worker.on('message', receive).on('error', fail).on('exit', exit);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    else worker.postMessage(text);
  });
}

function outcomeOf(error: Error & { readonly code?: string }): Outcome {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return {
      state: 'refused',
      file: refusal('file_too_large', 'The file needs too much memory to be read; split it.'),
    };
  }
  return { state: 'failed', reason: new Internal('The thread that reads documents failed.', { cause: error }) };
}

function tooSlow(milliseconds: number): ParsedFile {
  return refusal('file_too_slow', `The file takes longer than ${milliseconds / 1000} s to be read; split it.`);
}

function refusal(code: string, message: string): ParsedFile {
  return { documents: [], problems: [{ code, message, file: '', line: 1, column: 1 }], bytes: 0 };
}
