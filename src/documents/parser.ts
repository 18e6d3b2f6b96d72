import { Worker } from 'node:worker_threads';
import { Internal } from '../model/errors.ts';
import { limits } from './limits.ts';
import type { ReadResult } from './objects.ts';

/** What reading one text in the worker gave; `bytes` is its size as JSON text. Places and problems carry an empty path. */
export interface ParsedFile extends ReadResult {
  readonly bytes: number;
}

/** Reads one text at a time in a worker thread, so that no input can hold up or exhaust the process. */
export interface Parser {
  parse(text: string, signal?: AbortSignal): Promise<ParsedFile>;
  close(): Promise<void>;
}

// A 4 MiB list of 2 million zeros needs 2 GB to be found too long.
const heapMebibytes = 2048;

/** Starts a worker when there is something to read and a new one when a text was too much for the last. */
export function createParser(options: { readonly fileMilliseconds?: number } = {}): Parser {
  const milliseconds = options.fileMilliseconds ?? limits.fileMilliseconds;
  let worker: Worker | undefined;
  const drop = async () => {
    const dropped = worker;
    worker = undefined;
    await dropped?.terminate();
  };
  return {
    async parse(text, signal) {
      worker ??= startWorker();
      // An idle worker must not keep the process alive, one at work must.
      worker.ref();
      const outcome = await ask(worker, text, milliseconds, signal);
      if (outcome.result === undefined) await drop();
      worker?.unref();
      if (outcome.failure !== undefined) throw outcome.failure;
      return outcome.result ?? outcome.refusal;
    },
    close: drop,
  };
}

/** Exactly one of the three is there; without a result the worker is of no more use. */
type Outcome =
  | { readonly result: ParsedFile; readonly failure?: undefined }
  | { readonly result?: undefined; readonly refusal: ParsedFile; readonly failure?: undefined }
  | { readonly result?: undefined; readonly failure: unknown };

function startWorker(): Worker {
  // Under type stripping the file is TypeScript, in the build it is not, and the build does not rewrite URLs.
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  return new Worker(new URL(file, import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } });
}

function ask(worker: Worker, text: string, milliseconds: number, signal: AbortSignal | undefined): Promise<Outcome> {
  const cleanup = new AbortController();
  return new Promise<Outcome>((resolve) => {
    const listen = (event: 'message' | 'error' | 'exit', listener: (value: never) => void) => {
      worker.on(event, listener);
      cleanup.signal.addEventListener('abort', () => worker.off(event, listener));
    };
    const timer = setTimeout(() => resolve({ refusal: tooSlow(milliseconds) }), milliseconds);
    cleanup.signal.addEventListener('abort', () => clearTimeout(timer));
    listen('message', (message: string) => {
      if (message === 'ready') timer.refresh();
      else resolve({ result: { ...(JSON.parse(message) as ReadResult), bytes: message.length } });
    });
    listen('error', (error: Error) => resolve(outcomeOf(error)));
    listen('exit', () => resolve({ failure: new Internal('The reader was closed while it read a file.') }));
    const abort = () => resolve({ failure: signal?.reason });
    signal?.addEventListener('abort', abort, { signal: cleanup.signal });
    if (signal?.aborted) abort();
    else worker.postMessage(text);
  }).finally(() => cleanup.abort());
}

function outcomeOf(error: Error & { readonly code?: string }): Outcome {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { refusal: refusal('file_too_large', 'The file needs too much memory to be read; split it.') };
  }
  return { failure: new Internal('The thread that reads documents failed.', { cause: error }) };
}

function tooSlow(milliseconds: number): ParsedFile {
  return refusal('file_too_slow', `The file takes longer than ${milliseconds / 1000} s to be read; split it.`);
}

function refusal(code: string, message: string): ParsedFile {
  return { documents: [], problems: [{ code, message, file: '', line: 1, column: 1 }], bytes: 0 };
}
