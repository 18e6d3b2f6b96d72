import { createConnection, isIP, type Socket } from 'node:net';
import { codeOf } from '../lib/error-code.ts';
import { type AllowList, normalizeHost } from '../lib/net/public-address.ts';
import type { Trust } from './certificates.ts';
import { checkedAddresses, type Lookup, type OutboundDestination } from './checked-addresses.ts';
import { OutboundFailure } from './failure.ts';
import { isExcluded, openTunnel, type TunnelOptions, type UpstreamProxy } from './upstream-proxy.ts';

/** Settings by which connections to other hosts are opened. */
export interface DialOptions {
  readonly allow: AllowList;
  readonly proxy?: UpstreamProxy | undefined;
  readonly lookup: Lookup;
  readonly connectMs: number;
  /** Certificates that are trusted when the certificate of the proxy is checked. */
  readonly trust: Trust;
}

/**
 * Connects to a destination, directly or through the proxy, at an address that was checked. Throws `OutboundFailure`.
 */
export async function dial(destination: OutboundDestination, options: DialOptions): Promise<Socket> {
  const host = normalizeHost(destination.host);
  // The timer must be cleared once the destination is connected: an abort after that would close the open connection.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), options.connectMs);
  try {
    return await Promise.race([connect({ ...destination, host }, options, late.signal), rejectOnAbort(late.signal)]);
  } catch (error) {
    if (error instanceof OutboundFailure) throw error;
    if (!late.signal.aborted) throw unreachableFailure(host, error);
    const message = `${host} was not reached within ${options.connectMs / 1000} s`;
    throw new OutboundFailure('timeout', message, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function connect(destination: OutboundDestination, options: DialOptions, signal: AbortSignal): Promise<Socket> {
  const { host, port } = destination;
  const { trust } = options;
  const proxy =
    options.proxy !== undefined && !isExcluded(options.proxy.exclusions, host, port) ? options.proxy : undefined;
  if (proxy?.checksHosts === true) return openTunnel(proxy, authorityOf(host, port), { signal, trust });
  const addresses = await checkedAddresses(destination, options.allow, options.lookup);
  signal.throwIfAborted();
  return proxy === undefined
    ? connectToAny(host, port, addresses, signal)
    : connectThroughProxy(proxy, port, addresses, { signal, trust });
}

/**
 * Opens a tunnel through the proxy to the first checked address that answers. The proxy gets an address instead of the
 * name, because the address that it would resolve the name to is not checked.
 */
async function connectThroughProxy(
  proxy: UpstreamProxy,
  port: number,
  [address = '', ...others]: readonly string[],
  options: TunnelOptions,
): Promise<Socket> {
  try {
    return await openTunnel(proxy, authorityOf(address, port), options);
  } catch (error) {
    if (others.length === 0 || options.signal.aborted) throw error;
    return connectThroughProxy(proxy, port, others, options);
  }
}

/** Connects to the first of the addresses that answers. */
function connectToAny(host: string, port: number, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = createConnection({
    ...{ host, port, noDelay: true, autoSelectFamily: true },
    // Returns the checked addresses instead of resolving the name again.
    lookup: (_host, { all }, answer) =>
      all === true ? answer(null, found) : answer(null, found[0]?.address ?? '', found[0]?.family),
  });
  const end = () => socket.destroy();
  signal.addEventListener('abort', end);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      signal.removeEventListener('abort', end);
      resolve(socket);
    });
  });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

function unreachableFailure(host: string, cause: unknown): OutboundFailure {
  const code = codeOf(cause) ?? 'no reason given';
  return new OutboundFailure('unreachable', `${host} does not answer (${code})`, { cause });
}

function authorityOf(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
