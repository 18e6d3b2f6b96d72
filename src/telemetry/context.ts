import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './span.ts';

/** On whose behalf code runs, for logs, records and traces; it decides nothing. */
export interface Context {
  /** The id of the HTTP request; absent: the server does it by itself. */
  readonly requestId?: string;
  /** What the work is part of; absent: nothing is traced. */
  readonly span?: Span;
}

const storage = new AsyncLocalStorage<Context>();
const background: Context = {};

/** The context of the code that runs. */
export function currentContext(): Context {
  return storage.getStore() ?? background;
}

/** Runs work, and everything that it starts, in a context. */
export function runIn<Value>(context: Context, work: () => Value): Value {
  return storage.run(context, work);
}

/** Runs work that outlives the request in which it begins, or that is about others as well. */
export function runInBackground<Value>(work: () => Value): Value {
  return storage.run(background, work);
}
