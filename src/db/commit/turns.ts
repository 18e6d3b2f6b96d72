import type { CompiledQuery } from 'kysely';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { channel } from '../notices.ts';

/** Who is at the front of the line of an account, whose turn it is, and the revision of the account then. */
export interface Front {
  readonly contender: string;
  readonly revision: number;
}

/**
 * The contender of account `$1` whose turn it is. One that stopped is passed over when the time is up for which it joined,
 * wherever in the line it is.
 */
export const frontText = `select contender from turns
where account_id = $1 and until > clock_timestamp() order by place, contender limit 1`;

/**
 * Joins the line of an account for so many seconds, or keeps its place for so many more. Returns who is at the front;
 * `undefined` when the account is gone. If that one is leaving, waits until it has left: it may not have seen who joined,
 * and would let nobody know. If it begins to leave meanwhile, it waits, and sees it.
 */
export async function joinLine(
  database: Database,
  account: string,
  contender: string,
  seconds: number,
): Promise<Front | undefined> {
  const [, , rows] = await database.inAccount(account, [
    statement(forgetText, [account]),
    statement(joinText, [account, contender, String(seconds)]),
    statement<Front>(withRevision(`${frontText} for share`), [account]),
  ]);
  return rows[0];
}

/** Stays in the line for so many seconds from now, unless it has left it. Returns who is at the front. */
export async function stayInLine(
  database: Database,
  account: string,
  contender: string,
  seconds: number,
): Promise<Front | undefined> {
  const stay = statement(stayText, [account, contender, String(seconds)]);
  const [, rows] = await database.inAccount(account, [stay, frontOf(account)]);
  return rows[0];
}

/** Who is at the front of the line; `undefined` when it is empty. */
export async function readFront(database: Database, account: string): Promise<Front | undefined> {
  const [rows] = await database.inAccount(account, [frontOf(account)]);
  return rows[0];
}

/**
 * Goes to the end of the line for so many seconds, or leaves it (0). Returns who is at the front then, and lets that one
 * know, on whichever server: `message` is what to send before its name and the revision.
 */
export async function stepBack(
  database: Database,
  account: string,
  contender: string,
  { seconds, message }: { readonly seconds: number; readonly message: string },
): Promise<Front | undefined> {
  const [, rows] = await database.inAccount(account, [
    statement(stepBackText, [account, contender, String(seconds)]),
    statement<Front>(callText, [account, contender, channel, message]),
  ]);
  return rows[0];
}

/** What a commit carries to leave the line. */
export type Leaving = readonly CompiledQuery<unknown>[];

/**
 * Leaves the line in the transaction of a commit that makes this revision, so that the next one need not wait for a second
 * transaction. When the commit writes nothing, the place is kept.
 */
export function leaveWith(
  { account, contender, message }: { readonly account: string; readonly contender: string; readonly message: string },
  revision: number,
): Leaving {
  return [
    statement(leaveText, [account, contender, String(revision)]),
    statement(callText, [account, contender, channel, message]),
  ];
}

function frontOf(account: string): CompiledQuery<Front> {
  return statement<Front>(withRevision(frontText), [account]);
}

function withRevision(front: string): string {
  return `select contender, (select revision from accounts where account_id = $1) as revision from (${front}) as front`;
}

// Inside the transaction, because a notice of its own comes later. All notifying sessions of a database share a lock from
// here to their end; those that meet nobody do not notify so.
const callText = `select contender, revision,
  case when contender <> $2 then pg_notify($3, concat($4::text, ' ', contender, ' ', revision)) end
from (${withRevision(frontText)}) as front`;

// Equal places of those who join at the same moment are ordered by their names.
const nextPlace = 'coalesce((select max(place) from turns where account_id = $1), 0) + 1';
const untilText = 'clock_timestamp() + $3::text::interval second';

const joinText = `insert into turns (account_id, contender, place, until)
select account_id, $2, ${nextPlace}, ${untilText} from accounts where account_id = $1
on conflict (account_id, contender) do update set until = excluded.until,
  place = case when turns.until > clock_timestamp() then turns.place else excluded.place end`;

const stayText = `update turns set until = ${untilText}
where account_id = $1 and contender = $2 and until > clock_timestamp()`;

const stepBackText = `update turns set place = ${nextPlace}, until = ${untilText} where account_id = $1 and contender = $2`;

const leaveText = `update turns set until = clock_timestamp() where account_id = $1 and contender = $2
and exists (select from accounts where account_id = $1 and revision = $3::text::bigint)`;

/** Rows of servers that are gone, and of those who have not come back for long. */
const forgetText = `delete from turns where account_id = $1 and until < clock_timestamp() - interval '1 minute'`;
