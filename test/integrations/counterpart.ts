import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How a request is answered: with a status, or by a function, which may send no answer at all. */
export type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

/** A request with its complete body. */
export interface Arrived {
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

/** HTTP server that stands in for the other side of an integration, and checks requests as strictly as the real one. */
export interface Counterpart<Message> {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Messages that were accepted, in order of arrival. */
  readonly accepted: readonly Message[];
  /** Messages of all valid requests, including those that were answered with an error. */
  readonly attempts: readonly Message[];
  /** What was wrong with invalid requests; they are answered with 400. */
  readonly faults: readonly string[];
  /**
   * Sets the answers to the next requests, one request per answer. Later requests get the answer that `usually` set.
   */
  next(...answers: readonly Answer[]): void;
  /** Sets the answer to requests for which neither `next` nor `refuses` has one. Absent: accepts them. */
  usually(answer?: Answer): void;
  /**
   * Sets a function that chooses the answer by the text of the message. Where it returns `undefined`, the answer of
   * `usually` applies.
   */
  refuses(decide: (text: string) => Answer | undefined): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A certificate and its private key, in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** The parts of a counterpart that depend on its protocol. */
export interface CounterpartOptions<Message> {
  /** Parses a request. Returns a text that describes the fault when the request is invalid. */
  read(arrived: Arrived): Promise<Message | string> | Message | string;
  /** Sends the answer to an accepted message. */
  accept(response: ServerResponse, message: Message): void;
  /** Sends the answer to a request that is not accepted. Absent: the status without a body. */
  refuse?(response: ServerResponse, status: number): void;
  /** Absent: plain HTTP. */
  readonly tls?: Tls | undefined;
}

/** Starts a counterpart on 127.0.0.1, and stops it when the test ends. */
export async function startCounterpart<Message>({
  read,
  accept,
  refuse = (response, status) => response.writeHead(status).end(),
  tls,
}: CounterpartOptions<Message>): Promise<Counterpart<Message>> {
  const attempts: Message[] = [];
  const accepted: Message[] = [];
  const faults: string[] = [];
  const queue: Answer[] = [];
  let usual: Answer | undefined;
  let decide: (text: string) => Answer | undefined = () => undefined;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = await read({ request, body: await bodyOf(request) });
    if (typeof message === 'string') {
      faults.push(message);
      refuse(response, 400);
      return;
    }
    attempts.push(message);
    const answer = queue.shift() ?? decide(JSON.stringify(message)) ?? usual ?? 200;
    if (typeof answer === 'function') answer(response, request);
    else if (answer >= 300) refuse(response, answer);
    else {
      accepted.push(message);
      accept(response, message);
    }
  };
  const open = async (port: number) => {
    const listener = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
    const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await open(0);
  // `address()` returns an `AddressInfo` for a server that listens over TCP.
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(stop);
  return {
    ...{ url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, port, accepted, attempts, faults },
    next: (...answers) => void queue.push(...answers),
    usually(answer) {
      usual = answer;
    },
    refuses(by) {
      decide = by;
    },
    stop,
    async start() {
      server = await open(port);
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
