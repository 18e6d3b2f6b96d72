import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../../commit/engine.ts';
import { NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type MapImage, readMapImage, touchedBetween } from './maps.ts';
import { Preparation } from './preparation.ts';
import type { Stream } from './stream.ts';
import { type SharedBytes, sendUpdate, updateFor } from './update.ts';

/** Number of past images that are kept for readers that reconnect. */
const maxPastImages = 16;

/** Number of reads after which a stream whose revision was not reached ends. */
const maxReads = 4;

/** Time for which updates are sent before other work gets its turn, in milliseconds. */
const turnMs = 10;

/** Options of the streams of an account. */
export interface AccountStreamOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly bytes: SharedBytes;
  /** Milliseconds since 1970. */
  now(): number;
  failed(error: unknown): void;
}

/** The connected peers of one account, and the image from which their maps are made. */
export class AccountStreams {
  readonly #options: AccountStreamOptions;
  readonly #streams = new Map<string, Stream>();
  #past: MapImage[] = [];
  #preparation: Preparation | undefined;
  #due: number | 'all' | undefined;
  #running: Promise<void> | undefined;
  /** Resolves after the read that is running or the next one, whether it succeeds or not. */
  #nextRead = Promise.withResolvers<void>();
  /** Number of times that a first stream was opened. Without streams, new observations are not read. */
  #opening = 0;
  /** The last opening after which all observations were read, and the one after which they are being read. */
  #observedOpening = -1;
  #readingOpening = -1;

  constructor(options: AccountStreamOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  streams(): Iterable<Stream> {
    return this.#streams.values();
  }

  /** Adds a stream. A previous stream of the peer is sent the reason `replaced`, and ends. */
  add(stream: Stream): void {
    if (this.size === 0) this.#opening += 1;
    const before = this.#streams.get(stream.peer);
    this.#streams.set(stream.peer, stream);
    before?.end('replaced');
  }

  remove(stream: Stream): void {
    if (this.#streams.get(stream.peer) === stream) this.#streams.delete(stream.peer);
  }

  /**
   * Waits for an image of this revision or a later one, and for a read of all observations after the first stream was
   * opened. Returns `false` when the account could not be read.
   */
  async waitForRevision(revision: number): Promise<boolean> {
    const isObserved = (): boolean => this.#observedOpening === this.#opening;
    const isReady = (): boolean => isObserved() && (this.#past.at(-1)?.state.revision ?? -1) >= revision;
    // Thousands of streams may wait for the same read. It may have begun before the revision was written.
    for (let reads = 0; reads < maxReads && !isReady(); reads++) {
      if (isObserved()) void this.follow(revision);
      else if (this.#readingOpening !== this.#opening) void this.follow();
      await this.#nextRead.promise;
    }
    return isReady();
  }

  /** Sends a stream its changes. Ends the stream when there is no map to send. */
  sendMap(stream: Stream): void {
    const image = this.#past.at(-1);
    const { bytes, now, failed } = this.#options;
    if (image === undefined) {
      stream.end('failed');
      return;
    }
    try {
      if (!stream.isOpen) return;
      sendUpdate(stream, this.#preparation?.take(stream, image) ?? updateFor(stream, image, this.#past, bytes), now());
    } catch (error) {
      // An error in one map is reported. The other streams continue.
      failed(error);
      stream.end('failed');
    }
  }

  /**
   * Computes, while no update is running, the updates for a state that is being written to the database. Then they only
   * need to be sent. Starts only from the state that the streams have now. The updates are discarded when the state is
   * not written.
   */
  prepare(base: Snapshot, next: Snapshot): void {
    const before = this.#past.at(-1);
    if (this.size === 0 || this.#running !== undefined || before?.state !== base) return;
    const { engine, bytes } = this.#options;
    const preparation = new Preparation({ images: engine.access, before, next, streams: this.#streams, bytes });
    this.#preparation = preparation;
    // An error here occurs again when the update is due, and is reported then.
    const isTime = () => this.#running === undefined && this.#preparation === preparation;
    preparation.run(isTime).catch(() => undefined);
  }

  /**
   * Updates the image to a revision, or to everything that is acknowledged, and sends the changes to the streams
   * concerned. Calls during the update are combined into one more update.
   */
  follow(revision?: number): Promise<void> {
    if (this.#due !== 'all') this.#due = revision === undefined ? 'all' : Math.max(this.#due ?? 0, revision);
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (this.#due !== undefined) {
      const due = this.#due;
      this.#due = undefined;
      try {
        await this.#update(due);
      } catch (error) {
        this.#options.failed(error);
      }
    }
    // Must be reset at once, so that a later caller does not wait for an update that is finished.
    this.#running = undefined;
  }

  async #update(due: number | 'all'): Promise<void> {
    const before = this.#past.at(-1);
    try {
      if (due === 'all') this.#readingOpening = this.#opening;
      const image = await this.#read(due === 'all' ? undefined : due);
      if (image === undefined) return;
      if (due === 'all') this.#observedOpening = this.#readingOpening;
      this.#keep(image);
    } finally {
      this.#readingOpening = -1;
      this.#nextRead.resolve();
      this.#nextRead = Promise.withResolvers();
    }
    const image = this.#past.at(-1);
    if (before !== undefined && image !== undefined && image !== before) await this.#sendChanges(before, image);
  }

  async #read(revision: number | undefined): Promise<MapImage | undefined> {
    const { engine, account, failed } = this.#options;
    try {
      return await readMapImage(engine, account, revision);
    } catch (error) {
      // A deleted account has no peers. Any other error means that the database is not reachable: connected peers stay,
      // and are sent their changes later.
      if (error instanceof NotFound) for (const stream of [...this.#streams.values()]) stream.end('deleted');
      else failed(error);
      return undefined;
    }
  }

  /** Keeps an image, unless it is older than the last one or equal to it. */
  #keep(image: MapImage): void {
    const before = this.#past.at(-1);
    if (before !== undefined && before.state.revision > image.state.revision) return;
    if (before?.state === image.state && before.access === image.access) return;
    this.#past = [...this.#past.slice(1 - maxPastImages), image];
  }

  async #sendChanges(before: MapImage, image: MapImage): Promise<void> {
    let until = performance.now() + turnMs;
    for (const peer of this.#preparation?.touched(before, image) ?? touchedBetween(before, image)) {
      const stream = this.#streams.get(peer);
      if (stream?.sent === undefined) continue;
      if (stream.isLagging) stream.stale = true;
      else this.sendMap(stream);
      if (performance.now() < until) continue;
      await nextTurn();
      until = performance.now() + turnMs;
    }
    this.#preparation = undefined;
  }
}
