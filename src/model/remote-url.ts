/** Transport to a repository. */
export type Transport = 'https' | 'ssh' | 'file';

/** Location of a repository, from its URL. */
export interface Remote {
  readonly transport: Transport;
  /** Host name or address, IPv6 in brackets. Absent for files on the server. */
  readonly host?: string;
  readonly port?: number;
}

const defaultPorts = { https: 443, ssh: 22 };

/** Parses the URL of a repository, or `user@host:path`. Returns `undefined` for anything else. */
export function parseRemote(url: string): Remote | undefined {
  const [, host] = /^[\w.-]+@([\w.-]+):(?!\/\/)[^\s]+$/.exec(url) ?? [];
  if (host !== undefined) return { transport: 'ssh', host, port: defaultPorts.ssh };
  const parsed = URL.parse(url);
  const transport = parsed?.protocol.slice(0, -1);
  if (transport === 'file') return { transport };
  if (parsed === null || (transport !== 'https' && transport !== 'ssh') || parsed.hostname === '') return undefined;
  return { transport, host: parsed.hostname, port: parsed.port === '' ? defaultPorts[transport] : Number(parsed.port) };
}
