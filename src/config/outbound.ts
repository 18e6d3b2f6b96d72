import type { Setting } from '../config.ts';
import { type DirectoryHosts, parseDirectoryHosts } from '../lib/directory-hosts.ts';
import { parseAddress } from '../lib/net/address.ts';
import { type AllowList, emptyAllowList, parseAllowList } from '../lib/net/public-address.ts';
import type { Parsed } from './parse.ts';

/** Settings for connections to other hosts. */
export interface OutboundConfig {
  readonly outboundAllow: AllowList;
  /** File with certificates (PEM) of additional certificate authorities. */
  readonly outboundCa: string | undefined;
  readonly outboundGuard: 'heddle' | 'proxy';
  readonly directoryHosts: DirectoryHosts;
  readonly dnsServers: readonly string[];
}

/** Declarations of the settings for connections to other hosts. */
export const outboundSettings: { readonly [K in keyof OutboundConfig]: Setting<OutboundConfig[K]> } = {
  outboundAllow: {
    variable: 'HEDDLE_OUTBOUND_ALLOW',
    placeholder: 'LIST',
    doc: 'Addresses, ranges and host names that users may have the server connect to although they are not public (default none).',
    multiple: 'commas',
    default: emptyAllowList,
    parse: parseAllow,
  },
  outboundCa: {
    variable: 'HEDDLE_OUTBOUND_CA',
    placeholder: 'FILE',
    doc: 'Certificates (PEM) of private authorities that the server trusts for connections over https and for mail, in addition to those of the machine; read at the start. Git reads GIT_SSL_CAINFO instead.',
    default: undefined,
    parse: ([text = '']) => ({ value: text.trim() }),
  },
  outboundGuard: {
    variable: 'HEDDLE_OUTBOUND_GUARD',
    placeholder: 'heddle|proxy',
    doc: 'Where the hosts that users have the server connect to are resolved and checked: in the server, or in the proxy of HTTPS_PROXY (default heddle).',
    default: 'heddle',
    parse: ([text = '']) =>
      text === 'heddle' || text === 'proxy' ? { value: text } : { fault: `is \`${text}\`; write heddle or proxy` },
  },
  directoryHosts: {
    variable: 'HEDDLE_DIRECTORY_HOSTS',
    placeholder: 'LIST',
    doc: 'Directories in addition to those of the public clouds, by the `host` of integrations: `NAME=URL`, or `NAME=SIGN-IN-URL API-URL` when the API has a different URL (default none).',
    multiple: 'commas',
    default: {},
    parse: parseHosts,
  },
  dnsServers: {
    variable: 'HEDDLE_DNS_SERVERS',
    placeholder: 'LIST',
    doc: 'Name servers that resolve the records with which users prove domains, by address, with a port if it is not 53: `192.0.2.53`, `[2001:db8::53]:5353` (default those of this machine).',
    multiple: 'commas',
    default: [],
    parse: parseNameServers,
  },
};

function parseHosts(texts: readonly string[]): Parsed<DirectoryHosts> {
  const list = parseDirectoryHosts(texts);
  if (!('wrong' in list)) return { value: list.hosts };
  return {
    fault: `has the invalid entry \`${list.wrong}\`; write entries such as directory.internal=https://graph.internal`,
  };
}

function parseNameServers(texts: readonly string[]): Parsed<readonly string[]> {
  const servers = texts.map((text) => text.trim());
  const wrong = servers.find((text) => !isNameServer(text));
  if (wrong === undefined) return { value: servers };
  return { fault: `has the invalid entry \`${wrong}\`; write addresses such as 192.0.2.53 or [2001:db8::53]:5353` };
}

/** Checks for an IP address, optionally with a port. An IPv6 address with a port must be in brackets. */
function isNameServer(text: string): boolean {
  if (parseAddress(text) !== undefined) return true;
  const [, six = '', four = '', port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65535;
  return isPort && (parseAddress(six)?.family === 6 || parseAddress(four)?.family === 4);
}

function parseAllow(texts: readonly string[]): Parsed<AllowList> {
  const list = parseAllowList(texts);
  if (!('wrong' in list)) return { value: list };
  return {
    fault: `has the invalid entry \`${list.wrong}\`; write addresses, ranges such as 10.1.0.0/16, or names such as git.internal`,
  };
}
