import { setImmediate as nextTurn } from 'node:timers/promises';
import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** A personal access token as it is stored: never the value. */
export interface TokenRecord {
  readonly account: string;
  readonly id: string;
  readonly user: string;
  readonly name: string;
  /** SHA-256 of the value, base64. */
  readonly hash: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Whom a token belongs to, with the account's revision at this moment. */
export interface TokenOwner {
  readonly account: string;
  readonly user: string;
  readonly revision: number;
  readonly expires: Date;
}

const lookUpText = `select d.value as hash, t.account_id as account, t.user_id as "user", t.expires_at as expires, a.revision
from directory d
join tokens t on t.account_id = d.account_id and t.id = d.subject_id
join accounts a on a.account_id = d.account_id
where d.kind = 'token' and d.value = any($1)`;

/** Finds tokens by their hashes. */
export type TokenLookUp = (hash: string) => Promise<TokenOwner | undefined>;

/**
 * Reads token and account revision in one query. Requests that arrive in one turn of the event loop share it: it leaves
 * behind the last of them, so that each sees what was acknowledged before it came.
 */
export function createTokenLookUp(database: Database): TokenLookUp {
  let wanted: Set<string> | undefined;
  let next: Promise<ReadonlyMap<string, TokenOwner>>;
  const read = async (hashes: Set<string>): Promise<ReadonlyMap<string, TokenOwner>> => {
    await nextTurn();
    wanted = undefined;
    const rows = await database.lookUp(statement<TokenOwner & { readonly hash: string }>(lookUpText, [[...hashes]]));
    return new Map(rows.map(({ hash, ...owner }) => [hash, owner]));
  };
  return async (hash) => {
    if (wanted === undefined) {
      wanted = new Set();
      next = read(wanted);
    }
    wanted.add(hash);
    return (await next).get(hash);
  };
}

/** Stores a token and its entry in the directory; a token that is there already stays as it is. */
export async function insertToken(database: Database, token: TokenRecord): Promise<void> {
  await database.asOwner(async (run) => {
    const { account, id, user, name, hash, createdBy, createdAt, expiresAt } = token;
    const added = await run(
      `insert into directory (account_id, kind, value, subject_id) values ($1, 'token', $2, $3) on conflict do nothing returning value`,
      [account, hash, id],
    );
    if (added.length === 0) return;
    await run(
      'insert into tokens (account_id, id, user_id, name, hash, created_by, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8)',
      [account, id, user, name, hash, createdBy, createdAt, expiresAt],
    );
  });
}

/** How many tokens an account has; the bootstrap makes the first one. */
export async function countTokens(database: Database, account: string): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>('select count(*) as count from tokens where account_id = $1', [account]),
  );
  return row?.count ?? 0;
}
