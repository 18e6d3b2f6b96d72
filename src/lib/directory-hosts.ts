/** Where a directory is: where applications sign in, and where its data is read. Both are origins. */
export interface DirectoryHost {
  readonly signIn: string;
  readonly api: string;
}

/** By the name that integrations give as their host. */
export type DirectoryHosts = Readonly<Record<string, DirectoryHost>>;

/** The hosts that a list such as `directory.example.com=https://sign-in.example.com https://graph.example.com` names. */
export function parseDirectoryHosts(
  texts: readonly string[],
): { readonly hosts: DirectoryHosts } | { readonly wrong: string } {
  const hosts: Record<string, DirectoryHost> = {};
  for (const text of texts) {
    const [, name = '', urls = ''] = /^([^=\s]+)=(.+)$/.exec(text.trim()) ?? [];
    const [signIn, api = signIn, ...others] = urls.trim().split(/\s+/).map(originOf);
    if (signIn === undefined || api === undefined || others.length > 0) return { wrong: text };
    hosts[name.toLowerCase()] = { signIn, api };
  }
  return { hosts };
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  const isOrigin = url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`;
  return isOrigin ? url.origin : undefined;
}
