import { setImmediate as nextTurn } from 'node:timers/promises';

/** Answers one item, of those that are asked about together. */
type AnswerOf<Item, Answer> = (item: Item) => Answer;

/**
 * Turns many small questions into few large ones: what is asked of one account while an earlier question is under way, or in
 * the same turn of the event loop, is asked at once. A failure is everybody's.
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
    // The error of an earlier query is thrown to its own callers.
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
