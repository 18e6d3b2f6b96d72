import type { Call, Engine } from '../../commit/engine.ts';
import { type Cursor, type Extent, endOfEvents, eventsAfter } from '../../db/logs/events.ts';
import type { JsonObject } from '../../lib/json.ts';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import { readableNames } from '../../objects/object-list.ts';

/** One event as it is sent: `id` is its position in the stream, from which a reader can continue. */
export interface AccountEvent {
  readonly id: string;
  readonly type: 'change' | 'revision' | 'notice';
  readonly data: JsonObject;
}

/** A reader of an account's events. */
export interface EventReader {
  /**
   * The next events that the reader may see, `undefined` when nothing has happened since. Checks the reader's rights
   * each time.
   */
  next(reader: () => Promise<Call>): Promise<readonly AccountEvent[] | undefined>;
}

/** How many events are read at once. */
const pageSize = 500;

/**
 * Reads an account's events behind a place (`revision:seq`), or those from now on. Throws `InvalidInput` for what is no
 * place, `Conflict` (`gone`) when what followed is not kept any more.
 */
export async function readEvents(engine: Engine, { account }: Call, after: string | undefined): Promise<EventReader> {
  const found = await endOfEvents(engine.database, account);
  if (found === undefined) throw new NotFound(`account ${account} not found`);
  let place = after === undefined ? found.end : parsePlace(after);
  requireKept(place, found);
  return {
    async next(reader) {
      const rows = await eventsAfter(engine.database, account, place, pageSize);
      place = rows.at(-1) ?? place;
      if (rows.length === 0) return undefined;
      const call = await reader();
      const isReadable = readableNames(await engine.snapshots.at(account, call.revision), call);
      const seen = rows.filter(({ type, data }) => type !== 'change' || isReadable(String(data['kind'])));
      return seen.map(({ revision, seq, type, data }) => ({ id: textOf({ revision, seq }), type, data }));
    },
  };
}

/** What was folded away or deleted is not passed over in silence. */
function requireKept(place: Cursor, { oldest, deleted }: Extent): void {
  const first = [{ revision: oldest - 1, seq: lastChange }, ...(deleted === undefined ? [] : [deleted])].reduce(
    (one, other) => (isBefore(one, other) ? other : one),
  );
  if (place.revision >= oldest - 1 && (deleted === undefined || !isBefore(place, deleted))) return;
  throw new Conflict(
    'gone',
    `what followed event ${textOf(place)} is not kept any more: the oldest place from which events can be followed is ${textOf(first)}; read the state again, and go on there or, without \`after\`, from now on`,
  );
}

/** The number that every revision itself has in the stream, behind its changes. */
const lastChange = 999_999;

function isBefore(one: Cursor, other: Cursor): boolean {
  return one.revision < other.revision || (one.revision === other.revision && one.seq < other.seq);
}

function textOf({ revision, seq }: Cursor): string {
  return `${revision}:${seq}`;
}

function parsePlace(text: string): Cursor {
  const [, revision, seq] = /^(\d{1,15}):(\d{1,15})$/.exec(text) ?? [];
  if (revision !== undefined && seq !== undefined) return { revision: Number(revision), seq: Number(seq) };
  throw new InvalidInput(
    `\`${text.slice(0, 50)}\` is no place in the events; write the id of the last event you have seen, such as 12:3`,
  );
}
