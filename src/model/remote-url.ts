/** How a repository is reached. */
export type Transport = 'https' | 'ssh' | 'file';

/** Where the repository of a checked URL is. */
export interface Remote {
  readonly transport: Transport;
  /** Absent for files of the server; of IPv6 with brackets. */
  readonly host?: string;
  readonly port?: number;
}

const usualPorts = { https: 443, ssh: 22 };

/** Reads the address of a repository, `user@host:path` included; `undefined` for what is none. */
export function parseRemote(url: string): Remote | undefined {
  const [, host] = /^[\w.-]+@([\w.-]+):(?!\/\/)[^\s]+$/.exec(url) ?? [];
  if (host !== undefined) return { transport: 'ssh', host, port: usualPorts.ssh };
  const parsed = URL.parse(url);
  const transport = parsed?.protocol.slice(0, -1);
  if (transport === 'file') return { transport };
  if (parsed === null || (transport !== 'https' && transport !== 'ssh') || parsed.hostname === '') return undefined;
  return { transport, host: parsed.hostname, port: parsed.port === '' ? usualPorts[transport] : Number(parsed.port) };
}
