import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How the proxy treats the data of connections. */
export type Weather =
  /** All data passes. */
  | 'clear'
  /** Each connection is cut at a random byte, in a random way. */
  | 'cutting'
  /** Nothing passes in either direction, and neither side is notified. */
  | 'dark';

/** A proxy between a server and its Postgres. */
export interface CuttingProxy extends AsyncDisposable {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Number of connections that were cut so far. */
  readonly cuts: number;
  /** Changes the weather, also for open connections. */
  set(weather: Weather): void;
}

/** Ways in which a connection ends at its last byte. */
const ways = [
  // The server is notified. Postgres gets the data later: a statement that it has not begun.
  'late',
  // Both sides are notified, in the middle of the data.
  'both',
  // Postgres works, and its answer is lost from some byte on.
  'deaf',
  // Neither side is notified.
  'silent',
] as const;
type Way = (typeof ways)[number];

/**
 * Maximum number of bytes before a cut. A write of one object sends about a thousand, the first write four thousand.
 */
const farthest = 6000;
/** Maximum delay of data that is cut off on its way to Postgres, and of answers to the server, in milliseconds. */
const latest = 80;
const slowest = 5;
/** Share of connections that fall silent instead of ending. For each of them the server has to wait for its timeout. */
const silentShare = 0.04;

/** Opens a proxy to the database of a URL. `random` decides when and how connections are cut. */
export async function openCuttingProxy(database: string, random: () => number): Promise<CuttingProxy> {
  const proxy = new Cutter(database, random);
  await proxy.listen();
  return proxy;
}

class Cutter implements CuttingProxy {
  readonly #target: URL;
  readonly #random: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ending = new AbortController();
  #weather: Weather = 'clear';
  #cuts = 0;

  constructor(database: string, random: () => number) {
    this.#target = new URL(database);
    this.#random = random;
    this.#server = createServer((client) => this.#join(client));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    const url = new URL(this.#target);
    url.searchParams.delete('host');
    url.host = `127.0.0.1:${address.port}`;
    return url.href;
  }

  get cuts(): number {
    return this.#cuts;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  set(weather: Weather): void {
    this.#weather = weather;
    if (weather !== 'clear') return;
    // Ends connections that were paused in the dark, as when a network returns with other addresses.
    for (const socket of this.#sockets) if (socket.isPaused()) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #open(socket: Socket): Socket {
    this.#sockets.add(socket);
    // Errors are expected: both ends are cut on purpose.
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
    return socket.setNoDelay(true);
  }

  #join(accepted: Socket): void {
    const client = this.#open(accepted);
    const postgres = this.#open(this.#connect());
    const way = this.#random() < silentShare ? 'silent' : (ways[Math.floor(this.#random() * 3)] ?? 'both');
    const cut = { way, bytes: Math.floor(this.#random() * farthest), isDone: false };
    client.on('data', (chunk) => this.#forward(client, postgres, chunk, cut));
    postgres.on('data', (chunk) => void this.#answer(client, postgres, chunk, cut));
    // In the dark, neither side is notified that the other side closed the connection.
    client.once('close', () => {
      if (this.#weather !== 'dark' && !(cut.isDone && way === 'late')) postgres.destroy();
    });
    postgres.once('close', () => {
      if (this.#weather !== 'dark' && !(cut.isDone && way === 'silent')) client.destroy();
    });
  }

  #connect(): Socket {
    const directory = this.#target.searchParams.get('host');
    const port = this.#target.port === '' ? 5432 : Number(this.#target.port);
    return directory === null ? connect(port, this.#target.hostname) : connect(`${directory}/.s.PGSQL.${port}`);
  }

  #forward(client: Socket, postgres: Socket, chunk: Buffer, cut: Cut): void {
    if (this.#weather === 'dark' || (cut.isDone && cut.way === 'silent')) {
      this.#silence(client, postgres);
      return;
    }
    const from = cut.bytes;
    const isWhole = this.#weather === 'clear' || cut.isDone || cut.way === 'deaf' || from > chunk.length;
    if (isWhole) {
      postgres.write(chunk);
      if (this.#weather === 'cutting' && cut.way !== 'deaf') cut.bytes -= chunk.length;
      return;
    }
    this.#cuts += 1;
    cut.isDone = true;
    const reach = chunk.subarray(0, Math.max(from, 0));
    if (cut.way === 'late') void this.#late(client, postgres, chunk);
    else {
      postgres.write(reach);
      if (cut.way === 'silent') this.#silence(client, postgres);
      else client.resetAndDestroy();
    }
  }

  /** Sends the data to Postgres after the server got an error for it, and drops the answer of Postgres. */
  async #late(client: Socket, postgres: Socket, chunk: Buffer): Promise<void> {
    client.resetAndDestroy();
    await this.#pause(latest);
    postgres.write(chunk);
    await this.#pause(latest);
    postgres.end();
  }

  async #answer(client: Socket, postgres: Socket, chunk: Buffer, cut: Cut): Promise<void> {
    if (this.#weather === 'dark' || (cut.isDone && cut.way === 'silent')) {
      this.#silence(client, postgres);
      return;
    }
    if (cut.isDone) return;
    if (this.#weather === 'clear') {
      client.write(chunk);
      return;
    }
    if (cut.way === 'deaf') cut.bytes -= chunk.length;
    if (cut.way !== 'deaf' || cut.bytes > 0) {
      postgres.pause();
      await this.#pause(slowest);
      postgres.resume();
      client.write(chunk);
      return;
    }
    this.#cuts += 1;
    cut.isDone = true;
    client.resetAndDestroy();
  }

  /** Leaves both ends open and reads no more data from either. */
  #silence(client: Socket, postgres: Socket): void {
    client.pause();
    postgres.pause();
  }

  async #pause(most: number): Promise<void> {
    await delay(this.#random() * most, undefined, { signal: this.#ending.signal }).catch(() => {});
  }
}

/** When and how a connection is cut. */
interface Cut {
  readonly way: Way;
  /**
   * Number of bytes that still pass before the cut: bytes of answers for the way `deaf`, otherwise bytes of requests.
   */
  bytes: number;
  isDone: boolean;
}
