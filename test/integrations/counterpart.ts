import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How a request is answered: with a status, by hand, or not at all. */
export type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

/** A request with all of its body. */
export interface Arrived {
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

/** The other side of an integration, which checks requests as strictly as the real one. */
export interface Counterpart<Message> {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** What came and was accepted, in order. */
  readonly accepted: readonly Message[];
  /** Every attempt that was as it has to be. */
  readonly attempts: readonly Message[];
  /** What was wrong with requests. */
  readonly faults: readonly string[];
  /** Answers the next requests so, each once; then `usually`. */
  next(...answers: readonly Answer[]): void;
  /** Absent: accepts. */
  usually(answer?: Answer): void;
  /** Answers so what the message says; nothing: as usual. */
  refuses(decide: (text: string) => Answer | undefined): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A certificate and its key. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** What one is made of. */
export interface CounterpartOptions<Message> {
  /** Reads a request, or says what is wrong with it. */
  read(arrived: Arrived): Promise<Message | string> | Message | string;
  /** Answers what is accepted. */
  accept(response: ServerResponse, message: Message): void;
  /** Answers with another status than those of success. */
  refuse?(response: ServerResponse, status: number): void;
  /** Absent: it speaks plain http. */
  readonly tls?: Tls | undefined;
}

/** Starts one on this machine; it ends with the test. */
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
  // A server that listens over TCP has such an address.
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
