import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../../commit/engine.ts';
import { NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type MapImage, readMapImage, touchedBetween } from './maps.ts';
import { Preparation } from './preparation.ts';
import type { Stream } from './stream.ts';
import { type SharedBytes, sendUpdate, updateFor } from './update.ts';

/** How many images of the past are kept for readers that come back. */
const pastImages = 16;

/** For how long streams are sent updates before other work gets its turn. */
const turnMs = 10;

/** The options of the streams of an account. */
export interface AccountStreamOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly bytes: SharedBytes;
  /** Milliseconds since 1970. */
  now(): number;
  failed(error: unknown): void;
}

/** The connected peers of one account, and the image from which they are sent their maps. */
export class AccountStreams {
  readonly #options: AccountStreamOptions;
  readonly #streams = new Map<string, Stream>();
  #past: MapImage[] = [];
  #preparation: Preparation | undefined;
  #due: number | 'all' | undefined;
  #running: Promise<void> | undefined;

  constructor(options: AccountStreamOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  streams(): Iterable<Stream> {
    return this.#streams.values();
  }

  /** Adds a stream. The previous one of the peer is sent the reason, and ends. */
  add(stream: Stream): void {
    const before = this.#streams.get(stream.peer);
    this.#streams.set(stream.peer, stream);
    before?.end('replaced');
  }

  remove(stream: Stream): void {
    if (this.#streams.get(stream.peer) === stream) this.#streams.delete(stream.peer);
  }

  /** Resolves when there is an image of this revision or a later one; says whether there is. */
  async ready(revision: number): Promise<boolean> {
    const isReady = (): boolean => (this.#past.at(-1)?.state.revision ?? -1) >= revision;
    // Thousands may wait for one reading; only what it did not reach is read again.
    for (let attempt = 0; attempt < 3 && !isReady(); attempt++) await (this.#running ?? this.follow(revision));
    return isReady();
  }

  /** Sends a stream what changed for it; ends it while there is no map to send. */
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
      // An error about one map is reported, and the others continue.
      failed(error);
      stream.end('failed');
    }
  }

  /**
   * Computes what the streams will be sent at a state that is on its way to the database, while there is nothing to
   * send: then it need only be sent. Only from the state that they have, and discarded when the state is not written.
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
   * Brings the image to a revision, or to all that is acknowledged, and sends the changes to the streams concerned.
   * Requests that arrive meanwhile are handled together afterwards.
   */
  follow(revision?: number): Promise<void> {
    if (this.#due !== 'all') this.#due = revision === undefined ? 'all' : Math.max(this.#due ?? 0, revision);
    this.#running ??= this.#run().catch(this.#options.failed);
    return this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#due !== undefined) {
        const due = this.#due;
        this.#due = undefined;
        const image = await this.#read(due === 'all' ? undefined : due);
        if (image !== undefined) await this.#show(image);
      }
    } finally {
      // At once: a caller that asks a moment later must not wait for a run that is over.
      this.#running = undefined;
    }
  }

  async #read(revision: number | undefined): Promise<MapImage | undefined> {
    const { engine, account, failed } = this.#options;
    try {
      return await readMapImage(engine, account, revision);
    } catch (error) {
      // An account that is gone has no peers. Otherwise the store is away: connected peers stay, and are sent changes
      // later.
      if (error instanceof NotFound) for (const stream of [...this.#streams.values()]) stream.end('deleted');
      else failed(error);
      return undefined;
    }
  }

  async #show(image: MapImage): Promise<void> {
    const before = this.#past.at(-1);
    if (before !== undefined && before.state.revision > image.state.revision) return;
    if (before?.state === image.state && before.access === image.access) return;
    this.#past = [...this.#past.slice(1 - pastImages), image];
    if (before === undefined) return;
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
