import { Internal } from '../../model/errors.ts';
import type { Job } from './job.ts';
import { startThread, type Thread, type ThreadLimits } from './thread.ts';

/** A job, the account for which it runs, and the signal that cancels it. */
export interface Task {
  readonly job: Job;
  /** Accounts take turns in the pool. */
  readonly account: string;
  readonly signal?: AbortSignal | undefined;
}

/** Number of threads, and the limits of each thread. */
export interface PoolOptions extends ThreadLimits {
  readonly threads: number;
  /** Maximum number of threads that read large texts at the same time. */
  readonly largeThreads: number;
}

/**
 * Length above which a text is large, in characters: reading it may take seconds and hundreds of megabytes. A thread
 * that read a large text is replaced, because its heap would stay large.
 */
const largeCharacters = 512 * 1024;

interface WaitingTask extends Task {
  readonly isLarge: boolean;
  resolve(parts: readonly string[]): void;
  reject(reason: unknown): void;
}

/**
 * Pool of threads that run jobs, fair by account. The next job is from the account with the fewest running jobs; among
 * equals, from the account that has waited longest. One account can never occupy the last thread, which is reserved for
 * other accounts.
 */
export class Pool {
  readonly #options: PoolOptions;
  /** Maximum number of threads for one account. */
  readonly #maxForAccount: number;
  readonly #queues = new Map<string, WaitingTask[]>();
  readonly #running = new Set<WaitingTask>();
  readonly #working = new Set<Thread>();
  readonly #idle: Thread[] = [];
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#maxForAccount = Math.max(1, options.threads - 1);
  }

  /** Runs a job when its turn comes. */
  run(task: Task): Promise<readonly string[]> {
    if (this.#closed) return Promise.reject(new Internal('The reader is closed.'));
    if (task.signal?.aborted) return Promise.reject(task.signal.reason);
    return new Promise((resolve, reject) => {
      const withdraw = () => this.#cancel(waiting);
      // A signal outlives its tasks, and adding a listener to a signal walks over all its listeners, so each task
      // removes its own.
      const settle = () => task.signal?.removeEventListener('abort', withdraw);
      const waiting: WaitingTask = {
        ...task,
        isLarge: task.job.text.length > largeCharacters,
        resolve(parts) {
          settle();
          resolve(parts);
        },
        reject(reason) {
          settle();
          reject(reason);
        },
      };
      const queue = this.#queues.get(task.account) ?? [];
      queue.push(waiting);
      this.#queues.set(task.account, queue);
      task.signal?.addEventListener('abort', withdraw, { once: true });
      this.#startTasks();
    });
  }

  /** Ends the threads. Rejects waiting and running jobs with `Internal`. */
  async close(): Promise<void> {
    this.#closed = true;
    const refused = [...this.#queues.values()].flat();
    this.#queues.clear();
    for (const task of refused) task.reject(new Internal('The reader is closed.'));
    await Promise.all([...this.#idle.splice(0), ...this.#working].map((thread) => thread.end()));
  }

  #startTasks(): void {
    for (let task = this.#dequeueNext(); task !== undefined; task = this.#dequeueNext()) void this.#runTask(task);
  }

  /** Removes and returns the next task that may run now. */
  #dequeueNext(): WaitingTask | undefined {
    if (this.#running.size >= this.#options.threads) return undefined;
    const noLarge = this.#countRunning(({ isLarge }) => isLarge) >= this.#options.largeThreads;
    let best: { readonly account: string; readonly at: number; readonly busy: number } | undefined;
    for (const [account, queue] of this.#queues) {
      const busy = this.#countRunning((task) => task.account === account);
      const at = noLarge ? queue.findIndex(({ isLarge }) => !isLarge) : 0;
      if (busy < this.#maxForAccount && at >= 0 && (best === undefined || busy < best.busy))
        best = { account, at, busy };
    }
    return best === undefined ? undefined : this.#dequeue(best.account, best.at);
  }

  #dequeue(account: string, at: number): WaitingTask | undefined {
    const queue = this.#queues.get(account) ?? [];
    const [task] = queue.splice(at, 1);
    // A `Map` keeps the order of insertion, so the account that was just served moves to the end.
    this.#queues.delete(account);
    if (queue.length > 0) this.#queues.set(account, queue);
    return task;
  }

  #countRunning(which: (task: WaitingTask) => boolean): number {
    return [...this.#running].filter(which).length;
  }

  async #runTask(task: WaitingTask): Promise<void> {
    this.#running.add(task);
    let thread: Thread | undefined;
    try {
      thread = this.#takeIdle() ?? startThread(this.#options);
      this.#working.add(thread);
      task.resolve(await thread.run(task.job, task.signal));
      if (task.isLarge || this.#closed) await thread.end();
      else this.#idle.push(thread);
    } catch (error) {
      task.reject(error);
      await thread?.end();
    } finally {
      if (thread !== undefined) this.#working.delete(thread);
      this.#running.delete(task);
      this.#startTasks();
    }
  }

  #takeIdle(): Thread | undefined {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop())
      if (!thread.hasEnded()) return thread;
    return undefined;
  }

  /** Removes a task that has not started, and rejects it with the reason of its signal. */
  #cancel(task: WaitingTask): void {
    const queue = this.#queues.get(task.account) ?? [];
    const at = queue.indexOf(task);
    if (at < 0) return;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(task.account);
    task.reject(task.signal?.reason);
  }
}
