import { once } from 'node:events';
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { parseAllowList } from '../../src/lib/net/public-address.ts';
import { createOutbound, type OutboundEvent, type OutboundOptions } from '../../src/outbound/outbound.ts';
import { certificate, privateKey } from '../sources/https-certificate.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that a test starts, with the requests that it received. */
export interface Host {
  readonly port: number;
  readonly asked: string[];
  readonly headers: IncomingMessage['headers'][];
}

/** Starts a server on an address of this machine. */
export async function startHost(
  answer: Answer,
  { address = '127.0.0.1', secure = false, port = 0 } = {},
): Promise<Host> {
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const listener: Answer = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    answer(request, response);
  };
  const server = secure ? createSecure({ cert: certificate, key: privateKey }, listener) : createPlain(listener);
  return { port: await listen(server, address, port), asked, headers };
}

/**
 * Starts a proxy that connects to the requested destination, or always to the port `to`. With `status`, it refuses
 * every request with that status.
 */
export async function startProxy(options: { readonly status?: number; readonly to?: number } = {}) {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const server = createPlain();
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    socket.on('error', () => socket.destroy());
    if (options.status !== undefined) {
      socket.end(`HTTP/1.1 ${options.status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const other = options.to === undefined ? connect(Number(port), hostname) : connect(options.to, '127.0.0.1');
    other.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => other.destroy());
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(other).pipe(socket);
  });
  const port = await listen(server, '127.0.0.1', 0);
  return { url: `http://127.0.0.1:${port}`, port, asked, credentials };
}

async function listen(server: Server, address: string, port: number): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Creates an outbound client that resolves names by a table. An entry that is a function is called for each lookup. */
export function outboundOf(
  options: Partial<Omit<OutboundOptions, 'allow' | 'lookup'>> & {
    readonly allow?: readonly string[];
    readonly names?: Readonly<Record<string, readonly string[] | (() => readonly string[])>>;
  } = {},
) {
  const { allow = [], names = {}, ...others } = options;
  const list = parseAllowList(allow);
  if ('wrong' in list) throw new Error(list.wrong);
  const events: OutboundEvent[] = [];
  const lookups: string[] = [];
  const outbound = createOutbound({
    ...{ userAgent: 'Heddle/test', authorities: certificate, observe: (event) => events.push(event) },
    ...others,
    allow: list,
    lookup: async (host) => {
      lookups.push(host);
      const found = names[host] ?? [];
      return typeof found === 'function' ? found() : found;
    },
  });
  onTestFinished(() => outbound.close());
  return { outbound, events, lookups, outcomes: () => events.map(({ outcome }) => outcome) };
}
