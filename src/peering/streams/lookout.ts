/** Looks at what machines told about themselves, a moment later and together with what others tell until then. */
export interface Lookout {
  /** Machines of an account told something. */
  told(account: string): void;
  /** Somebody of an account is here who wants to know. */
  entered(account: string): void;
  close(): void;
}

/** Creates a lookout. `look` says whether anybody is here who wants to know; else it is asked again when somebody comes. */
export function createLookout(waitMs: number, look: (account: string) => boolean): Lookout {
  /** Accounts of which something was told that was not looked at, and when it will be. */
  const waiting = new Map<string, NodeJS.Timeout | undefined>();
  let closed = false;
  const lookAt = (account: string): void => {
    waiting.delete(account);
    if (!look(account)) waiting.set(account, undefined);
  };
  const entered = (account: string): void => {
    if (closed || !waiting.has(account) || waiting.get(account) !== undefined) return;
    waiting.set(account, setTimeout(lookAt, waitMs, account).unref());
  };
  return {
    entered,
    told(account) {
      if (!waiting.has(account)) waiting.set(account, undefined);
      entered(account);
    },
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
