/** What the reflectors of one API server share, so that all of them go on as soon as one of them is answered again. */
export interface Outage {
  /** Aborted when the outage ends; each outage has a signal of its own. */
  readonly ended: AbortSignal;
  /** A request was answered after some that were not. */
  end(): void;
}

/** Without one, each reflector would sit out its own pause, and the last one would be half a minute late. */
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
