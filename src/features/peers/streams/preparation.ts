import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccessImages } from '../../../commit/access-images.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type Dismissal, type MapImage, type SentMap, touchedBetween } from './maps.ts';
import type { Stream } from './stream.ts';
import { type SharedBytes, type Update, updateFor } from './update.ts';

/**
 * Time for which updates are prepared before the event loop can receive the answer of the database, in milliseconds.
 * The writer waits for that answer.
 */
const sliceMs = 0.5;

/** Input of a preparation. */
export interface PreparationInput {
  readonly images: Pick<AccessImages, 'prepare'>;
  /** Image that the streams have now. */
  readonly before: MapImage;
  /** State that is being written. */
  readonly next: Snapshot;
  readonly streams: ReadonlyMap<string, Stream>;
  readonly bytes: SharedBytes;
}

interface PreparedUpdate {
  /** Map of the stream when the update was computed. */
  readonly from: SentMap;
  readonly update: Update | Dismissal;
}

/** Updates of an account's streams for a state that is being written, as far as there was time to compute them. */
export class Preparation {
  readonly #input: PreparationInput;
  readonly #updates = new Map<string, PreparedUpdate>();
  #image: MapImage | undefined;
  #touched: ReadonlySet<string> | undefined;

  constructor(prospect: PreparationInput) {
    this.#input = prospect;
  }

  /** Computes updates until all are done or `isTime` returns `false`. */
  async run(isTime: () => boolean): Promise<void> {
    const { images, before, next, streams, bytes } = this.#input;
    // The statement that writes the state must be sent first.
    await nextTurn();
    if (!isTime()) return;
    const access = await images.prepare(next);
    if (access === undefined || !isTime()) return;
    const image = { state: next, access };
    this.#image = image;
    this.#touched = touchedBetween(before, image);
    let until = performance.now() + sliceMs;
    for (const peer of this.#touched) {
      const stream = streams.get(peer);
      if (stream?.sent === undefined || stream.isLagging) continue;
      // A stream that has a map does not need past images.
      this.#updates.set(stream.id, { from: stream.sent, update: updateFor(stream, image, [], bytes) });
      if (performance.now() < until) continue;
      await nextTurn();
      if (!isTime()) return;
      until = performance.now() + sliceMs;
    }
  }

  /**
   * Returns the ids of the peers whose map differs between the images, `undefined` when these images were not prepared.
   */
  touched(before: MapImage, image: MapImage): ReadonlySet<string> | undefined {
    return before === this.#input.before && this.#isForImage(image) ? this.#touched : undefined;
  }

  /** Returns the update of a stream for an image, `undefined` when it was not prepared. */
  take(stream: Stream, image: MapImage): Update | Dismissal | undefined {
    const prepared = this.#isForImage(image) ? this.#updates.get(stream.id) : undefined;
    return prepared?.from === stream.sent ? prepared?.update : undefined;
  }

  #isForImage({ state, access }: MapImage): boolean {
    return this.#image?.state === state && this.#image.access === access;
  }
}
