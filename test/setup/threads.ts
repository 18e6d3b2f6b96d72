import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { vi } from 'vitest';

/** Message of Node when the system refuses to create a thread, as under a limit on processes. */
const refusal = 'Worker initialization failure: EAGAIN';

/** Makes every start of a worker thread in this process fail, until the result is disposed of. */
export function refuseThreads(): Disposable {
  const spy = vi.spyOn(threads, 'Worker').mockImplementation(function refuse() {
    throw Object.assign(new Error(refusal), { code: 'ERR_WORKER_INIT_FAILED' });
  });
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      spy.mockRestore();
      syncBuiltinESMExports();
    },
  };
}
