import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const [compress, expand] = [promisify(gzip), promisify(gunzip)];

/** A received request. Its body is stored uncompressed. */
interface Kept extends Pick<IncomingMessage, 'headers'> {
  readonly path: string;
  readonly method: string;
  readonly body: Buffer;
}

/** An event streaming platform that accepts and stores all requests. */
interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Returns the number of stored bytes. */
  kept(): number;
  /** Resolves when the next request arrives. */
  next(): Promise<void>;
  /** Posts the received requests again, one after another. Bodies that arrived compressed are compressed again. */
  replay(): Promise<void>;
}

/** Starts a platform on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const came: Kept[] = [];
  let [bytes, isReplayed, arrived] = [0, false, () => {}];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const { method = '', url: path = '', headers } = incoming;
    const body = await plainOf({ headers, body: Buffer.concat(chunks) });
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(answerTo({ headers, body }));
    if (isReplayed) return;
    // The headers of all requests are equal except for ids and dates, so the first headers are stored for all.
    came.push({ method, path, headers: came[0]?.headers ?? headers, body });
    bytes += body.length;
    arrived();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address is an object, because the server listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    kept: () => bytes,
    next: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    async replay() {
      isReplayed = true;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (const one of came) await post(port, agent, one);
      agent.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Message = Pick<Kept, 'headers' | 'body'>;

async function plainOf({ headers, body }: Message): Promise<Buffer> {
  return headers['content-encoding'] === 'gzip' ? expand(body) : body;
}

/** Returns the answer to a request. A batch of records is answered with one entry for each record. */
function answerTo({ headers, body }: Message): string {
  if (headers['x-amz-target'] === undefined) return '{}';
  const count = body.toString('latin1').split('"Data":').length - 1;
  const RequestResponses = Array.from({ length: count }, () => ({ RecordId: 'r' }));
  return JSON.stringify({ FailedPutCount: 0, RequestResponses });
}

async function post(port: number, agent: Agent, { method, path, headers, body }: Kept): Promise<void> {
  const sent = headers['content-encoding'] === 'gzip' ? await compress(body) : body;
  const outgoing = request({
    ...{ host: '127.0.0.1', port, agent, method, path },
    headers: { ...headers, 'content-length': sent.length },
  });
  outgoing.end(sent);
  const [answer]: IncomingMessage[] = await once(outgoing, 'response');
  answer?.resume();
  if (answer !== undefined) await once(answer, 'end');
}
