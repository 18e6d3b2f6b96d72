import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { parseJson } from '../../src/lib/json.ts';
import type { AnswerCheck } from './answer-check.ts';

/**
 * Checks every JSON answer that a listening server sends over sockets: to command lines, pages and raw requests of
 * tests.
 */
export function watchAnswers(app: FastifyInstance, check: AnswerCheck, onFault: (fault: unknown) => void): void {
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request;
    if (method === 'HEAD') return;
    const sent = collect(response);
    response.once('finish', () => {
      try {
        const answer = sent();
        // A request that is refused with 400 may not have reached a route, so its answer is only checked for the shape
        // of errors.
        if (answer !== undefined) check(method, answer.status === 400 ? '' : url, answer);
      } catch (fault) {
        onFault(fault);
      }
    });
  });
}

/** Records the body while it is written. Returns a function that returns the answer if it is JSON. */
function collect(response: ServerResponse) {
  const chunks: Buffer[] = [];
  const written: Record<string, string> = {};
  const { writeHead, write, end } = response;
  const headers = () => ({ ...(response.getHeaders() as Record<string, string>), ...written });
  const isJson = () => /^application\/json/.test(headers()['content-type'] ?? '');
  const keep = (chunk: unknown) => {
    if (isJson() && (typeof chunk === 'string' || chunk instanceof Uint8Array)) chunks.push(Buffer.from(chunk));
  };
  // These methods are overloaded, so the arguments are passed on unchanged.
  Object.assign(response, {
    writeHead(...given: Parameters<typeof writeHead>) {
      for (const part of given) if (typeof part === 'object') Object.assign(written, part);
      return writeHead.apply(response, given);
    },
    write(...given: Parameters<typeof write>) {
      keep(given[0]);
      return write.apply(response, given);
    },
    end(...given: Parameters<typeof end>) {
      keep(given[0]);
      return end.apply(response, given);
    },
  });
  return () =>
    isJson()
      ? { status: response.statusCode, headers: headers(), body: parseJson(Buffer.concat(chunks).toString('utf8')) }
      : undefined;
}
