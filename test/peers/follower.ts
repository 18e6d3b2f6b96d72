import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { networkMapOf } from '../../src/access/netmap/map.ts';
import type { Engine } from '../../src/commit/engine.ts';
import type { Hub } from '../../src/features/peers/streams/hub.ts';
import { keepAlive, type Sink } from '../../src/features/peers/streams/sink.ts';
import { followChange, parseMap, type ReadMap } from '../access/map-reader.ts';

/** One event of a stream, as the client parses it. */
export interface SeenEvent {
  readonly type: string;
  readonly id?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Parses the received text of a stream into events. Leaves out comments. */
export function readEvents(text: string): readonly SeenEvent[] {
  const events: SeenEvent[] = [];
  const onEvent = ({ event: type, id, data }: EventSourceMessage) => {
    if (type !== undefined) events.push({ type, ...(id === undefined ? {} : { id }), data: JSON.parse(data) });
  };
  createParser({ onEvent }).feed(text);
  return events;
}

/** A client of a stream, in memory, which maintains its map as real clients do. */
export class Follower {
  /** False: the sink reports back-pressure, like a client that reads too slowly. */
  keepsUp = true;
  ended = false;
  /** Number of keep-alive comments received. */
  comments = 0;
  destroyed = false;
  readonly events: SeenEvent[] = [];
  map: ReadMap | undefined;
  last: string | undefined;
  readonly sink: Sink = {
    write: (pieces) => {
      this.#take(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString());
      return this.keepsUp;
    },
    onDrain: () => undefined,
    end: () => {
      this.ended = true;
    },
    destroy: () => {
      this.destroyed = true;
    },
  };

  constructor(before?: Follower) {
    this.map = before?.map;
    this.last = before?.last;
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  /** Resumes reading after a pause. */
  catchUp(): void {
    this.keepsUp = true;
    this.sink.onDrain();
  }

  #take(text: string): void {
    if (text === keepAlive) this.comments += 1;
    for (const event of readEvents(text)) {
      this.events.push(event);
      this.last = event.id ?? this.last;
      const { revision: _, ...members } = event.data;
      if (event.type === 'map') this.map = members as unknown as ReadMap;
      if (event.type === 'change' && this.map !== undefined)
        this.map = followChange(this.map, JSON.stringify(members).slice(1, -1));
    }
  }
}

/** Connects a peer. The second member of the result disconnects it as a lost connection would. */
export function connect(
  hub: Hub,
  { account, peer, revision = 0 }: { readonly account: string; readonly peer: string; readonly revision?: number },
  follower = new Follower(),
): readonly [Follower, () => void] {
  return [follower, hub.join({ account, peer, revision, lastEventId: follower.last, sink: follower.sink })];
}

/** Returns the map that a peer must have in the end. */
export async function expectedMap(engine: Engine, account: string, peer: string): Promise<ReadMap | undefined> {
  const map = networkMapOf(await engine.access.current(await engine.snapshots.fresh(account)), peer);
  return map === undefined ? undefined : parseMap(map);
}
