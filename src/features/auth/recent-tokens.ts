import type { NoticeBoard } from '../../commit/notices.ts';
import type { TokenOwner } from '../../db/accounts/tokens.ts';

/** Tokens that were looked up a while ago, with their users. They may have been deleted since then. */
export interface RecentTokens {
  /**
   * Returns the user of a token by its hash. Returns `undefined` when the token is not remembered, or when another
   * server changed its account a moment ago: this server may not have these changes yet, and a look-up of the token also
   * finds the newest revision.
   */
  find(hash: string): TokenOwner | undefined;
  remember(hash: string, owner: TokenOwner): void;
  forget(hash: string): void;
}

export interface RecentTokensOptions {
  readonly notices: NoticeBoard;
  /** Milliseconds since any time in the past. */
  now(): number;
}

/** Time after a change by another server during which the tokens of the account are looked up, in milliseconds. */
const otherServerMemoryMs = 10_000;

/** Maximum number of tokens in memory, and of accounts that other servers changed. */
const maxRemembered = 10_000;

/** Creates an empty memory of tokens. When it is full, it forgets the token that was remembered first. */
export function createRecentTokens({ notices, now }: RecentTokensOptions): RecentTokens {
  const owners = new Map<string, TokenOwner>();
  const changedElsewhere = new Map<string, number>();
  notices.on((notice, origin) => {
    if (origin === 'another server' && notice.what === 'revision')
      put(changedElsewhere, notice.account, now() + otherServerMemoryMs);
  });
  return {
    find(hash) {
      const owner = owners.get(hash);
      if (owner === undefined) return undefined;
      const until = changedElsewhere.get(owner.account);
      return until === undefined || until <= now() ? owner : undefined;
    },
    remember: (hash, owner) => put(owners, hash, owner),
    forget: (hash) => void owners.delete(hash),
  };
}

function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size <= maxRemembered) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
