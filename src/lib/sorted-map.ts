/**
 * An immutable map, sorted by key. It consists of chunks, which are shared between a map and the maps derived from it.
 * A change copies one chunk and the list of chunks; comparing two versions looks only at the chunks that they do not
 * share.
 */
export interface SortedMap<V> extends Iterable<Entry<V>> {
  readonly size: number;
  /** The greatest key; empty when the map is empty. */
  readonly lastKey: string;
  get(key: string): V | undefined;
  keys(): readonly string[];
  /** Iterates over the keys greater than `key`, in order. A caller that stops early pays only for the keys it took. */
  keysAfter(key: string): Iterable<string>;
  /** Returns the map with changes applied. A change with the value `undefined` deletes the key. */
  with(changes: Iterable<Entry<V | undefined>>): SortedMap<V>;
  /** Returns the keys whose values differ from another map, in order. */
  changedSince(before: SortedMap<V>): readonly string[];
}

type Entry<V> = readonly [key: string, value: V];

interface Chunk<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
}

/** Maximum number of entries in a chunk. A larger chunk is split. */
const maxEntries = 128;

/** Returns the empty map. */
export function emptySortedMap<V>(): SortedMap<V> {
  return new Chunks<V>([], 0);
}

class Chunks<V> implements SortedMap<V> {
  readonly #chunks: readonly Chunk<V>[];
  readonly size: number;

  constructor(chunks: readonly Chunk<V>[], size: number) {
    this.#chunks = chunks;
    this.size = size;
  }

  get lastKey(): string {
    return lastKeyOf(this.#chunks.at(-1));
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkIndexFor(key)];
    if (chunk === undefined) return undefined;
    const at = indexOfKey(chunk, key);
    return chunk.keys[at] === key ? chunk.values[at] : undefined;
  }

  keys(): readonly string[] {
    return this.#chunks.flatMap(({ keys }) => keys);
  }

  *keysAfter(key: string): Iterable<string> {
    for (let chunkIndex = this.#chunkIndexFor(key); chunkIndex < this.#chunks.length; chunkIndex++) {
      const keys = this.#chunks[chunkIndex]?.keys ?? [];
      // Only in the first chunk can there be keys that are not greater than `key`.
      for (let at = findFirstIndex(keys.length, (from) => (keys[from] ?? '') > key); at < keys.length; at++)
        yield keys[at] ?? '';
    }
  }

  [Symbol.iterator](): Iterator<Entry<V>> {
    return entriesOf(this.#chunks);
  }

  with(changes: Iterable<Entry<V | undefined>>): SortedMap<V> {
    const sorted = [...changes].sort(byKey);
    if (sorted.length === 0) return this;
    const chunks: Chunk<V>[] = [];
    const last = Math.max(this.#chunks.length - 1, 0);
    let { size } = this;
    let [done, from] = [0, 0];
    while (from < sorted.length) {
      // A key greater than all others is added to the last chunk.
      const at = Math.min(this.#chunkIndexFor(sorted[from]?.[0] ?? ''), last);
      const chunk = this.#chunks[at] ?? { keys: [], values: [] };
      const to = at === last ? sorted.length : firstIndexAfter(sorted, lastKeyOf(chunk), from);
      const edited = editChunk(chunk, sorted.slice(from, to));
      size += edited.keys.length - chunk.keys.length;
      chunks.push(...this.#chunks.slice(done, at), ...splitChunk(edited));
      [done, from] = [at + 1, to];
    }
    return new Chunks([...chunks, ...this.#chunks.slice(done)], size);
  }

  /** Returns the index of the first chunk whose last key is not less than `key`: the only chunk that can contain it. */
  #chunkIndexFor(key: string): number {
    return findFirstIndex(this.#chunks.length, (at) => lastKeyOf(this.#chunks[at]) >= key);
  }

  changedSince(before: SortedMap<V>): readonly string[] {
    if (before === this) return [];
    // `Chunks` is the only class that implements `SortedMap`.
    const [was, is] = findUnsharedChunks((before as Chunks<V>).#chunks, this.#chunks);
    return compareChunks(joinChunks(was), joinChunks(is));
  }
}

function* entriesOf<V>(chunks: readonly Chunk<V>[]): Generator<Entry<V>, void> {
  // `keys` and `values` of a chunk have the same length.
  for (const { keys, values } of chunks)
    for (let at = 0; at < keys.length; at++) yield [keys[at] ?? '', values[at] as V];
}

function lastKeyOf(chunk: Chunk<unknown> | undefined): string {
  return chunk?.keys.at(-1) ?? '';
}

/** Returns the index of a key in a chunk, or the index at which it would be inserted. */
function indexOfKey({ keys }: Chunk<unknown>, key: string): number {
  return findFirstIndex(keys.length, (at) => (keys[at] ?? '') >= key);
}

/**
 * Returns the first index below `length` for which the condition is true, or `length`. The condition must also be true
 * for all later indexes (binary search).
 */
function findFirstIndex(length: number, isThere: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isThere(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the first index, starting at `from`, of an entry whose key is greater than `key`. */
function firstIndexAfter(sorted: readonly Entry<unknown>[], key: string, from: number): number {
  let at = from;
  while (at < sorted.length && (sorted[at]?.[0] ?? '') <= key) at++;
  return at;
}

/** Applies changes to a chunk. They must be sorted by key; the last change of a key wins. */
function editChunk<V>(chunk: Chunk<V>, changes: readonly Entry<V | undefined>[]): Chunk<V> {
  const keys: string[] = [];
  const values: V[] = [];
  let from = 0;
  const copyTo = (to: number) => {
    keys.push(...chunk.keys.slice(from, to));
    values.push(...chunk.values.slice(from, to));
    from = to;
  };
  for (const [at, [key, value]] of changes.entries()) {
    copyTo(indexOfKey(chunk, key));
    if (chunk.keys[from] === key) from++;
    if (value === undefined || changes[at + 1]?.[0] === key) continue;
    keys.push(key);
    values.push(value);
  }
  copyTo(chunk.keys.length);
  return { keys, values };
}

/** Splits a chunk that is too large into pieces. Returns an empty list for an empty chunk. */
function splitChunk<V>(chunk: Chunk<V>): readonly Chunk<V>[] {
  const { length } = chunk.keys;
  if (length <= maxEntries) return length === 0 ? [] : [chunk];
  const pieces = Math.ceil((2 * length) / maxEntries);
  return Array.from({ length: pieces }, (_, at) => {
    const [from, to] = [Math.floor((at * length) / pieces), Math.floor(((at + 1) * length) / pieces)];
    return { keys: chunk.keys.slice(from, to), values: chunk.values.slice(from, to) };
  });
}

function joinChunks<V>(chunks: readonly Chunk<V>[]): Chunk<V> {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  return { keys: chunks.flatMap(({ keys }) => keys), values: chunks.flatMap(({ values }) => values) };
}

type Lists<V> = readonly [was: readonly Chunk<V>[], is: readonly Chunk<V>[]];

/**
 * Returns the chunks that are in only one of the two lists. Usually that is one chunk of each, somewhere in the middle.
 */
function findUnsharedChunks<V>(before: readonly Chunk<V>[], after: readonly Chunk<V>[]): Lists<V> {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const [was, is] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const [old, now] = [new Set(was), new Set(is)];
  return [was.filter((chunk) => !now.has(chunk)), is.filter((chunk) => !old.has(chunk))];
}

/** Returns the keys whose values differ between two chunks. */
function compareChunks<V>(was: Chunk<V>, is: Chunk<V>): readonly string[] {
  const changed: string[] = [];
  let [from, to] = [0, 0];
  while (from < was.keys.length || to < is.keys.length) {
    const [old, now] = [was.keys[from], is.keys[to]];
    if (old !== undefined && (now === undefined || old < now)) {
      changed.push(old);
      from++;
    } else if (now !== undefined && (old === undefined || now < old)) {
      changed.push(now);
      to++;
    } else {
      if (old !== undefined && was.values[from] !== is.values[to]) changed.push(old);
      from++;
      to++;
    }
  }
  return changed;
}

function byKey([a]: Entry<unknown>, [b]: Entry<unknown>): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
