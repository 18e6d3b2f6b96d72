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
 * `undefined` when the account is gone.
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
    frontOf(account),
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

function frontOf(account: string): CompiledQuery<Front> {
  return statement<Front>(withRevision, [account]);
}

const withRevision = `select contender, (select revision from accounts where account_id = $1) as revision
from (${frontText}) as front`;

// Inside the transaction: it waits for no disk, so the lock that all notifying sessions share is held for a moment.
const callText = `select contender, revision,
  case when contender <> $2 then pg_notify($3, concat($4::text, ' ', contender, ' ', revision)) end
from (${withRevision}) as front`;

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

/** Rows of servers that are gone, and of those who have not come back for long. */
const forgetText = `delete from turns where account_id = $1 and until < clock_timestamp() - interval '1 minute'`;
