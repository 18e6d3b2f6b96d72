import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Answer of a name server for one name. */
export interface Answer {
  /** TXT records, each as a list of its strings. */
  readonly txt?: readonly (readonly string[])[];
  readonly cname?: readonly string[];
  /** DNS error code (RCODE) to return instead of records; 0: no records and no error. */
  readonly code?: number;
  /** True when the server sends no answer at all. */
  readonly silent?: true;
}

/** A name server that a test controls. */
export interface NameServer {
  /** Address and port, such as `127.0.0.1:5353`. */
  readonly address: string;
  /**
   * Answers by name. A leading `*.` stands for every name directly below that has no entry. Other names do not exist.
   */
  readonly records: Map<string, Answer>;
  /** Queries that arrived, as `type name`. */
  readonly asked: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const types: Readonly<Record<number, 'txt' | 'cname'>> = { 16: 'txt', 5: 'cname' };
const noSuchName = 3;
/** Maximum length of an answer over UDP, in bytes. Longer answers are truncated, and sent over TCP. */
const mostOverUdp = 512;

/**
 * Opens a name server on one port for both UDP and TCP: the preferred port if it is free for both, otherwise any free
 * port.
 */
export async function openNameServer(preferredPort = 0): Promise<NameServer> {
  const records = new Map<string, Answer>();
  const asked: string[] = [];
  const { udp, tcp } = await listenOnBoth(preferredPort);
  const answer = (question: Buffer): Buffer | undefined => replyTo(question, records, asked);
  udp.on('message', (question, { port, address }) => {
    const reply = answer(question);
    if (reply !== undefined) udp.send(reply.length > mostOverUdp ? truncated(question) : reply, port, address);
  });
  const sockets = new Set<Socket>();
  tcp.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let read = Buffer.alloc(0);
    socket.on('data', (data) => {
      read = Buffer.concat([read, data]);
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
      const reply = answer(read.subarray(2, 2 + read.readUInt16BE(0)));
      if (reply === undefined) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.end(Buffer.concat([length, reply]));
    });
  });
  return {
    address: `127.0.0.1:${udp.address().port}`,
    records,
    asked,
    async [Symbol.asyncDispose]() {
      udp.close();
      for (const socket of sockets) socket.destroy();
      tcp.close();
      await once(tcp, 'close');
    },
  };
}

/**
 * Listens on one port for both UDP and TCP. A port that is free for UDP may be in use for TCP; any other port is tried
 * then.
 */
async function listenOnBoth(preferredPort: number): Promise<{ readonly udp: UdpSocket; readonly tcp: Server }> {
  for (let wished = preferredPort; ; wished = 0) {
    const udp = createSocket('udp4').bind(wished, '127.0.0.1');
    try {
      await once(udp, 'listening');
      const tcp = createServer().listen(udp.address().port, '127.0.0.1');
      await once(tcp, 'listening');
      return { udp, tcp };
    } catch (error) {
      udp.close();
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
}

/**
 * Returns the answer as a DNS message (RFC 1035): header, repeated question, records. Returns `undefined` to stay
 * silent.
 */
function replyTo(question: Buffer, records: NameServer['records'], asked: string[]): Buffer | undefined {
  const { name, type, end } = readQuestion(question);
  asked.push(`${type} ${name}`);
  const found = records.get(name) ?? records.get(`*.${name.slice(name.indexOf('.') + 1)}`) ?? { code: noSuchName };
  if (found.silent === true) return undefined;
  const answers = found.code === undefined ? recordsOf(found, type) : [];
  const header = headerFor(question, 0x8180 | (found.code ?? 0));
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, question.subarray(12, end), ...answers]);
}

function truncated(question: Buffer): Buffer {
  return Buffer.concat([headerFor(question, 0x8380), question.subarray(12, readQuestion(question).end)]);
}

/** Returns the header of an answer without records. */
function headerFor(question: Buffer, flags: number): Buffer {
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(0, 6);
  header.writeUInt32BE(0, 8);
  return header;
}

function readQuestion(question: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = types[question.readUInt16BE(at + 1)] ?? 'other';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/**
 * Returns the records for a query. A CNAME is returned for every type, because a name that has one has no other
 * records.
 */
function recordsOf({ txt = [], cname = [] }: Answer, type: string): readonly Buffer[] {
  const aliases = cname.map((target) => record(5, nameBytes(target)));
  return type === 'txt' ? [...aliases, ...txt.map((pieces) => record(16, textBytes(pieces)))] : aliases;
}

/** Returns a record of class IN for the name in the question, with a TTL of 60 seconds. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function textBytes(pieces: readonly string[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece, 'latin1')])));
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([...name.split('.'), ''].map((label) => Buffer.from([label.length, ...Buffer.from(label)])));
}
