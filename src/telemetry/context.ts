import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './span.ts';

/**
 * Request and span that the running code belongs to. Used for logs, records and traces only; no decision depends on it.
 */
export interface Context {
  /** Id of the HTTP request. Absent: work that the server started itself. */
  readonly requestId?: string;
  /** Span that the work is part of. Absent: nothing is traced. */
  readonly span?: Span;
}

const storage = new AsyncLocalStorage<Context>();
const backgroundContext: Context = {};

/** Returns the context of the running code. */
export function currentContext(): Context {
  return storage.getStore() ?? backgroundContext;
}

/** Runs work, and all asynchronous work that it starts, in a context. */
export function runInContext<Value>(context: Context, work: () => Value): Value {
  return storage.run(context, work);
}

/** Runs work outside the current request: it outlives the request, or also concerns other requests. */
export function runInBackground<Value>(work: () => Value): Value {
  return storage.run(backgroundContext, work);
}
