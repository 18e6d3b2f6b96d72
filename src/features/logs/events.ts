import type { Call, Engine } from '../../commit/engine.ts';
import { readEventsAfter, readStreamExtent, type StreamExtent, type StreamPosition } from '../../db/logs/events.ts';
import type { JsonObject } from '../../lib/json.ts';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import { createKindNameReadCheck } from '../../objects/object-list.ts';

/** An event as it is sent. `id` is its position in the stream, after which a reader can continue. */
export interface AccountEvent {
  readonly id: string;
  readonly type: 'change' | 'revision' | 'notice';
  readonly data: JsonObject;
}

/** A reader of an account's events. */
export interface EventReader {
  /**
   * Returns the next events that the reader may see, `undefined` when there is no new event. Checks the reader's rights
   * on each call.
   */
  next(reader: () => Promise<Call>): Promise<readonly AccountEvent[] | undefined>;
}

/** Maximum number of events that are read in one query. */
const pageSize = 500;

/**
 * Creates a reader for the events of an account after a position (`revision:seq`), or for events from the current end
 * of the stream. Throws `InvalidInput` for an invalid position, and `Conflict` (`gone`) when events after the position
 * are no longer kept.
 */
export async function readEvents(engine: Engine, { account }: Call, after: string | undefined): Promise<EventReader> {
  const found = await readStreamExtent(engine.database, account);
  if (found === undefined) throw new NotFound(`account ${account} not found`);
  let position = after === undefined ? found.end : parseCursor(after);
  requireKept(position, found);
  return {
    async next(reader) {
      const rows = await readEventsAfter(engine.database, account, position, pageSize);
      position = rows.at(-1) ?? position;
      if (rows.length === 0) return undefined;
      const call = await reader();
      const isReadable = createKindNameReadCheck(await engine.snapshots.atLeast(account, call.revision), call);
      const seen = rows.filter(({ type, data }) => type !== 'change' || isReadable(String(data['kind'])));
      return seen.map(({ revision, seq, type, data }) => ({ id: formatCursor({ revision, seq }), type, data }));
    },
  };
}

/** Throws `Conflict` (`gone`) when events after the position are no longer kept. They must not be skipped silently. */
function requireKept(position: StreamPosition, { oldest, deleted }: StreamExtent): void {
  const first = [{ revision: oldest - 1, seq: revisionEventSeq }, ...(deleted === undefined ? [] : [deleted])].reduce(
    (one, other) => (isBefore(one, other) ? other : one),
  );
  if (position.revision >= oldest - 1 && (deleted === undefined || !isBefore(position, deleted))) return;
  throw new Conflict(
    'gone',
    `the events after event ${formatCursor(position)} are no longer kept: events can be followed from ${formatCursor(first)} on; read the state again, then continue from there or, without \`after\`, from now on`,
  );
}

/** Sequence number of the event of a revision itself, which follows the events of its changes. */
const revisionEventSeq = 999_999;

function isBefore(one: StreamPosition, other: StreamPosition): boolean {
  return one.revision < other.revision || (one.revision === other.revision && one.seq < other.seq);
}

function formatCursor({ revision, seq }: StreamPosition): string {
  return `${revision}:${seq}`;
}

function parseCursor(text: string): StreamPosition {
  const [, revision, seq] = /^(\d{1,15}):(\d{1,15})$/.exec(text) ?? [];
  if (revision !== undefined && seq !== undefined) return { revision: Number(revision), seq: Number(seq) };
  throw new InvalidInput(
    `\`${text.slice(0, 50)}\` is not a position in the events; write the id of the last event that you have seen, such as 12:3`,
  );
}
