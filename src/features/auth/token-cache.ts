import type { NoticeBoard } from '../../commit/notices.ts';
import type { TokenOwner } from '../../db/accounts/tokens.ts';

/** Tokens that were looked up for earlier requests, with their users. They may have been deleted since then. */
export interface TokenCache {
  /**
   * Returns the user of a token by its hash. Returns `undefined` when the token is not cached, when `pause` was called
   * for it a moment ago, or when another server changed its account a moment ago: this server may not have these changes
   * yet, and a look-up of the token also finds the newest revision.
   */
  find(hash: string): TokenOwner | undefined;
  add(hash: string, owner: TokenOwner): void;
  remove(hash: string): void;
  /** Records that a request with a cached token wrote nothing, so that its next requests may write nothing either. */
  pause(hash: string): void;
}

export interface TokenCacheOptions {
  readonly notices: NoticeBoard;
  /** Milliseconds since any time in the past. */
  now(): number;
}

/** Time during which tokens are looked up after a pause or a change by another server, in milliseconds. */
const pauseMs = 10_000;

/** Maximum number of cached tokens, of pauses, and of accounts that other servers changed. */
const maxEntries = 10_000;

/** Creates an empty cache of tokens. When it is full, it removes the token that was added first. */
export function createTokenCache({ notices, now }: TokenCacheOptions): TokenCache {
  const owners = new Map<string, TokenOwner>();
  const pauses = new Map<string, number>();
  const changedElsewhere = new Map<string, number>();
  const isRecent = (time: number | undefined): boolean => time !== undefined && now() - time < pauseMs;
  notices.on((notice, origin) => {
    if (origin === 'another server' && notice.what === 'revision') put(changedElsewhere, notice.account, now());
  });
  return {
    find(hash) {
      const owner = owners.get(hash);
      if (owner === undefined || isRecent(pauses.get(hash))) return undefined;
      return isRecent(changedElsewhere.get(owner.account)) ? undefined : owner;
    },
    add: (hash, owner) => put(owners, hash, owner),
    remove: (hash) => void owners.delete(hash),
    pause: (hash) => put(pauses, hash, now()),
  };
}

function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size <= maxEntries) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
