/**
 * State that the reflectors of one API server share: as soon as one of them is answered again, the others stop waiting.
 */
export interface Outage {
  /** Aborted when the outage ends. Each outage has its own signal. */
  readonly ended: AbortSignal;
  /** To be called when a request was answered after some that were not. */
  end(): void;
}

/**
 * Creates the shared state. Without it, each reflector would wait for its own pause to end, and the last one would
 * recover half a minute late.
 */
export function createOutage(): Outage {
  let current = new AbortController();
  return {
    get ended() {
      return current.signal;
    },
    end() {
      const former = current;
      current = new AbortController();
      former.abort();
    },
  };
}
