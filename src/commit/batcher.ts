import { setImmediate as nextTurn } from 'node:timers/promises';

/** Answers one of the items that were sent in one query. */
type AnswerOf<Item, Answer> = (item: Item) => Answer;

/**
 * Combines many small queries into few large ones. Items that arrive for an account while an earlier query is running,
 * or in the same turn of the event loop, are sent in one query. When a query fails, it fails for all its callers.
 */
export function createBatcher<Account, Item, Answer>(
  ask: (account: Account, items: readonly Item[]) => Promise<AnswerOf<Item, Answer>>,
): (account: Account, item: Item) => Promise<Answer> {
  const waiting = new Map<Account, { readonly items: Item[]; readonly answer: Promise<AnswerOf<Item, Answer>> }>();
  const running = new Map<Account, Promise<unknown>>();
  return async (account, item) => {
    const present = waiting.get(account);
    if (present !== undefined) {
      present.items.push(item);
      return (await present.answer)(item);
    }
    const items = [item];
    const before = running.get(account) ?? nextTurn();
    const begin = async (): Promise<AnswerOf<Item, Answer>> => {
      waiting.delete(account);
      return ask(account, items);
    };
    // The callers of the earlier query get its error.
    const answer = before.then(begin, begin);
    waiting.set(account, { items, answer });
    running.set(account, answer);
    const clear = (): void => {
      if (running.get(account) === answer) running.delete(account);
    };
    answer.then(clear, clear);
    return (await answer)(item);
  };
}
