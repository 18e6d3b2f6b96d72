import { noteUses } from '../../db/accounts/tokens.ts';
import type { Database } from '../../db/database.ts';

/** Notes when tokens are used, without a write for each request. */
export interface TokenUses {
  note(account: string, token: string): void;
  /** Writes what is noted and stops. */
  close(): Promise<void>;
}

export interface TokenUsesOptions {
  /** Milliseconds since 1970. */
  now(): number;
  /** How long a written time counts as new enough. */
  readonly freshMs?: number;
  /** How long uses are gathered before they are written together. */
  readonly gatherMs?: number;
}

/** A token that is used all the time is written once a minute; the first use of one is written within a second. */
export function createTokenUses(database: Database, options: TokenUsesOptions): TokenUses {
  const { now, freshMs = 60_000, gatherMs = 1000 } = options;
  const written = new Map<string, number>();
  let pending = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    timer = undefined;
    const uses = pending;
    pending = new Map();
    writing = writing.then(() => write(database, uses));
    return writing;
  };

  return {
    note(account, token) {
      const at = now();
      if (at - (written.get(token) ?? Number.NEGATIVE_INFINITY) < freshMs) return;
      // Tokens that are used no more are forgotten with the others when there are very many.
      if (written.size > 100_000) written.clear();
      written.set(token, at);
      const uses = pending.get(account) ?? new Map<string, number>();
      pending.set(account, uses.set(token, at));
      if (timer !== undefined) return;
      timer = setTimeout(() => void flush(), gatherMs);
      timer.unref();
    },
    close() {
      clearTimeout(timer);
      return flush();
    },
  };
}

/** The time of a token's last use is written when possible: a store that is away loses it. */
async function write(database: Database, uses: ReadonlyMap<string, ReadonlyMap<string, number>>): Promise<void> {
  for (const [account, tokens] of uses) {
    const rows = [...tokens].map(([token, at]) => ({ token, at: new Date(at).toISOString() }));
    await noteUses(database, account, rows).catch(() => undefined);
  }
}
