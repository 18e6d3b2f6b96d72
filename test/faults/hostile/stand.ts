import { setTimeout as delay } from 'node:timers/promises';
import { makeToken } from '../../../src/lib/token.ts';
import { serveGauged } from '../gauged-server.ts';
import type { Attack } from './attacks.ts';

/** The token of the server's owner. */
const token = makeToken('nbp_', new Uint8Array(32).fill(11));

/** How others fared, in milliseconds, and what the server took. */
export interface Toll {
  readonly idle: number;
  readonly attacked: number;
  /** The longest that the event loop was held up. */
  readonly longest: number;
  /** Bytes beyond what it had before the first attack. */
  readonly grown: number;
  readonly status: number;
  /** Bytes of the answer. */
  readonly answered: number;
}

/** A server in a process of its own, with somebody who asks it all the time. */
export interface HostileStand extends AsyncDisposable {
  /** Sends an attack again and again while others ask. */
  throwAt(attack: Attack): Promise<Toll>;
}

/** Starts the server. */
export async function openHostileStand(): Promise<HostileStand> {
  const { server, gauge } = await serveGauged(token);
  // What the first requests compile is nobody's attack.
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

/** Nothing but the time that so many questions take. */
function probing(count: number): Work {
  return () => delay(count * probeGapMs);
}

const probeGapMs = 5;

/** How long each question took that somebody else asked while the work was going on. */
async function probesDuring(url: string, work: Work): Promise<readonly number[]> {
  const times: number[] = [];
  const ended = new AbortController();
  // No attack needs longer to be refused; who is still at it holds up nobody, or that shows.
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

/** The time that one in a hundred exceeds; of few the longest. */
function high(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? sorted.at(-1) ?? 0;
}

/** Makes the request of an attack. Done before anything is measured, because it may take long. */
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
