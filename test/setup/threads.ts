import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { vi } from 'vitest';

/** What Node says when the system gives no thread, as under a limit of processes. */
const refusal = 'Worker initialization failure: EAGAIN';

/** Until it is disposed of, no thread can be started in this process. */
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
