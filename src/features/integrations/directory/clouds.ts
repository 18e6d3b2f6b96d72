import type { DirectoryHost, DirectoryHosts } from '../../../lib/directory-hosts.ts';
import { DirectoryFailure } from './failure.ts';

/** Addresses of a directory, and whether the operator or a user named it. */
export interface Cloud extends DirectoryHost {
  readonly namedBy: 'operator' | 'user';
}

const world = { signIn: 'https://login.microsoftonline.com', api: 'https://graph.microsoft.com' };
const government = { signIn: 'https://login.microsoftonline.us', api: 'https://graph.microsoft.us' };
const defence = { ...government, api: 'https://dod-graph.microsoft.us' };
const china = { signIn: 'https://login.partner.microsoftonline.cn', api: 'https://microsoftgraph.chinacloudapi.cn' };

/** Known clouds, by their domain and by the host of their API. */
const clouds: DirectoryHosts = {
  'microsoft.com': world,
  'graph.microsoft.com': world,
  'microsoft.us': government,
  'graph.microsoft.us': government,
  'dod-graph.microsoft.us': defence,
  'chinacloudapi.cn': china,
  'microsoftgraph.chinacloudapi.cn': china,
};

/**
 * Returns the cloud that an integration names. Clouds of the operator take precedence. Throws `DirectoryFailure` for an
 * unknown name.
 */
export function cloudOf(host: string, operated: DirectoryHosts): Cloud {
  const name = host.toLowerCase();
  if (Object.hasOwn(operated, name) && operated[name] !== undefined) return { ...operated[name], namedBy: 'operator' };
  if (Object.hasOwn(clouds, name) && clouds[name] !== undefined) return { ...clouds[name], namedBy: 'user' };
  const known = [...new Set([...Object.keys(operated), 'microsoft.com', 'microsoft.us', 'chinacloudapi.cn'])];
  throw new DirectoryFailure(
    'refused',
    `${host} is not a directory that this server knows (known are ${known.join(', ')}); create the integration again with one of these, or ask the operator to add it to HEDDLE_DIRECTORY_HOSTS`,
  );
}
