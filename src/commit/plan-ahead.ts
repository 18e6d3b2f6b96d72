import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Planned, planBatch, type Waiting } from './batch.ts';
import type { CommitterOptions } from './commit.ts';

/** The mutations of an account that wait to be planned. */
export interface Queue {
  readonly waiting: Waiting[];
  /** Called when one more waits. */
  arrived(): void;
}

/** How many mutations one statement carries at most. */
export const batchSize = 256;

/**
 * Plans mutations that arrive while a statement is under way, on the state which that statement leaves if it is
 * written, so neither waits for the other. The result may only be used when `before` was written; `undefined` when no
 * mutation arrived.
 */
export async function planAhead(
  options: CommitterOptions,
  before: Planned,
  queue: Queue,
  writing: Promise<unknown>,
): Promise<Planned | undefined> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  const end = writing.then(over, over);
  let ahead: Planned | undefined;
  for (;;) {
    await Promise.race([end, arrival(queue)]);
    // Those who come in the same turn are planned together.
    if (!isOver) await nextTurn();
    if (isOver) return ahead;
    const more = takeSeen(queue, before.tip.revision, batchSize - (ahead?.results.length ?? 0));
    const planned = more.length === 0 ? undefined : await tryPlan(options, ahead?.tip ?? before.tip, more);
    if (planned === undefined) {
      queue.waiting.unshift(...more);
      await end;
      return ahead;
    }
    ahead = ahead === undefined ? planned : joined(ahead, planned);
  }
}

function arrival(queue: Queue): Promise<void> | undefined {
  if (queue.waiting.length > 0) return undefined;
  return new Promise((resolve) => {
    queue.arrived = resolve;
  });
}

/** Takes from the front, as long as no caller has seen a later revision than the state will have. */
function takeSeen({ waiting }: Queue, revision: number, most: number): Waiting[] {
  const end = waiting.findIndex(({ mutation }) => mutation.revision > revision);
  return waiting.splice(0, Math.min(most, end < 0 ? waiting.length : end));
}

/** What cannot be planned now is planned again when its turn comes, and fails then. */
async function tryPlan(options: CommitterOptions, tip: Planned['tip'], batch: readonly Waiting[]) {
  return planBatch(options, tip, batch, new Set()).catch(() => undefined);
}

function joined(first: Planned, second: Planned): Planned {
  return {
    base: first.base,
    tip: second.tip,
    revisions: [...first.revisions, ...second.revisions],
    results: [...first.results, ...second.results],
  };
}
