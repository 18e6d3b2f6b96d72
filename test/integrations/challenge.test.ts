import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTxtResolver } from '../../src/features/accounts/tenants/txt-resolver.ts';

/** What the name server of these tests answers: TXT records in their pieces, or an error code. */
const answers: Readonly<Record<string, readonly (readonly string[])[] | number>> = {
  '_heddle-challenge.one.example.com': [['heddle-challenge=abc']],
  '_heddle-challenge.pieces.example.com': [
    ['v=spf1 ', '-all'],
    ['heddle-', 'challenge=abc'],
  ],
  '_heddle-challenge.empty.example.com': [],
  '_heddle-challenge.missing.example.com': 3,
  '_heddle-challenge.failing.example.com': 2,
};

let socket: Socket;
let resolve: (name: string) => Promise<readonly string[]>;

beforeAll(async () => {
  socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => socket.send(reply(question), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  resolve = createTxtResolver([`127.0.0.1:${socket.address().port}`]);
});
afterAll(() => socket.close());

/** A DNS message (RFC 1035): header, the question again, and the records. */
function reply(question: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const answer = answers[labels.join('.').toLowerCase()] ?? 3;
  const records = typeof answer === 'number' ? [] : answer;
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(12, at + 5), ...records.map(txtRecord)]);
}

function txtRecord(pieces: readonly string[]): Buffer {
  const data = Buffer.concat(pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece)])));
  // Its name is that of the question; type TXT, class IN, a minute to live.
  return Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length]), data]);
}

it.each([
  ['one', ['heddle-challenge=abc']],
  ['pieces', ['v=spf1 -all', 'heddle-challenge=abc']],
  ['empty', []],
  ['missing', []],
])('the texts of %s are %j', async (name, texts) => {
  expect(await resolve(`_heddle-challenge.${name}.example.com`)).toEqual(texts);
});

it('a name server that fails is no answer', async () => {
  await expect(resolve('_heddle-challenge.failing.example.com')).rejects.toThrow('ESERVFAIL');
});
