import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens keep-alive connections to a server, one for each client. */
export async function connectClients(url: string, clients: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: clients }, () => connect(Number(port), hostname).setNoDelay(true));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

/**
 * Sends one request and returns the body of its response when the response is complete. Does little work, because the
 * load shares the machine with the server.
 */
export function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    let length: number | undefined;
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      length ??= lengthOf(text);
      if (length === undefined || text.length < length) return;
      socket.off('data', onData).off('error', reject);
      if (/^HTTP\/1\.1 (?:200|304)/.test(text)) resolve(text.slice(text.indexOf('\r\n\r\n') + 4));
      else reject(new Error(text));
    };
    socket.on('data', onData).once('error', reject);
    socket.write(request);
  });
}

/** Returns the length of the response including its head. Returns `undefined` until the head is complete. */
function lengthOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  return end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
}
