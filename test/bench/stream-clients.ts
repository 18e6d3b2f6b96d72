import { connect, type Socket } from 'node:net';

/** A client of a stream, and the request by which it connects. */
export interface Reader {
  readonly peer: string;
  readonly request: string;
}

/** Order to the process that runs the readers. */
export type Order =
  | { readonly type: 'connect'; readonly port: number; readonly readers: readonly Reader[] }
  | { readonly type: 'count' }
  | { readonly type: 'cut' };

/** Number of events and bytes since the counters were last reset, and number of peers that received an event. */
export interface Counted {
  readonly events: number;
  readonly peers: number;
  readonly bytes: number;
}

// Many stream readers in a separate process. They do little work, because they share the machine with the server.
let sockets: Socket[] = [];
let awaited = Number.POSITIVE_INFINITY;
let [events, bytes] = [0, 0];
const reached = new Set<string>();

process.on('message', (order: Order | { readonly type: 'await'; readonly events: number }) => {
  if (order.type === 'connect') open(order.port, order.readers);
  else if (order.type === 'await') wait(order.events);
  else if (order.type === 'count') {
    process.send?.({ events, peers: reached.size, bytes } satisfies Counted);
  } else {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    process.send?.('done');
  }
});

/** Resets the counters. The process sends `reached` when this number of events has arrived. */
function wait(count: number): void {
  awaited = count;
  [events, bytes] = [0, 0];
  reached.clear();
  process.send?.('waiting');
}

function open(port: number, readers: readonly Reader[]): void {
  sockets = readers.map(({ peer, request }) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    // An event ends with two line feeds, which may arrive in two chunks.
    let last = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      let found = last === 10 && chunk[0] === 10 ? 1 : 0;
      for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) found += 1;
      last = chunk[chunk.length - 1] as number;
      if (found === 0) return;
      reached.add(peer);
      events += found;
      if (events < awaited) return;
      awaited = Number.POSITIVE_INFINITY;
      process.send?.('reached');
    });
    socket.on('error', () => socket.destroy());
    return socket;
  });
  process.send?.('connecting');
}
