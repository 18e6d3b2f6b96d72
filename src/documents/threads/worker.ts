import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { Job } from './job.ts';
import { type Answer, ready } from './worker-message.ts';

// A thread takes no part in the cache of its process, and is ended without writing to it: half of its start is compiling.
enableCompileCache();
const { runJob } = await import('./job.ts');
flushCompileCache();

// The thread that does the jobs of a `Pool`.
parentPort?.on('message', (job: Job) => parentPort?.postMessage(answer(job)));
parentPort?.postMessage(ready);

function answer(job: Job): Answer {
  try {
    return { parts: runJob(job) };
  } catch (error) {
    return { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
