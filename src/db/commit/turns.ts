import type { CompiledQuery } from 'kysely';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { notifyChannel } from '../notices.ts';

/** Front of the line of an account: the contender whose turn it is, and the account's revision at that moment. */
export interface Front {
  readonly contender: string;
  readonly revision: number;
}

/**
 * Selects the contender of account `$1` whose turn it is. A contender that stopped is skipped when the time for which
 * it joined is over, wherever in the line it is.
 */
export const frontText = `select contender from turns
where account_id = $1 and until > clock_timestamp() order by place, contender limit 1`;

/**
 * Joins the line of an account for a number of seconds, or keeps the contender's place for that time. Returns the front
 * of the line, or `undefined` when the account was deleted. When the contender at the front is leaving, waits until it
 * has left: it may not have seen this contender, and would then notify none. When it begins to leave during this call,
 * it waits for this call and sees this contender.
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

/**
 * Extends the contender's place in the line to `seconds` from now, unless it has left or the place has expired. Returns
 * whether it is the contender's turn.
 */
export async function stayInLine(
  database: Database,
  account: string,
  contender: string,
  seconds: number,
): Promise<boolean> {
  const stay = statement(stayText, [account, contender, String(seconds)]);
  const [, rows] = await database.inAccount(account, [stay, frontOf(account)]);
  return rows[0]?.contender === contender;
}

/** Returns the front of the line, or `undefined` when the line is empty. */
export async function readFront(database: Database, account: string): Promise<Front | undefined> {
  const [rows] = await database.inAccount(account, [frontOf(account)]);
  return rows[0];
}

/**
 * Moves the contender to the end of the line for a number of seconds, or removes it from the line (0). Returns the new
 * front of the line and notifies that contender, on whichever server it is. The notification is `message`, followed by
 * the contender's name and the revision.
 */
export async function stepBack(
  database: Database,
  account: string,
  contender: string,
  { seconds, message }: { readonly seconds: number; readonly message: string },
): Promise<Front | undefined> {
  const [, rows] = await database.inAccount(account, [
    statement(stepBackText, [account, contender, String(seconds)]),
    statement<Front>(notifyFrontText, [account, contender, notifyChannel, message]),
  ]);
  return rows[0];
}

/** Statements that a commit carries to leave the line. */
export type LeaveStatements = readonly CompiledQuery<unknown>[];

/**
 * Returns the statements that leave the line in the transaction of the commit that writes the revision with this request
 * id, so that the next contender need not wait for a second transaction. When the commit writes nothing, the place is
 * kept.
 */
export function leaveStatements(
  { account, contender, message }: { readonly account: string; readonly contender: string; readonly message: string },
  requestId: string,
): LeaveStatements {
  return [
    statement(leaveText, [account, contender, requestId]),
    statement(notifyFrontText, [account, contender, notifyChannel, message]),
  ];
}

function frontOf(account: string): CompiledQuery<Front> {
  return statement<Front>(withRevision(frontText), [account]);
}

function withRevision(front: string): string {
  return `select contender, (select revision from accounts where account_id = $1) as revision from (${front}) as front`;
}

// Notifies inside the transaction, because a separate notification would arrive later. All notifying sessions of a
// database share a lock from here to the end of their transactions, so a session does not notify when no other
// contender is in the line.
const notifyFrontText = `select contender, revision,
  case when contender <> $2 then pg_notify($3, concat($4::text, ' ', contender, ' ', revision)) end
from (${withRevision(frontText)}) as front`;

// Contenders that join at the same moment get equal places, and are ordered by their names.
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
and exists (select from revisions where account_id = $1 and request_id = $3)`;

/**
 * Deletes rows that expired more than a minute ago: of servers that stopped, and of contenders that have not returned.
 */
const forgetText = `delete from turns where account_id = $1 and until < clock_timestamp() - interval '1 minute'`;
