import type { Json } from '../../../lib/json.ts';
import type { Dismissal, SentMap } from './maps.ts';
import { type Chunks, eventChunks, keepAlive, type Sink } from './sink.ts';

/** Reasons for which the server ends a stream. */
export type EndReason = Dismissal | 'replaced' | 'stopping' | 'failed';

const reasonMessages: Readonly<Record<EndReason, string>> = {
  deleted: 'the peer was deleted; enrol again with a new key pair',
  blocked: 'the user of the peer is kept out; ask an administrator of the account',
  expired: 'the login of the peer has expired; log in with the access token of its user',
  replaced: 'the peer opened another stream',
  stopping: 'the server stops; connect again',
  failed: 'the server cannot compute the network map of the peer at the moment; connect again',
};

/** Reasons after which the peer should reconnect. */
const reconnectReasons: readonly EndReason[] = ['stopping', 'failed'];

/**
 * One connected peer: the last map that it was sent, and whether it keeps up. Nothing is queued for a reader that lags
 * behind.
 */
export class Stream {
  readonly peer: string;
  /** Id of this connection, different from other connections of the peer. */
  readonly id: string;
  readonly #sink: Sink;
  readonly #onEnded: () => void;
  /** Last map that was sent. Absent until the first event. */
  sent: SentMap | undefined;
  /** `Last-Event-ID` that the reader sent. */
  readonly lastEventId: string | undefined;
  /** Whether there may be changes for this peer that were not computed, because the reader lagged behind. */
  stale = false;
  /** Time at which the reader began to lag behind. */
  #laggingSince: number | undefined;
  #silent = true;
  #open = true;

  constructor(given: {
    readonly peer: string;
    readonly id: string;
    readonly last: string | undefined;
    readonly sink: Sink;
    readonly caughtUp: (stream: Stream) => void;
    readonly ended: () => void;
  }) {
    this.peer = given.peer;
    this.id = given.id;
    this.lastEventId = given.last;
    this.#sink = given.sink;
    this.#onEnded = given.ended;
    this.#sink.onDrain = () => {
      this.#laggingSince = undefined;
      given.caughtUp(this);
    };
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get isLagging(): boolean {
    return this.#laggingSince !== undefined;
  }

  /** Sends an event. */
  send(event: Chunks, now: number): void {
    if (!this.#open) return;
    this.#silent = false;
    if (!this.#sink.write(event)) this.#laggingSince ??= now;
  }

  /** Sends a keep-alive to a silent reader, and disconnects a reader that has lagged behind since before `limit`. */
  tick(limit: number, now: number): void {
    if (!this.#open) return;
    if (this.#laggingSince !== undefined) {
      if (this.#laggingSince < limit) this.giveUp();
      return;
    }
    if (this.#silent && !this.#sink.write([keepAlive])) this.#laggingSince = now;
    this.#silent = true;
  }

  /** Sends the reason, and ends the stream. */
  end(reason: EndReason): void {
    if (!this.#open) return;
    const message: Json = reasonMessages[reason];
    const again = reconnectReasons.includes(reason);
    const own = JSON.stringify({ reason, message, reconnect: again }).slice(1, -1);
    this.#sink.write(eventChunks({ type: 'end' }, own));
    this.handleClosed();
    this.#sink.end();
  }

  giveUp(): void {
    this.handleClosed();
    this.#sink.destroy();
  }

  /** Called when the connection is closed. */
  handleClosed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#onEnded();
  }
}
