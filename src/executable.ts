import { getAsset, getRawAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread with a file of the program, named by its path beside that of the caller without its ending. In the
 * single executable the file is inside, and a thread has to begin with what finds it there.
 */
export function startProgramThread(file: string, caller: string, options: WorkerOptions): Worker {
  // Under type stripping the file is TypeScript, in a bundle it is not.
  const url = new URL(`${file}${caller.endsWith('.ts') ? '.ts' : '.js'}`, caller);
  if (!isSea()) return new Worker(url, options);
  const code = `globalThis.heddleThread = ${JSON.stringify(url.href)};\n${getAsset('boot.cjs', 'utf8')}`;
  return new Worker(code, { ...options, eval: true });
}

/** The bytes of a file that the single executable has inside; `undefined` where the program lies in files of its own. */
export function executableAsset(name: string): Uint8Array<ArrayBuffer> | undefined {
  // The bytes are those of the executable itself and cannot be written, which nothing that reads them wants.
  return isSea() ? new Uint8Array(getRawAsset(name) as ArrayBuffer) : undefined;
}
