/** What happens inside the server and is worth measuring. */
export type Observation =
  /** A source was reconciled, or could not be; `result` is the word of its state. */
  | { readonly what: 'reconcile'; readonly source: string; readonly result: string; readonly seconds: number }
  /** What a source states is in place: at this moment, with so many units that differ all the same. */
  | { readonly what: 'in_place'; readonly source: string; readonly drift: number }
  /** A guard stopped a plan. */
  | { readonly what: 'guard'; readonly guard: string }
  /** A commit waited for others of its account. */
  | { readonly what: 'lock_wait'; readonly seconds: number }
  /** A source that reconciles again and again was stopped, or goes on. */
  | { readonly what: 'breaker'; readonly source: string; readonly open: boolean };

/** Tells those who measure. */
export interface Observer {
  tell(observation: Observation): void;
  /** Hears everything from now on. Returns a function that ends it. */
  on(listener: (observation: Observation) => void): () => void;
}

/** Creates an observer to whom nobody listens yet. */
export function createObserver(): Observer {
  const listeners = new Set<(observation: Observation) => void>();
  return {
    tell(observation) {
      for (const listener of listeners) listener(observation);
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
