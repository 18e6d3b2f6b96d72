import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { Job } from './job.ts';
import { type Answer, readyMessage } from './worker-message.ts';

// A thread does not use the compile cache of its process, and is terminated without writing to it, although half of its
// start time is compiling.
enableCompileCache();
const { runJob } = await import('./job.ts');
flushCompileCache();

// Runs the jobs of a `Pool`.
parentPort?.on('message', (job: Job) => parentPort?.postMessage(answer(job)));
parentPort?.postMessage(readyMessage);

function answer(job: Job): Answer {
  try {
    return { parts: runJob(job) };
  } catch (error) {
    return { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
