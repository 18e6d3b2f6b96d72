import { setTimeout as delay } from 'node:timers/promises';
import { makeToken } from '../../../src/lib/token.ts';
import { serveGauged } from '../gauged-server.ts';
import type { Attack } from './attacks.ts';

/** Token of the owner. */
const token = makeToken('nbp_', new Uint8Array(32).fill(11));

/** Delays of other requests, in milliseconds, and the resources that the server used. */
export interface Toll {
  readonly idle: number;
  readonly attacked: number;
  /** Longest delay of the event loop. */
  readonly longest: number;
  /** Memory in bytes, beyond the memory before the first attack. */
  readonly grown: number;
  readonly status: number;
  /** Size of the answer, in bytes. */
  readonly answered: number;
}

/** A server in a separate process, to which another client sends requests all the time. */
export interface HostileStand extends AsyncDisposable {
  /** Sends an attack repeatedly while another client sends requests. */
  throwAt(attack: Attack): Promise<Toll>;
}

/** Starts the server and warms it up. */
export async function openHostileStand(): Promise<HostileStand> {
  const { server, gauge } = await serveGauged(token);
  // Warms up the server: compiling the code for the first requests is not the effect of an attack.
  await probesDuring(server.url, probing(200));
  const { peak: base } = await gauge();
  return {
    async throwAt(attack) {
      const request = requestOf(attack);
      const idle = await probesDuring(server.url, probing(60));
      await gauge();
      let answer: Answer = { status: 0, answered: 0 };
      const attacked = await probesDuring(server.url, async (signal) => {
        answer = await send(server.url, attack.path, { ...request, signal });
      });
      const { longest, peak } = await gauge();
      return { idle: high(idle), attacked: high(attacked), longest, grown: peak - base, ...answer };
    },
    async [Symbol.asyncDispose]() {
      await server.stop('SIGKILL');
    },
  };
}

type Answer = Pick<Toll, 'status' | 'answered'>;

type Work = (signal: AbortSignal) => Promise<unknown>;

/** Returns work that only waits as long as `count` probes take. */
function probing(count: number): Work {
  return () => delay(count * probeGapMs);
}

const probeGapMs = 5;

/** Returns the time until the answer to each request of another client while the work runs, in milliseconds. */
async function probesDuring(url: string, work: Work): Promise<readonly number[]> {
  const times: number[] = [];
  const ended = new AbortController();
  // Every attack should be refused in less time. A request that still runs then either delays no other request, or the
  // delay has been measured.
  const most = AbortSignal.timeout(5_000);
  const doing = work(most).finally(() => ended.abort());
  while (!ended.signal.aborted || times.length < 20) {
    const begin = performance.now();
    await (await fetch(`${url}/api/groups`, { headers: { authorization: `Token ${token}` } })).arrayBuffer();
    times.push(performance.now() - begin);
    await delay(probeGapMs);
  }
  await doing;
  return times;
}

/** Returns the 99th percentile, which is the longest time when there are few. */
function high(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? sorted.at(-1) ?? 0;
}

/** Creates the request of an attack. Called before the measurement begins, because it may take long. */
function requestOf({ method = 'POST', body, headers = {} }: Attack): RequestInit {
  const type = { authorization: `Token ${token}`, 'content-type': 'application/json' };
  return { method, headers: { ...type, ...headers }, ...(method === 'GET' ? {} : { body: body() }) };
}

async function send(
  url: string,
  path: string,
  request: RequestInit & { readonly signal: AbortSignal },
): Promise<Answer> {
  try {
    const response = await fetch(url + path, request);
    const { byteLength: answered } = await response.arrayBuffer();
    return { status: response.status, answered };
  } catch (error) {
    if (request.signal.aborted) return { status: 0, answered: 0 };
    throw error;
  }
}
