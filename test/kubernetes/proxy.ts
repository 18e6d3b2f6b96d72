import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';

/** Faults of the proxy, each as a share of requests, from 0 to 1. */
export interface Weather {
  /** The proxy answers with 429 and `Retry-After: 0`. */
  readonly busy?: number;
  /** The proxy resets the connection within the first four kilobytes of the answer. */
  readonly cut?: number;
  /** The proxy inserts bytes into the first four kilobytes of the answer. */
  readonly garbled?: number;
}

/** Proxy between a Heddle server and its API server that can inject faults. */
export interface KubeProxy extends AsyncDisposable {
  /** Kubeconfig file that connects through the proxy, with the user of the original file. */
  readonly kubeconfig: string;
  /**
   * Answers that passed the proxy, oldest first: `METHOD path status`, `WATCH path status` for watches, and `EXPIRED
   * path` when a watch reports 410.
   */
  readonly passed: readonly string[];
  /** Number of times that each fault occurred. */
  readonly counts: Readonly<Record<keyof Weather, number>>;
  set(weather: Weather): void;
  /** Keeps watches open to the client after the API server has ended them. */
  hold(): void;
  /** Ends all watches, and stops keeping them open. */
  release(): void;
}

/**
 * Opens a proxy to the API server of a kubeconfig file, and writes the proxy's kubeconfig file next to it. `random`
 * decides when faults occur.
 */
export async function openKubeProxy(kubeconfig: string, random: () => number): Promise<KubeProxy> {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8'));
  const [{ cluster }] = config.clusters;
  const target = {
    agent: new TlsAgent({ keepAlive: true }),
    ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
  };
  const passed: string[] = [];
  const counts = { busy: 0, cut: 0, garbled: 0 };
  const watches = new Set<ServerResponse>();
  let weather: Weather = {};
  let isHeld = false;
  const strikes = (what: keyof Weather): boolean => {
    const hit = random() < (weather[what] ?? 0);
    if (hit) counts[what] += 1;
    return hit;
  };

  const offsetOf = (what: keyof Weather) => (strikes(what) ? random() * 4096 : Number.POSITIVE_INFINITY);

  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method = 'GET', url = '/', headers } = asked;
    const isWatch = url.includes('watch=true');
    const { host: _, ...others } = headers;
    const forward = requestTls(`${cluster.server}${url}`, { ...target, method, headers: others });
    forward.on('error', () => answer.destroy());
    answer.on('close', () => forward.destroy());
    asked.pipe(forward);
    forward.on('response', (found) => {
      passed.push(`${isWatch ? 'WATCH' : method} ${url.replace(/\?.*/, '')} ${found.statusCode}`);
      if (isWatch && found.statusCode === 200) {
        watches.add(answer);
        answer.on('close', () => watches.delete(answer));
      }
      answer.writeHead(found.statusCode ?? 502, found.headers);
      answer.flushHeaders();
      found.on('data', (chunk: Buffer) => {
        if (isWatch && chunk.includes('"code":410')) passed.push(`EXPIRED ${url.replace(/\?.*/, '')}`);
      });
      relay(found, answer, {
        isHeld: () => isHeld && watches.has(answer),
        cutAt: offsetOf('cut'),
        garbledAt: offsetOf('garbled'),
      });
    });
  };
  const server = createServer((asked, answer) => {
    if (!strikes('busy')) return pass(asked, answer);
    asked.resume();
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too many requests, please try again later',
      reason: 'TooManyRequests',
      code: 429,
    };
    answer.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(status));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const file = `${kubeconfig}-by-${port}`;
  const by = {
    ...config,
    clusters: [{ name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
  };
  await writeFile(file, JSON.stringify(by));
  return {
    kubeconfig: file,
    passed,
    counts,
    set(next) {
      weather = next;
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const watch of watches) watch.end();
    },
    async [Symbol.asyncDispose]() {
      target.agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Treatment {
  readonly isHeld: () => boolean;
  readonly cutAt: number;
  readonly garbledAt: number;
}

/** Forwards an answer to the client, with the faults chosen for it. */
function relay(found: IncomingMessage, answer: ServerResponse, { isHeld, cutAt, garbledAt }: Treatment): void {
  let sent = 0;
  found.on('data', (chunk: Buffer) => {
    const isGarbled = sent <= garbledAt && sent + chunk.length > garbledAt;
    sent += chunk.length;
    if (sent > cutAt) {
      // Only half of the last chunk arrives.
      answer.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => answer.socket?.resetAndDestroy());
      found.destroy();
      return;
    }
    if (!isGarbled) return void answer.write(chunk);
    // The inserted line does not parse, nor does the line that it splits: JSON does not allow a line break within a
    // text.
    const middle = Math.floor(chunk.length / 2);
    answer.write(Buffer.concat([chunk.subarray(0, middle), Buffer.from('\n~\n'), chunk.subarray(middle)]));
  });
  const end = (): void => {
    if (!isHeld()) answer.end();
  };
  found.on('end', end);
  found.on('error', end);
}
