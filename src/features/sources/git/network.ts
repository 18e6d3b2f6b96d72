import { plainHost } from '../../../lib/net/public-address.ts';
import { parseRemote } from '../../../model/remote-url.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import type { Target } from '../../../outbound/guard.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { Unreadable } from '../files/snapshot.ts';

/** How git may reach the remote of one source. */
export interface GitNetworkOptions extends Pick<Target, 'namedBy' | 'alsoAllowed'> {
  readonly url: string;
  readonly outbound: Pick<Outbound, 'openPassage' | 'findAddress'>;
}

/** The way to the remote for one run of git. */
export interface GitNetwork {
  readonly env: Readonly<Record<string, string>>;
  /** Settings of ssh. */
  readonly sshOptions: readonly string[];
  /** Why the remote was not reached, when it was not git that saw it. */
  readonly reason: () => string | undefined;
  readonly close: () => void;
}

const local: GitNetwork = { env: {}, sshOptions: [], reason: () => undefined, close: () => undefined };

/** Opens the way to a remote. Throws `Unreadable` when the server does not connect there. */
export async function openGitNetwork(options: GitNetworkOptions): Promise<GitNetwork> {
  const { url, outbound, ...named } = options;
  const { transport, host, port } = parseRemote(url) ?? {};
  if (transport === 'file') return local;
  if (transport === undefined || host === undefined || port === undefined)
    throw new Unreadable('it is no address of a repository; correct `url`.');
  const target = { host: plainHost(host), port, ...named };
  return transport === 'https' ? throughProxy(outbound, target) : atAddress(outbound, target);
}

/**
 * The proxy leads to the host of the URL only: a redirect to another host ends there, before anything is sent to it. Its
 * credential is in the environment and not in an argument, because arguments can be read by everybody on the machine;
 * and in variables that every version of git knows, because an older one would ignore a setting and connect by itself.
 */
async function throughProxy(outbound: Pick<Outbound, 'openPassage'>, target: Target): Promise<GitNetwork> {
  const { proxyUrl, reason, close } = await outbound.openPassage('git', target);
  const env = { HTTPS_PROXY: proxyUrl, https_proxy: proxyUrl, NO_PROXY: '', no_proxy: '' };
  return { env: { ...env, GIT_HTTP_PROXY_AUTHMETHOD: 'basic' }, sshOptions: [], reason, close };
}

/**
 * ssh connects to the very address that was checked, and checks the host's key under its name. A program between them
 * (`ProxyCommand`) would be one more thing to install and to pass a credential to, and would protect from nothing more:
 * ssh follows no redirects.
 */
async function atAddress(outbound: Pick<Outbound, 'findAddress'>, target: Target): Promise<GitNetwork> {
  try {
    const address = await outbound.findAddress('git', target);
    const { host, port } = target;
    // As ssh writes hosts into its file of known ones.
    const alias = port === 22 ? host : `[${host}]:${port}`;
    const sshOptions = [`HostName=${address}`, `HostKeyAlias=${alias}`, 'CheckHostIP=no'];
    return { ...local, sshOptions };
  } catch (error) {
    if (error instanceof OutboundFailure)
      throw new Unreadable(`it cannot be reached (${error.message}).`, { cause: error });
    throw error;
  }
}
