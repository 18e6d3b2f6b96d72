import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { networkMapOf } from '../../src/access/netmap/map.ts';
import type { Engine } from '../../src/commit/engine.ts';
import type { Hub } from '../../src/features/peers/streams/hub.ts';
import { keepAlive, type Sink } from '../../src/features/peers/streams/sink.ts';
import { followChange, parseMap, type ReadMap } from '../access/map-reader.ts';

/** One event of a stream as its reader sees it. */
export interface SeenEvent {
  readonly type: string;
  readonly id?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Cuts what came of a stream into events; comments are left out. */
export function readEvents(text: string): readonly SeenEvent[] {
  const events: SeenEvent[] = [];
  const onEvent = ({ event: type, id, data }: EventSourceMessage) => {
    if (type !== undefined) events.push({ type, ...(id === undefined ? {} : { id }), data: JSON.parse(data) });
  };
  createParser({ onEvent }).feed(text);
  return events;
}

/** A reader of a stream in memory, which keeps its map as a client does. */
export class Follower {
  /** While false, what is written is not taken. */
  keepsUp = true;
  ended = false;
  /** How often the stream showed that it is alive. */
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

  /** Reads on after a pause. */
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

/** Connects a peer; the second answer takes it away as a lost connection would. */
export function connect(
  hub: Hub,
  { account, peer, revision = 0 }: { readonly account: string; readonly peer: string; readonly revision?: number },
  follower = new Follower(),
): readonly [Follower, () => void] {
  return [follower, hub.join({ account, peer, revision, lastEventId: follower.last, sink: follower.sink })];
}

/** The map that a peer is to have at the end. */
export async function expectedMap(engine: Engine, account: string, peer: string): Promise<ReadMap | undefined> {
  const map = networkMapOf(await engine.access.current(await engine.snapshots.fresh(account)), peer);
  return map === undefined ? undefined : parseMap(map);
}
