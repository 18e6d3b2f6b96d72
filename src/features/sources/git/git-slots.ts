/** Runs git processes of accounts, up to a maximum number at once. */
export interface GitSlots {
  /**
   * Runs the work when its turn comes. Rejects with the reason of the signal when the signal is aborted before that.
   */
  run<Result>(account: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  readonly account: string;
  begin(): void;
}

/**
 * Creates slots for `most` processes at once, shared fairly between accounts: the next process is of the account with
 * the fewest running ones, and among equals the one that has waited longest. One account never gets all slots (unless
 * there is only one), because a host that does not answer occupies a process for minutes.
 */
export function createGitSlots(most: number): GitSlots {
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  const mostOfOne = Math.max(1, most - 1);
  const runningOf = (account: string) => running.get(account) ?? 0;
  const advance = (): void => {
    const total = [...running.values()].reduce((sum, count) => sum + count, 0);
    if (total >= most) return;
    const free = waiting.filter(({ account }) => runningOf(account) < mostOfOne);
    const [next] = free.sort((a, b) => runningOf(a.account) - runningOf(b.account));
    if (next === undefined) return;
    waiting.splice(waiting.indexOf(next), 1);
    running.set(next.account, runningOf(next.account) + 1);
    next.begin();
    advance();
  };
  const turn = (account: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const withdraw = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason);
      };
      const entry: Waiting = {
        account,
        begin() {
          signal.removeEventListener('abort', withdraw);
          resolve();
        },
      };
      waiting.push(entry);
      signal.addEventListener('abort', withdraw, { once: true });
      advance();
    });
  return {
    async run(account, signal, work) {
      signal.throwIfAborted();
      await turn(account, signal);
      try {
        return await work();
      } finally {
        const left = runningOf(account) - 1;
        if (left === 0) running.delete(account);
        else running.set(account, left);
        advance();
      }
    },
  };
}
