import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { runNowOrInSlices } from '../../commit/slices.ts';
import { isObject } from '../../lib/json.ts';
import { jsonInSteps, splitText } from '../../lib/steps.ts';

/**
 * Minimum length of a text that is sent in parts, in characters. In one piece, this length takes 1 ms; in parts, twice
 * as long.
 */
const minLengthInParts = 2 * 1024 * 1024;

/** Minimum length of a list that is serialised in slices. Shorter lists are serialised as fast in one piece. */
const minSlicedLength = 200;

/**
 * Serialises answers with long lists in slices: a plan of 20,000 documents would block all other requests for half a
 * second.
 */
export function sliceLongAnswers(app: FastifyInstance): void {
  app.addHook('preSerialization', async (_request, reply, payload) => {
    if (!isLong(payload, 2)) return payload;
    const text = await runNowOrInSlices(jsonInSteps(payload));
    void reply.serializer(() => text);
    return payload;
  });
}

/**
 * Sends large texts in parts, each in a turn of the event loop of its own and after the previous part was sent. Must be
 * registered after all hooks that read the text.
 */
export function sendInParts(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < minLengthInParts) return payload;
    void reply.header('content-length', await runNowOrInSlices(byteLengthInSteps(payload)));
    return Readable.from(bytesOf(payload), { objectMode: false });
  });
}

function* byteLengthInSteps(text: string): Generator<undefined, number> {
  let length = 0;
  for (const part of splitText(text)) {
    length += Buffer.byteLength(part);
    yield undefined;
  }
  return length;
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  for (const part of splitText(text)) {
    yield Buffer.from(part);
    // A client that reads fast enough would take all parts in one turn.
    await nextTurn();
  }
}

/** Whether a value is a long list, or contains one at most `depth` levels deep. */
function isLong(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.length >= minSlicedLength;
  if (depth === 0 || !isObject(value)) return false;
  return Object.values(value).some((member) => isLong(member, depth - 1));
}
