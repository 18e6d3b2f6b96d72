import { getAsset, getRawAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread that runs a file of the program. `file` is its path relative to `caller`, without the extension. In
 * the single executable, the file is an asset, and the thread begins with the boot code that finds it.
 */
export function startProgramThread(file: string, caller: string, options: WorkerOptions): Worker {
  // With type stripping, the file is TypeScript; in a bundle, it is JavaScript.
  const url = new URL(`${file}${caller.endsWith('.ts') ? '.ts' : '.js'}`, caller);
  if (!isSea()) return new Worker(url, options);
  const code = `globalThis.heddleThread = ${JSON.stringify(url.href)};\n${getAsset('boot.cjs', 'utf8')}`;
  return new Worker(code, { ...options, eval: true });
}

/**
 * Returns the bytes of a file that is embedded in the single executable. Returns `undefined` when the program runs from
 * separate files.
 */
export function readEmbeddedAsset(name: string): Uint8Array<ArrayBuffer> | undefined {
  // The bytes are part of the executable and cannot be written; the type hides that, because no reader writes to them.
  return isSea() ? new Uint8Array(getRawAsset(name) as ArrayBuffer) : undefined;
}
