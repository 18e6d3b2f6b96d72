/** Origins of a directory service: `signIn` is where applications sign in, `api` is where its data is read. */
export interface DirectoryHost {
  readonly signIn: string;
  readonly api: string;
}

/** Directory services, by the name that integrations give as their `host`. */
export type DirectoryHosts = Readonly<Record<string, DirectoryHost>>;

/**
 * Parses entries such as `directory.example.com=https://sign-in.example.com https://graph.example.com`. Returns the
 * first malformed entry as `wrong`.
 */
export function parseDirectoryHosts(
  texts: readonly string[],
): { readonly hosts: DirectoryHosts } | { readonly wrong: string } {
  const hosts: Record<string, DirectoryHost> = {};
  for (const text of texts) {
    const [, name = '', urls = ''] = /^([^=\s]+)=(.+)$/.exec(text.trim()) ?? [];
    const [signIn, api = signIn, ...others] = urls.trim().split(/\s+/).map(parseOrigin);
    if (signIn === undefined || api === undefined || others.length > 0) return { wrong: text };
    hosts[name.toLowerCase()] = { signIn, api };
  }
  return { hosts };
}

function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  const isOrigin = url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`;
  return isOrigin ? url.origin : undefined;
}
