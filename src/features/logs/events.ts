import type { Call, Engine } from '../../commit/engine.ts';
import { type Cursor, endOfEvents, eventsAfter } from '../../db/logs/events.ts';
import type { JsonObject } from '../../lib/json.ts';
import { InvalidInput, NotFound } from '../../model/errors.ts';
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
 * place, `NotFound` when the history does not reach back so far.
 */
export async function readEvents(engine: Engine, { account }: Call, after: string | undefined): Promise<EventReader> {
  const found = await endOfEvents(engine.database, account);
  if (found === undefined) throw new NotFound(`account ${account} not found`);
  let place = after === undefined ? found.end : parsePlace(after);
  if (place.revision < found.oldest - 1)
    throw new NotFound(
      `events after ${after} not found: the history begins with revision ${found.oldest}; read the state anew and follow the events from now on, without \`after\``,
    );
  return {
    async next(reader) {
      const rows = await eventsAfter(engine.database, account, place, pageSize);
      place = rows.at(-1) ?? place;
      if (rows.length === 0) return undefined;
      const call = await reader();
      const isReadable = readableNames(await engine.snapshots.at(account, call.revision), call);
      const seen = rows.filter(({ type, data }) => type !== 'change' || isReadable(String(data['kind'])));
      return seen.map(({ revision, seq, type, data }) => ({ id: `${revision}:${seq}`, type, data }));
    },
  };
}

function parsePlace(text: string): Cursor {
  const [, revision, seq] = /^(\d{1,15}):(\d{1,15})$/.exec(text) ?? [];
  if (revision !== undefined && seq !== undefined) return { revision: Number(revision), seq: Number(seq) };
  throw new InvalidInput(
    `\`${text.slice(0, 50)}\` is no place in the events; write the id of the last event you have seen, such as 12:3`,
  );
}
