import { normalizeHost } from '../../../lib/net/public-address.ts';
import { parseRemote } from '../../../model/remote-url.ts';
import type { OutboundDestination } from '../../../outbound/checked-addresses.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { Unreadable } from '../files/snapshot.ts';

/** How git may reach the remote of one source. */
export interface GitNetworkOptions extends Pick<OutboundDestination, 'namedBy' | 'alsoAllowed'> {
  readonly url: string;
  readonly outbound: Pick<Outbound, 'openPassage' | 'findAddress'>;
}

/** Connection to the remote for one run of git. */
export interface GitNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** Options of ssh. */
  readonly sshOptions: readonly string[];
  /** Returns why the remote was not reached, when the cause lies outside of git. */
  readonly reason: () => string | undefined;
  readonly close: () => void;
}

const local: GitNetwork = { env: {}, sshOptions: [], reason: () => undefined, close: () => undefined };

/** Prepares the connection to a remote. Throws `Unreadable` when the server does not connect to it. */
export async function openGitNetwork(options: GitNetworkOptions): Promise<GitNetwork> {
  const { url, outbound, ...named } = options;
  const { transport, host, port } = parseRemote(url) ?? {};
  if (transport === 'file') return local;
  if (transport === undefined || host === undefined || port === undefined)
    throw new Unreadable('it is not the address of a repository; correct `url`.');
  const destination = { host: normalizeHost(host), port, ...named };
  return transport === 'https' ? connectThroughProxy(outbound, destination) : connectToAddress(outbound, destination);
}

/**
 * Connects through a proxy that leads only to the host of the URL: a redirect to another host ends there, before
 * anything is sent to that host. The proxy's credential is in the environment and not in an argument, because everybody
 * on the machine can read arguments. It is in variables that every version of git supports, because an older version
 * would ignore a setting and connect directly.
 */
async function connectThroughProxy(
  outbound: Pick<Outbound, 'openPassage'>,
  destination: OutboundDestination,
): Promise<GitNetwork> {
  const { proxyUrl, reason, close } = await outbound.openPassage('git', destination);
  const env = { HTTPS_PROXY: proxyUrl, https_proxy: proxyUrl, NO_PROXY: '', no_proxy: '' };
  return { env: { ...env, GIT_HTTP_PROXY_AUTHMETHOD: 'basic' }, sshOptions: [], reason, close };
}

/**
 * Makes ssh connect to exactly the address that was checked, and check the host's key under its name. A program between
 * them (`ProxyCommand`) would also have to be installed and given a credential, without protecting against anything
 * more: ssh follows no redirects.
 */
async function connectToAddress(
  outbound: Pick<Outbound, 'findAddress'>,
  destination: OutboundDestination,
): Promise<GitNetwork> {
  try {
    const address = await outbound.findAddress('git', destination);
    const { host, port } = destination;
    // The form in which ssh writes hosts to its `known_hosts` file.
    const alias = port === 22 ? host : `[${host}]:${port}`;
    const sshOptions = [`HostName=${address}`, `HostKeyAlias=${alias}`, 'CheckHostIP=no'];
    return { ...local, sshOptions };
  } catch (error) {
    if (error instanceof OutboundFailure)
      throw new Unreadable(`it cannot be reached (${error.message}).`, { cause: error });
    throw error;
  }
}
