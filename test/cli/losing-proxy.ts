import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy that loses responses: the server has carried out the request, but the client does not receive the response.
 * With a status, the request is lost instead: the proxy answers it with this status.
 */
export interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  /** Returns the number of requests or responses lost so far. */
  lost(): number;
}

/** Path of a request that applies a plan. */
export const applyPath = /\/plans\/\w+\/apply$/;

/** The requests that the proxy loses, or whose responses it loses. */
export interface Loss {
  readonly path: RegExp;
  /** Number of losses. The first matching requests are affected. */
  readonly times: number;
  readonly status?: number;
}

/** Starts a proxy in front of a server. */
export async function losingProxy(target: string, { path, times, status }: Loss): Promise<LosingProxy> {
  let lost = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = 'GET', url = '/', headers } = request;
    const isLost = path.test(url) && lost < times;
    if (isLost) lost += 1;
    if (isLost && status !== undefined) return response.writeHead(status, { 'retry-after': '1' }).end();
    const { host: _, connection: __, 'transfer-encoding': ___, 'content-length': ____, ...kept } = headers;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: Object.entries(kept).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' ? [[name, value]] : [],
      ),
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const body = await answer.text();
    if (isLost) return response.destroy();
    const type = answer.headers.get('content-type');
    return response.writeHead(answer.status, type === null ? {} : { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast is safe: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    lost: () => lost,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
