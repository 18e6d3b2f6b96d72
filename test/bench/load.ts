import { type ChildProcess, fork } from 'node:child_process';

/** One request, and the server to which it is sent. */
export interface HttpTarget {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly token: string;
  /** `%n` is replaced by a number that is unique among all requests. */
  readonly body?: string;
  /** ETag of the answer that the client has cached, sent as `If-None-Match`. */
  readonly known?: string;
}

/**
 * Requests over persistent connections. Each client sends the next request when it has received the previous answer.
 */
export interface HttpLoad {
  readonly type: 'http';
  /** Targets over which the clients are distributed. */
  readonly targets: readonly HttpTarget[];
  readonly clients: number;
  readonly milliseconds: number;
}

/** Requests to the targets in turn, with a pause after each round, until the load is stopped. */
export interface ProbeLoad {
  readonly type: 'probes';
  readonly targets: readonly HttpTarget[];
  readonly pauseMilliseconds: number;
}

/** Bare transactions that each write one row and its audit row. Each client has its own connection. */
export interface TransactionLoad {
  readonly type: 'transactions';
  readonly url: string;
  readonly clients: number;
  readonly milliseconds: number;
}

/**
 * Machines that enrol, each with all requests of an enrolment. A client starts with the next machine when it has
 * enrolled one.
 */
export interface EnrolmentLoad {
  readonly type: 'enrolments';
  readonly url: string;
  readonly setupKey: string;
  readonly clients: number;
  readonly machines: number;
}

/** Bare transactions that write the rows of an enrolment. Each client has its own connection. */
export interface BareEnrolmentLoad {
  readonly type: 'bare enrolments';
  readonly url: string;
  readonly clients: number;
  readonly milliseconds: number;
}

/** Load that the generator process makes. */
export type Load = HttpLoad | ProbeLoad | TransactionLoad | EnrolmentLoad | BareEnrolmentLoad;

/** Message that ends a load of probes. */
export const stopMessage = 'stop';

/** Result of a load. */
export interface LoadResult {
  readonly count: number;
  readonly perSecond: number;
  /** Median and maximum time of one request, in milliseconds. */
  readonly median: number;
  readonly longest: number;
}

/** A separate process that makes load, so that both sides of a comparison bear the same cost for it. */
export interface LoadGenerator extends Disposable {
  run(load: Load): Promise<LoadResult>;
  /** Makes the load while `work` runs. */
  runDuring(load: ProbeLoad, work: () => Promise<unknown>): Promise<LoadResult>;
}

/** Starts the process that makes load. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(new URL('./load-process.ts', import.meta.url));
  return {
    run: (load) => ask(child, load),
    async runDuring(load, work) {
      const stop = () => child.connected && child.send(stopMessage);
      const [result] = await Promise.all([ask(child, load), work().finally(stop)]);
      return result;
    },
    [Symbol.dispose]: () => {
      child.kill();
    },
  };
}

function ask(child: ChildProcess, load: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => reject(new Error(`the load failed: ${reason}`));
    const settle = (answer: LoadResult | string) => {
      child.off('exit', fail);
      if (typeof answer === 'string') fail(answer);
      else resolve(answer);
    };
    child.once('exit', fail).once('message', settle as (answer: unknown) => void);
    child.send(load);
  });
}
