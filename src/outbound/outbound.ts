import type { Socket } from 'node:net';
import { tracedClientCall } from '../telemetry/span.ts';
import { trustAuthorities } from './certificates.ts';
import {
  checkedAddresses,
  type Lookup,
  type OutboundDestination,
  refusalByName,
  systemLookup,
} from './checked-addresses.ts';
import { type Client, type ClientOptions, createClient, type OutboundAnswer, type OutboundRequest } from './client.ts';
import { dial } from './dial.ts';
import { OutboundFailure, type OutboundOutcome } from './failure.ts';
import { createTunnelServer, type Passage } from './tunnel-server.ts';
import type { UpstreamProxy } from './upstream-proxy.ts';

/** Purpose of a request to another host. */
export type Purpose = 'directory' | 'endpoint_security' | 'git' | 'sign_in' | 'streaming' | 'webhook';

/** Result of one request or connection to another host. */
export interface OutboundEvent {
  readonly purpose: Purpose;
  readonly outcome: OutboundOutcome;
  readonly seconds: number;
  /** Part of the failure that its message hides from users. For the log only. */
  readonly detail?: string;
}

/** Settings for requests and connections to other hosts. */
export interface OutboundOptions extends Omit<ClientOptions, 'trust'> {
  /** Certificates (PEM) of authorities that are trusted in addition to those that the machine trusts. */
  readonly authorities?: string | undefined;
  readonly proxy?: UpstreamProxy | undefined;
  readonly observe?: (event: OutboundEvent) => void;
  readonly lookup?: Lookup;
  readonly connectMs?: number;
}

/** Opens all connections of this server to other hosts. */
export interface Outbound {
  /** Sends an HTTP request. Does not follow redirects. Throws `OutboundFailure`. */
  send(purpose: Purpose, request: OutboundRequest): Promise<OutboundAnswer>;
  /** Opens a local proxy for one run of a program that can use a proxy. */
  openPassage(purpose: Purpose, destination: OutboundDestination): Promise<Passage>;
  /**
   * Returns one checked address, for a program that cannot use a proxy. If the host has several addresses, it is the
   * first one that answers. Throws `OutboundFailure`.
   */
  findAddress(purpose: Purpose, destination: OutboundDestination): Promise<string>;
  /**
   * Returns why users may not name a host, if it is a disallowed IP address or a name of this machine. Returns
   * `undefined` for all other hosts.
   */
  refusesHost(host: string): string | undefined;
  close(): Promise<void>;
}

const defaultConnectTimeoutMs = 10_000;

/** Creates the access to other hosts. Opens nothing before the first use. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { allow, proxy, lookup = systemLookup, connectMs = defaultConnectTimeoutMs, observe } = options;
  const trust = trustAuthorities(options.authorities);
  const connect = (destination: OutboundDestination): Promise<Socket> =>
    dial(destination, { allow, proxy, lookup, connectMs, trust });
  const client = createClient(connect, { ...options, trust });
  const counted = async <Value>(purpose: Purpose, work: () => Promise<Value>): Promise<Value> => {
    const begin = performance.now();
    const note = (outcome: OutboundOutcome, more: Pick<OutboundEvent, 'detail'> = {}) =>
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
  const tunnels = createTunnelServer<Purpose>((purpose, destination) => counted(purpose, () => connect(destination)));
  const choose = async (destination: OutboundDestination): Promise<string> => {
    const addresses = await checkedAddresses(destination, allow, lookup);
    const [only = '', ...others] = addresses;
    if (others.length === 0) return only;
    // The address that answers is found by connecting, because the program would try only one address.
    const socket = await dial(destination, { allow, lookup: async () => addresses, connectMs, trust });
    const { remoteAddress = only } = socket;
    socket.destroy();
    return remoteAddress;
  };
  return {
    send: (purpose, request) => counted(purpose, () => sendTraced(client, purpose, request)),
    openPassage: (purpose, destination) => tunnels.open(purpose, destination),
    findAddress: (purpose, destination) => counted(purpose, () => choose(destination)),
    refusesHost: (host) => refusalByName(host, allow),
    async close() {
      await Promise.all([client.close(), tunnels.close()]);
    },
  };
}

/**
 * Sends a request in a span. Webhooks and event streams receive the span's `traceparent`, so that the receiver can
 * continue the trace. Of the URL, the span records only the host.
 */
function sendTraced(client: Client, purpose: Purpose, request: OutboundRequest): Promise<OutboundAnswer> {
  const { url, method = 'GET', headers = {} } = request;
  const about = { 'heddle.purpose': purpose, 'http.request.method': method, 'server.address': url.hostname };
  return tracedClientCall(`${method} ${purpose}`, about, async (span) => {
    const isContinued = span !== undefined && ['webhook', 'streaming'].includes(purpose);
    const more = isContinued ? { headers: { traceparent: span.traceparent, ...headers } } : {};
    const answer = await client.send({ ...request, ...more });
    span?.set({ 'http.response.status_code': answer.status });
    return answer;
  });
}

/** Returns the message of the inner failure, which contains more than the failure that hides it from users. */
function detailOf(error: unknown): Pick<OutboundEvent, 'detail'> {
  const cause = error instanceof OutboundFailure ? error.cause : undefined;
  return cause instanceof OutboundFailure ? { detail: cause.message } : {};
}
