import { type Config, settings } from '../../config.ts';
import { Unavailable } from '../../model/errors.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';

const timeoutMs = 5000;

export const health = defineCommand({
  name: 'health',
  summary: 'Check whether a server is ready, for health checks of containers.',
  details:
    'Needs no token. Without --server, it checks the server at the --listen address, which is the server in the same container.',
  flags: {},
  settings: ['server', 'listen'],
  examples: [['heddle health', 'Exit with 0 when the server of this machine is ready, else with 1']],
  async run({ config, terminal }) {
    const server = serverOf(config);
    const { status } = await fetchReadiness(server);
    if (status !== 200) throw new Unavailable(`The server at ${server} answers but is not ready (${status}).`);
    terminal.out(`The server at ${server} is ready.\n`);
    return exit.ok;
  },
});

/** Returns the URL of the configured server, else of the server that these settings would start on this machine. */
function serverOf({ server, listen: { host, port } }: Pick<Config, 'server' | 'listen'>): string {
  if (server !== settings.server.default) return server;
  const near = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
}

async function fetchReadiness(server: string): Promise<Response> {
  try {
    return await fetch(`${server}/readyz`, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    throw new Unavailable(`No server answers at ${server} within ${timeoutMs / 1000} seconds.`, { cause });
  }
}
