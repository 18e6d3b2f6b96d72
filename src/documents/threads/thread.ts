import type { Worker } from 'node:worker_threads';
import { startProgramThread } from '../../executable.ts';
import { Internal, Unavailable } from '../../model/errors.ts';
import type { Job } from './job.ts';
import { type Answer, readyMessage } from './worker-message.ts';

/** Limits of a thread: milliseconds for one job, and memory. */
export interface ThreadLimits {
  readonly timeoutMs: number;
  readonly heapMebibytes: number;
}

/** A thread that runs one job at a time, so that no input can block the process or exhaust its memory. */
export interface Thread {
  /**
   * Runs a job. Throws the reason of the signal, `Unavailable` when the machine did not finish the job, or `Internal`
   * for a defect. After an error, the caller must not use the thread again.
   */
  run(job: Job, signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Returns whether the thread has ended, by itself or through `end`. */
  hasEnded(): boolean;
  /** Ends the thread. Rejects a running job. */
  end(): Promise<void>;
}

/**
 * Starts a thread. Throws `Unavailable` when the machine cannot start one. An idle thread does not keep the process
 * alive.
 */
export function startThread({ timeoutMs, heapMebibytes }: ThreadLimits): Thread {
  const worker = startWorker(heapMebibytes);
  worker.unref();
  let isReady = false;
  let ended = false;
  worker.once('message', () => {
    isReady = true;
  });
  worker.once('exit', () => {
    ended = true;
  });
  // When an idle thread fails, `hasEnded` reports it before the next job.
  worker.on('error', () => {
    ended = true;
  });
  return {
    hasEnded: () => ended,
    async run(job, signal) {
      worker.ref();
      try {
        return await sendJob({ worker, isReady, timeoutMs, signal }, job);
      } finally {
        worker.unref();
      }
    },
    async end() {
      await worker.terminate();
    },
  };
}

function startWorker(heapMebibytes: number): Worker {
  try {
    return startProgramThread('./worker', import.meta.url, {
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
    });
  } catch (cause) {
    throw notStarted(cause);
  }
}

interface WorkerCall {
  readonly worker: Worker;
  readonly isReady: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

function sendJob({ worker, isReady, timeoutMs, signal }: WorkerCall, job: Job): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(timer);
      worker.off('message', receive).off('error', fail).off('exit', exit);
      signal?.removeEventListener('abort', abort);
    };
    const refuse = (reason: unknown) => {
      settle();
      reject(reason);
    };
    const receive = (message: Answer | typeof readyMessage) => {
      if (message === readyMessage) return startTimer();
      if ('defect' in message) return refuse(new Internal('Documents could not be read.', { cause: message.defect }));
      settle();
      resolve(message.parts);
    };
    const fail = (cause: unknown) => refuse(stopped(cause));
    const exit = () => refuse(new Internal('The reader was closed while it read a file.'));
    const abort = () => refuse(signal?.reason);
    const startTimer = () => {
      timer = setTimeout(() => refuse(timeoutError(timeoutMs)), timeoutMs);
    };
    // The time limit of a job does not include the time to start the thread.
    if (isReady) startTimer();
    worker.on('message', receive).on('error', fail).on('exit', exit);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    else worker.postMessage(job);
  });
}

/**
 * Returns the error for a thread that could not start. A limit of processes, as containers have, also counts threads.
 */
function notStarted(cause: unknown): Unavailable {
  return new Unavailable(
    'A thread that reads documents could not be started, most likely because no more processes are allowed; try again, and if this repeats, raise the limit of processes (pids) of the server or its container.',
    { cause },
  );
}

/**
 * Returns the error for a thread that ended by itself. The cause is the machine (memory or threads), not the documents.
 */
function stopped(cause: unknown): Unavailable {
  return new Unavailable(
    'The thread that reads documents was stopped, most likely because memory ran out; try again, and if this repeats, split the files or give the server more memory.',
    { cause },
  );
}

/** Returns the error for a job that took too long. The duration does not mean that the documents are wrong either. */
function timeoutError(milliseconds: number): Unavailable {
  return new Unavailable(
    `Reading a file took longer than ${milliseconds / 1000} s and was aborted, most likely because the machine is busy; try again, and if this repeats, split the file.`,
  );
}
