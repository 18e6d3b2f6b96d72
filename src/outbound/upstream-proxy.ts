import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { codeOf } from '../lib/error-code.ts';
import { contains, parseAddress, parseCidr } from '../lib/net/address.ts';
import { normalizeHost } from '../lib/net/public-address.ts';
import type { Trust } from './certificates.ts';
import { OutboundFailure } from './failure.ts';

/** The proxy through which this machine reaches other hosts. */
export interface UpstreamProxy {
  /** `http://` or `https://`, with credentials if the proxy requires them. */
  readonly url: string;
  /** Hosts that are reached without the proxy, as `NO_PROXY` lists them. */
  readonly exclusions: readonly string[];
  /**
   * True when the proxy resolves names and decides which hosts may be reached. False: this server resolves the names
   * and checks the addresses.
   */
  readonly checksHosts: boolean;
}

/**
 * Returns the proxy that `HTTPS_PROXY` and `NO_PROXY` name, in upper or lower case as most programs read them. Returns
 * `undefined` without a proxy.
 */
export function readProxy(
  environment: Readonly<Record<string, string | undefined>>,
  guard: 'heddle' | 'proxy',
): UpstreamProxy | undefined {
  const read = (name: string) => environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || '';
  const url = read('HTTPS_PROXY');
  if (url === '') return undefined;
  const except = read('NO_PROXY').split(/[\s,]+/);
  // Like curl and Git, reads a proxy without a scheme as plain http.
  const whole = url.includes('://') ? url : `http://${url}`;
  return { url: whole, exclusions: except.filter((entry) => entry !== ''), checksHosts: guard === 'proxy' };
}

/** Whether a host is reached without the proxy. */
export function isExcluded(except: readonly string[], host: string, port: number): boolean {
  return except.some((entry) => {
    const [, name = entry, portText] = /^(.+?):(\d{1,5})$/.exec(isIP(entry) === 6 ? '' : entry) ?? [];
    if (portText !== undefined && Number(portText) !== port) return false;
    if (name === '*') return true;
    const range = parseCidr(name);
    const address = parseAddress(host);
    if (range.ok) return address !== undefined && contains(range.cidr, address);
    const suffix = normalizeHost(name).replace(/^\*?\./, '');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

/** Abort signal and trusted certificates for opening a tunnel. */
export interface TunnelOptions {
  readonly signal: AbortSignal;
  readonly trust: Trust;
}

/** Opens a tunnel through the proxy to an authority such as `192.0.2.1:443`. Throws `OutboundFailure`. */
export function openTunnel(proxy: UpstreamProxy, authority: string, { signal, trust }: TunnelOptions): Promise<Socket> {
  const url = URL.parse(proxy.url);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new OutboundFailure('failed', 'the proxy that HTTPS_PROXY names is neither http:// nor https://; correct it');
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const authorization =
    url.username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
  const request = (url.protocol === 'https:' ? secureRequest : plainRequest)({
    host: normalizeHost(url.hostname),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    ...{
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...authorization },
      agent: false,
      signal,
      ...trust,
    },
  });
  return new Promise((resolve, reject) => {
    const refuse = (status: number | undefined) =>
      reject(new OutboundFailure('unreachable', `the proxy of this server answers ${status} for ${authority}`));
    request.on('connect', ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        refuse(statusCode);
        return;
      }
      if (head.length > 0) socket.unshift(head);
      // Both proxy schemes connect over TCP, so that the stream is a Socket.
      resolve(socket);
    });
    request.on('response', ({ statusCode }) => {
      request.destroy();
      refuse(statusCode);
    });
    request.on('error', (cause) =>
      reject(
        new OutboundFailure(
          'unreachable',
          `the proxy of this server cannot be reached (${codeOf(cause) ?? cause.name})`,
          { cause },
        ),
      ),
    );
    request.end();
  });
}
