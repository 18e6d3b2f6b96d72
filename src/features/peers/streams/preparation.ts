import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccessImages } from '../../../commit/access-images.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type Dismissal, type MapImage, type SentMap, touchedBetween } from './maps.ts';
import type { Stream } from './stream.ts';
import { type SharedBytes, type Update, updateFor } from './update.ts';

/**
 * For how long updates are prepared before the answer of the database is checked, in milliseconds: the writer waits for
 * it.
 */
const sliceMs = 0.5;

/** What is prepared, and from what. */
export interface PreparedState {
  readonly images: Pick<AccessImages, 'ahead'>;
  /** The image that the streams have now. */
  readonly before: MapImage;
  /** A state that may come. */
  readonly next: Snapshot;
  readonly streams: ReadonlyMap<string, Stream>;
  readonly bytes: SharedBytes;
}

interface Prepared {
  /** The map that the stream had when the update was computed. */
  readonly from: SentMap;
  readonly update: Update | Dismissal;
}

/** What the streams of an account will be sent if a state is written, as far as there was time to compute it. */
export class Preparation {
  readonly #prospect: PreparedState;
  readonly #updates = new Map<string, Prepared>();
  #image: MapImage | undefined;
  #touched: ReadonlySet<string> | undefined;

  constructor(prospect: PreparedState) {
    this.#prospect = prospect;
  }

  /** Works things out until all is done or there is no time any more. */
  async run(isTime: () => boolean): Promise<void> {
    const { images, before, next, streams, bytes } = this.#prospect;
    // The statement leaves first.
    await nextTurn();
    if (!isTime()) return;
    const access = await images.ahead(next);
    if (access === undefined || !isTime()) return;
    const image = { state: next, access };
    this.#image = image;
    this.#touched = touchedBetween(before, image);
    let until = performance.now() + sliceMs;
    for (const peer of this.#touched) {
      const stream = streams.get(peer);
      if (stream?.sent === undefined || stream.isLagging) continue;
      // A stream that has a map needs no images of the past.
      this.#updates.set(stream.id, { from: stream.sent, update: updateFor(stream, image, [], bytes) });
      if (performance.now() < until) continue;
      await nextTurn();
      if (!isTime()) return;
      until = performance.now() + sliceMs;
    }
  }

  /** Ids of the peers whose map differs between an image and the one before; nothing when that was not prepared. */
  touched(before: MapImage, image: MapImage): ReadonlySet<string> | undefined {
    return before === this.#prospect.before && this.#isOf(image) ? this.#touched : undefined;
  }

  /** The update of a stream at an image; nothing when that was not prepared. */
  take(stream: Stream, image: MapImage): Update | Dismissal | undefined {
    const prepared = this.#isOf(image) ? this.#updates.get(stream.id) : undefined;
    return prepared?.from === stream.sent ? prepared?.update : undefined;
  }

  #isOf({ state, access }: MapImage): boolean {
    return this.#image?.state === state && this.#image.access === access;
  }
}
