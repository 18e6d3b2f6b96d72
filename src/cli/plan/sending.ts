import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Conflict, Unavailable } from '../../model/errors.ts';
import type { Client } from '../client.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Applied, type ApplyRequest, readPlan, requestApply, type StoredPlan } from './planning.ts';

/** Waiting times before each repeated attempt, in milliseconds. */
const retryWaitsMs: readonly number[] = [500, 1000, 2000, 4000, 8000];

/** Options of applying a plan, and the waiting times between attempts. */
interface SendOptions extends Omit<ApplyRequest, 'key'> {
  readonly waits?: readonly number[];
}

type Listener = Pick<Terminal, 'note' | 'watched' | 'onInterrupt'>;

/**
 * Lets the server apply a plan and returns the result. When an answer is lost, repeats the request under the same
 * idempotency key, so that the server carries it out once. Ctrl-C does not stop the server: the first Ctrl-C prints
 * that, the second one stops waiting. Throws `Unavailable` when the result remains unknown.
 */
export async function sendPlan(
  terminal: Listener,
  client: Client,
  plan: StoredPlan,
  { waits = retryWaitsMs, ...how }: SendOptions,
): Promise<Applied> {
  const request = { ...how, key: randomUUID() };
  const interrupts = watchInterrupts(terminal, plan);
  const { signal } = interrupts;
  try {
    const answer = withProgress(terminal, 'applying', () =>
      retryUntilAnswered(client, plan, request, { waits, signal }),
    );
    return await Promise.race([answer, interrupts.ended]);
  } finally {
    interrupts.stop();
  }
}

/** Waiting times between attempts, and the signal that ends them. */
interface RetryOptions {
  readonly waits: readonly number[];
  readonly signal: AbortSignal;
}

/** Sends the request until the server answers or no attempts are left. */
async function retryUntilAnswered(
  client: Client,
  plan: StoredPlan,
  request: ApplyRequest,
  { waits, signal }: RetryOptions,
): Promise<Applied> {
  let answer = await attemptApply(client, plan, request, false);
  for (const wait of waits) {
    if (!(answer instanceof Unavailable)) return answer;
    await sleep(wait, undefined, { signal });
    answer = await attemptApply(client, plan, request, true);
  }
  if (!(answer instanceof Unavailable)) return answer;
  throw inDoubt(plan, `The answer of the server was lost (${answer.message})`, answer);
}

/** Makes one attempt. Returns the result, or an `Unavailable` when it is unknown yet. */
async function attemptApply(
  client: Client,
  plan: StoredPlan,
  request: ApplyRequest,
  again: boolean,
): Promise<Applied | Unavailable> {
  try {
    const answer = await requestApply(client, plan, request);
    return answer === 'passing' ? new Unavailable('the server is busy') : answer;
  } catch (error) {
    if (error instanceof Unavailable) return error;
    // The refusal may only mean that an earlier attempt, whose answer was lost, applied the plan.
    const done = again && error instanceof Conflict ? await findApplied(client, plan) : undefined;
    if (done !== undefined) return done;
    throw error;
  }
}

async function findApplied(client: Client, plan: StoredPlan): Promise<Applied | undefined> {
  const { state, appliedRevision } = await readPlan(client, plan.id);
  return state === 'applied' ? { done: true, plan, revision: appliedRevision ?? null, outputs: [] } : undefined;
}

interface Interrupts {
  readonly signal: AbortSignal;
  /** Rejects at the second Ctrl-C. */
  readonly ended: Promise<never>;
  stop(): void;
}

function watchInterrupts(terminal: Listener, plan: StoredPlan): Interrupts {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  let interrupted = false;
  const stop = terminal.onInterrupt(() => {
    if (interrupted) return reject(inDoubt(plan, 'Stopped waiting'));
    interrupted = true;
    terminal.note(
      '\nThe server is applying the plan and cannot be stopped half-way; waiting for the result. Press Ctrl-C again to stop waiting.\n',
    );
  });
  // Prevents an unhandled rejection when the second Ctrl-C comes after the wait.
  ended.catch(() => undefined);
  return {
    signal: controller.signal,
    ended,
    stop() {
      stop();
      controller.abort();
    },
  };
}

function inDoubt({ id }: StoredPlan, what: string, cause?: unknown): Unavailable {
  return new Unavailable(
    `${what}; the plan is applied as a whole or not at all, and at most once. \`heddle apply ${id}\` applies it, or reports that it was applied.`,
    { inDoubt: true, ...(cause === undefined ? {} : { cause }) },
  );
}
