import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How the proxy treats the bytes of connections. */
export type Weather =
  /** Everything passes. */
  | 'clear'
  /** Each connection is cut at a random byte, one way or another. */
  | 'cutting'
  /** Nothing passes in either direction, and neither side is notified. */
  | 'dark';

/** A proxy between a server and its Postgres. */
export interface CuttingProxy extends AsyncDisposable {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  /** How many connections were cut until now. */
  readonly cuts: number;
  /** Changes the weather, for connections that are open too. */
  set(weather: Weather): void;
}

/** How a connection ends when its byte has come. */
const ways = [
  // The server hears that the connection is gone, and Postgres gets later what was sent: a statement that it has not begun.
  'late',
  // Both hear it, in the middle of what was sent.
  'both',
  // Postgres works, and what it answers is lost from some byte on.
  'deaf',
  // Nobody hears anything.
  'silent',
] as const;
type Way = (typeof ways)[number];

/** At how many bytes a connection is cut at most; a write of one object sends about a thousand, the first time four. */
const farthest = 6000;
/** How long what was cut off takes to Postgres, and answers to the server, in milliseconds. */
const latest = 80;
const slowest = 5;
/** How much of the time a connection falls silent instead of ending: each costs the server its patience. */
const silentShare = 0.04;

/** Opens a proxy to the database of a URL; `random` decides what happens. */
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
    // Connections that waited in the dark end at last, as by a network that is back with other addresses.
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
    // Both ends are cut on purpose.
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
    // In the dark neither hears that the other has gone.
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

  /** What was sent arrives whole, after the server got an error for it; the answer of Postgres is dropped. */
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

  /** Leaves both ends open and takes nothing more from either. */
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
  /** How many bytes pass before; those of answers when they are what is cut. */
  bytes: number;
  isDone: boolean;
}
