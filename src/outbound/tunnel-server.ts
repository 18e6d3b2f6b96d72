import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { normalizeHost } from '../lib/net/public-address.ts';
import type { OutboundDestination } from './checked-addresses.ts';

/** A local proxy for one run of a program that opens its connections itself. It connects to one destination only. */
export interface Passage {
  /** URL of the proxy with the credential of this run. It is a secret: it must not be in a command line or a log. */
  readonly proxyUrl: string;
  /** Returns why the last connection was refused or failed. */
  readonly reason: () => string | undefined;
  /** Closes the connections of the run, and revokes its credential. */
  readonly close: () => void;
}

/** A proxy on the loopback address, for programs that this server starts. */
export interface TunnelServer<Purpose> {
  open(purpose: Purpose, destination: OutboundDestination): Promise<Passage>;
  close(): Promise<void>;
}

interface ProxiedRun<Purpose> {
  readonly purpose: Purpose;
  readonly destination: OutboundDestination;
  readonly sockets: Set<Duplex>;
  reason: string | undefined;
}

/** Checks a destination and connects to it. */
type Connect<Purpose> = (purpose: Purpose, destination: OutboundDestination) => Promise<Socket>;

/** Maximum number of open connections per run. A program that fetches documents never needs more. */
const maxConnections = 16;
const idleMs = 120_000;

/**
 * Creates the proxy. It starts to listen when the first run is opened. `connect` checks the destination and connects to
 * it.
 */
export function createTunnelServer<Purpose>(connect: Connect<Purpose>): TunnelServer<Purpose> {
  const runs = new Map<string, ProxiedRun<Purpose>>();
  let listening: Promise<{ readonly server: Server; readonly port: number }> | undefined;
  const listen = async () => {
    const server = createServer((_request, response) => response.writeHead(405).end());
    server.on('connect', (request, socket, head) => void serve(runs, connect, { request, socket, head }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // This listener must not keep the process alive; the API server does that.
    server.unref();
    const address = server.address();
    return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
  };
  return {
    async open(purpose, destination) {
      listening ??= listen();
      const { port } = await listening;
      const secret = randomBytes(24).toString('hex');
      const credential = `Basic ${Buffer.from(`run:${secret}`).toString('base64')}`;
      const run: ProxiedRun<Purpose> = { purpose, destination, sockets: new Set(), reason: undefined };
      runs.set(credential, run);
      return {
        proxyUrl: `http://run:${secret}@127.0.0.1:${port}`,
        reason: () => run.reason,
        close() {
          runs.delete(credential);
          for (const socket of run.sockets) socket.destroy();
        },
      };
    },
    async close() {
      const opened = await listening;
      for (const run of runs.values()) for (const socket of run.sockets) socket.destroy();
      runs.clear();
      opened?.server.close();
      opened?.server.closeAllConnections();
    },
  };
}

interface ConnectRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function serve<Purpose>(
  runs: ReadonlyMap<string, ProxiedRun<Purpose>>,
  connect: Connect<Purpose>,
  { request, socket, head }: ConnectRequest,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const run = runs.get(request.headers['proxy-authorization'] ?? '');
  if (run === undefined) {
    answer(socket, '407 Proxy Authentication Required', 'proxy-authenticate: Basic realm="heddle"\r\n');
    return;
  }
  const asked = request.url ?? '';
  if (!isDestination(run.destination, asked)) {
    run.reason = `it redirects to another host, ${asked.slice(0, 200)}, which is not followed; write the address that it redirects to into \`url\``;
    answer(socket, '403 Forbidden');
    return;
  }
  if (run.sockets.size >= maxConnections) {
    answer(socket, '429 Too Many Requests');
    return;
  }
  run.sockets.add(socket);
  socket.once('close', () => run.sockets.delete(socket));
  try {
    pipeSockets(socket, await connect(run.purpose, run.destination), head);
  } catch (error) {
    run.reason = error instanceof Error ? error.message : String(error);
    answer(socket, '502 Bad Gateway');
  }
}

/** Whether the authority of a CONNECT request names the destination. */
function isDestination({ host, port }: OutboundDestination, authority: string): boolean {
  const [, name = '', portText = ''] = /^(.+):(\d{1,5})$/.exec(authority) ?? [];
  return normalizeHost(name) === normalizeHost(host) && Number(portText) === port;
}

function pipeSockets(socket: Duplex, other: Socket, head: Buffer): void {
  const end = () => {
    socket.destroy();
    other.destroy();
  };
  other.setTimeout(idleMs, end);
  for (const one of [socket, other]) one.on('error', end).on('close', end);
  if (socket.destroyed) {
    end();
    return;
  }
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  other.write(head);
  socket.pipe(other).pipe(socket);
}

function answer(socket: Duplex, status: string, headers = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${headers}content-length: 0\r\nconnection: close\r\n\r\n`);
}
