import type { Socket } from 'node:net';
import { tracedCall } from '../telemetry/span.ts';
import { trustIn } from './certificates.ts';
import { type Client, type ClientOptions, createClient, type OutboundAnswer, type OutboundRequest } from './client.ts';
import { dial } from './dial.ts';
import { OutboundFailure, type Outcome } from './failure.ts';
import { checkedAddresses, type Lookup, refusalByName, systemLookup, type Target } from './guard.ts';
import { createTunnelServer, type Passage } from './tunnel-server.ts';
import type { UpstreamProxy } from './upstream-proxy.ts';

/** What other hosts are asked for. */
export type Purpose = 'directory' | 'endpoint_security' | 'git' | 'sign_in' | 'streaming' | 'webhook';

/** How one request or connection went. */
export interface OutboundEvent {
  readonly purpose: Purpose;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** What the message of the failure keeps from users: for the log only. */
  readonly detail?: string;
}

/** How this server reaches other hosts. */
export interface OutboundOptions extends Omit<ClientOptions, 'trust'> {
  /** Certificates (PEM) of authorities that are trusted besides those that the machine trusts. */
  readonly authorities?: string | undefined;
  readonly proxy?: UpstreamProxy | undefined;
  readonly observe?: (event: OutboundEvent) => void;
  readonly lookup?: Lookup;
  readonly connectMs?: number;
}

/** The one way by which this server reaches other hosts. */
export interface Outbound {
  /** Sends a request over HTTP; redirects are not followed. Throws `OutboundFailure`. */
  send(purpose: Purpose, request: OutboundRequest): Promise<OutboundAnswer>;
  /** Opens a way out for one run of a program that takes a proxy. */
  openPassage(purpose: Purpose, target: Target): Promise<Passage>;
  /** One address for a program that takes no proxy: it was checked, and it answers if there is a choice. Throws `OutboundFailure`. */
  findAddress(purpose: Purpose, target: Target): Promise<string>;
  /** Why users may not name a host, as far as it is an address or a name of this machine. */
  refusesHost(host: string): string | undefined;
  close(): Promise<void>;
}

const usualConnectMs = 10_000;

/** Creates the way out. Nothing is opened before it is needed. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { allow, proxy, lookup = systemLookup, connectMs = usualConnectMs, observe } = options;
  const trust = trustIn(options.authorities);
  const connect = (target: Target): Promise<Socket> => dial(target, { allow, proxy, lookup, connectMs, trust });
  const client = createClient(connect, { ...options, trust });
  const counted = async <Value>(purpose: Purpose, work: () => Promise<Value>): Promise<Value> => {
    const begin = performance.now();
    const note = (outcome: Outcome, more: Pick<OutboundEvent, 'detail'> = {}) =>
      observe?.({ purpose, outcome, seconds: (performance.now() - begin) / 1000, ...more });
    try {
      const value = await work();
      note('ok');
      return value;
    } catch (error) {
      note(error instanceof OutboundFailure ? error.outcome : 'failed', detailOf(error));
      throw error;
    }
  };
  const tunnels = createTunnelServer<Purpose>((purpose, target) => counted(purpose, () => connect(target)));
  const choose = async (target: Target): Promise<string> => {
    const addresses = await checkedAddresses(target, allow, lookup);
    const [only = '', ...others] = addresses;
    if (others.length === 0) return only;
    // Which of them answers is found by connecting; the program would not try another one.
    const socket = await dial(target, { allow, lookup: async () => addresses, connectMs, trust });
    const { remoteAddress = only } = socket;
    socket.destroy();
    return remoteAddress;
  };
  return {
    send: (purpose, request) => counted(purpose, () => sendTraced(client, purpose, request)),
    openPassage: (purpose, target) => tunnels.open(purpose, target),
    findAddress: (purpose, target) => counted(purpose, () => choose(target)),
    refusesHost: (host) => refusalByName(host, allow),
    async close() {
      await Promise.all([client.close(), tunnels.close()]);
    },
  };
}

/** Receivers that users name get the span, so that they can continue the trace; of the address it has the host alone. */
function sendTraced(client: Client, purpose: Purpose, request: OutboundRequest): Promise<OutboundAnswer> {
  const { url, method = 'GET', headers = {} } = request;
  const about = { 'heddle.purpose': purpose, 'http.request.method': method, 'server.address': url.hostname };
  return tracedCall(`${method} ${purpose}`, about, async (span) => {
    const isContinued = span !== undefined && ['webhook', 'streaming'].includes(purpose);
    const more = isContinued ? { headers: { traceparent: span.traceparent, ...headers } } : {};
    const answer = await client.send({ ...request, ...more });
    span?.set({ 'http.response.status_code': answer.status });
    return answer;
  });
}

/** A failure that another one is the cause of says less than that one. */
function detailOf(error: unknown): Pick<OutboundEvent, 'detail'> {
  const cause = error instanceof OutboundFailure ? error.cause : undefined;
  return cause instanceof OutboundFailure ? { detail: cause.message } : {};
}
