import { changeText, type Dismissal, fullText, type MapImage, mapIn, type SentMap } from './maps.ts';
import { type Chunks, eventChunks } from './sink.ts';
import type { Stream } from './stream.ts';

/** Texts that many streams are sent at the same time, encoded once. */
export interface SharedBytes {
  full(sent: SentMap): Uint8Array;
  change(text: string): Uint8Array;
}

/** Maximum size of the cached full maps, in bytes. */
const maxCachedBytes = 32_000_000;

/** Creates a cache of the bytes that were encoded last. */
export function createSharedBytes(): SharedBytes {
  const maps = new Map<object, Uint8Array>();
  let size = 0;
  let changes = new Map<string, Uint8Array>();
  return {
    full(sent) {
      const { key, shared } = fullText(sent);
      const known = maps.get(key);
      if (known !== undefined) return known;
      const bytes = Buffer.from(shared());
      maps.set(key, bytes);
      size += bytes.length;
      for (const [old, { length }] of maps) {
        if (size <= maxCachedBytes) break;
        maps.delete(old);
        size -= length;
      }
      return bytes;
    },
    change(text) {
      const known = changes.get(text);
      if (known !== undefined) return known;
      // A change is sent to all streams concerned within moments. Older changes are not needed again.
      if (changes.size > 1000) changes = new Map();
      const bytes = Buffer.from(text);
      changes.set(text, bytes);
      return bytes;
    },
  };
}

/** Past images from which a reader may have its map, newest last. */
export type PastImages = readonly MapImage[];

/** Update of a reader: the map that it has afterwards, and the event to send, if any. */
export interface Update {
  readonly sent: SentMap;
  readonly chunks: Chunks | undefined;
}

/**
 * Returns the update of a reader: the changes that it missed, or the whole map. Returns the reason when the peer gets
 * no map any more.
 */
export function updateFor(stream: Stream, image: MapImage, past: PastImages, bytes: SharedBytes): Update | Dismissal {
  const current = mapIn(image, stream.peer);
  if (typeof current === 'string') return current;
  const { revision } = image.state;
  const id = `${revision}.${current.digest}`;
  const before = stream.sent ?? findHeldMap(stream, current, past);
  const own = `"revision":${revision}`;
  if (before === undefined) {
    const chunks = eventChunks({ type: 'map', id }, `${own},${fullText(current).own}`, bytes.full(current));
    return { sent: current, chunks };
  }
  const change = changeText(before, current);
  if (change.own !== '' || change.shared !== '') {
    const sent = change.own === '' ? own : `${own},${change.own}`;
    const shared = change.shared === '' ? undefined : bytes.change(change.shared);
    return { sent: current, chunks: eventChunks({ type: 'change', id }, sent, shared) };
  }
  // A reader that reconnects gets a `current` event when it missed nothing.
  const isFirst = stream.sent === undefined;
  return { sent: current, chunks: isFirst ? eventChunks({ type: 'current', id }, own) : undefined };
}

/** Sends a reader its update, or ends the stream. */
export function sendUpdate(stream: Stream, update: Update | Dismissal, now: number): void {
  stream.stale = false;
  if (typeof update === 'string') {
    stream.end(update);
    return;
  }
  stream.sent = update.sent;
  if (update.chunks !== undefined) stream.send(update.chunks, now);
}

/**
 * Returns the map that a reader had when it connected, by the id of its last event. `undefined` when that map is not
 * kept any more.
 */
function findHeldMap(stream: Stream, current: SentMap, past: PastImages): SentMap | undefined {
  const [, revision = '', digest] = /^(\d+)\.([\da-f]+)$/.exec(stream.lastEventId ?? '') ?? [];
  if (digest === undefined) return undefined;
  if (digest === current.digest) return current;
  // A map stays the same for many revisions, so the first image at or after the reader's revision may still have it.
  const first = past.find(({ state }) => state.revision >= Number(revision));
  const among = past.filter(({ state }) => state.revision === Number(revision));
  for (const image of new Set([...among, ...(first === undefined ? [] : [first])])) {
    const sent = mapIn(image, stream.peer);
    if (typeof sent !== 'string' && sent.digest === digest) return sent;
  }
  return undefined;
}
