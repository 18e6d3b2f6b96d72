import type { IncomingMessage } from 'node:http';
import type { Json } from '../../../src/lib/json.ts';
import { type Counterpart, startCounterpart, type Tls } from '../counterpart.ts';

/** A request that the platform received. */
interface Posted {
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

/** Starts a platform that accepts JSON. */
export function startSink(tls?: Tls): Promise<Counterpart<Posted>> {
  return startCounterpart<Posted>({
    tls,
    read({ request: { method, url, headers }, body }) {
      if (method !== 'POST' || url !== '/in') return `${method} ${url}`;
      if (headers['content-type'] !== 'application/json') return `the type is ${headers['content-type']}`;
      try {
        return { headers, body: JSON.parse(body.toString('utf8')) };
      } catch {
        return 'the body is no JSON';
      }
    },
    accept: (response) => response.writeHead(200).end('ok'),
  });
}
