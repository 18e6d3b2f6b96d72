import type { Worker } from 'node:worker_threads';
import { startProgramThread } from '../../executable.ts';
import { Internal, Unavailable } from '../../model/errors.ts';
import type { Job } from './job.ts';
import { type Answer, ready } from './worker-message.ts';

/** What a thread may take: so long for a job, and so much memory. */
export interface ThreadLimits {
  readonly lateMs: number;
  readonly heapMebibytes: number;
}

/** A thread that does one job at a time, so that no input can hold up or exhaust the process. */
export interface Thread {
  /**
   * Does a job. Throws the reason of the signal, `Unavailable` when the machine did not get it done, `Internal` for a
   * defect. Only after an answer the thread is of further use.
   */
  run(job: Job, signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Whether it ended, by itself or not. */
  hasEnded(): boolean;
  /** Ends it; a job that it does is refused. */
  end(): Promise<void>;
}

/** Starts a thread; throws `Unavailable` when the machine gives none. While it is idle it does not keep the process alive. */
export function startThread({ lateMs, heapMebibytes }: ThreadLimits): Thread {
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
  // What ends an idle thread is seen when the next job is to be done.
  worker.on('error', () => {
    ended = true;
  });
  return {
    hasEnded: () => ended,
    async run(job, signal) {
      worker.ref();
      try {
        return await ask({ worker, isReady, lateMs, signal }, job);
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
  readonly lateMs: number;
  readonly signal: AbortSignal | undefined;
}

function ask({ worker, isReady, lateMs, signal }: WorkerCall, job: Job): Promise<readonly string[]> {
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
    const receive = (message: Answer | typeof ready) => {
      if (message === ready) return startTimer();
      if ('defect' in message) return refuse(new Internal('Documents could not be read.', { cause: message.defect }));
      settle();
      resolve(message.parts);
    };
    const fail = (cause: unknown) => refuse(stopped(cause));
    const exit = () => refuse(new Internal('The reader was closed while it read a file.'));
    const abort = () => refuse(signal?.reason);
    const startTimer = () => {
      timer = setTimeout(() => refuse(late(lateMs)), lateMs);
    };
    // The time to start a thread is not the file's.
    if (isReady) startTimer();
    worker.on('message', receive).on('error', fail).on('exit', exit);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    else worker.postMessage(job);
  });
}

/** A limit of processes, as containers have it, counts threads too. */
function notStarted(cause: unknown): Unavailable {
  return new Unavailable(
    'A thread that reads documents could not be started, most likely because no more processes are allowed; try again, and if it happens again and again, raise the limit of processes (pids) of the server or its container.',
    { cause },
  );
}

/** How a thread ends by itself says nothing of the documents: memory and threads are the machine's. */
function stopped(cause: unknown): Unavailable {
  return new Unavailable(
    'The thread that reads documents was stopped, most likely for want of memory; try again, and if it happens again and again, split the files or give the server more memory.',
    { cause },
  );
}

/** How long something takes says nothing of the documents either. */
function late(milliseconds: number): Unavailable {
  return new Unavailable(
    `Reading a file took longer than ${milliseconds / 1000} s and was given up, most likely because the machine is busy; try again, and if it happens again and again, split the file.`,
  );
}
