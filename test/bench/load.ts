import { type ChildProcess, fork } from 'node:child_process';

/** A request to one server. */
export interface HttpTarget {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly token: string;
  /** `%n` stands for a number that no other request has. */
  readonly body?: string;
  /** The client has the answer of this ETag already. */
  readonly known?: string;
}

/** Requests over kept connections: each client sends the next one when it has the answer to the last. */
export interface HttpLoad {
  readonly type: 'http';
  /** The clients are spread over them. */
  readonly targets: readonly HttpTarget[];
  readonly clients: number;
  readonly milliseconds: number;
}

/** Bare transactions of one row and its audit row, each client on a connection of its own. */
export interface TransactionLoad {
  readonly type: 'transactions';
  readonly url: string;
  readonly clients: number;
  readonly milliseconds: number;
}

/** Machines that become peers, each with all that it takes; each client takes the next machine when it is through with one. */
export interface EnrolmentLoad {
  readonly type: 'enrolments';
  readonly url: string;
  readonly setupKey: string;
  readonly clients: number;
  readonly machines: number;
}

/** Bare transactions of the rows that an enrolment leaves, each client on a connection of its own. */
export interface BareEnrolmentLoad {
  readonly type: 'bare enrolments';
  readonly url: string;
  readonly clients: number;
  readonly milliseconds: number;
}

/** The work of a process under load. */
export type Load = HttpLoad | TransactionLoad | EnrolmentLoad | BareEnrolmentLoad;

/** What a load came to. */
export interface LoadResult {
  readonly count: number;
  readonly perSecond: number;
  /** The middle and the longest time of one request, in milliseconds. */
  readonly median: number;
  readonly longest: number;
}

/** A process that makes load, so that both sides of a comparison pay the same for it. */
export interface LoadGenerator extends Disposable {
  run(load: Load): Promise<LoadResult>;
}

/** Starts the process. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(new URL('./load-process.ts', import.meta.url));
  return {
    run: (load) => ask(child, load),
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
