import { setTimeout as wait } from 'node:timers/promises';
import { asObject, asObjects, asTexts, type JsonObject } from '../../lib/json.ts';
import { HeddleError, InvalidInput, NotFound, Unavailable } from '../../model/errors.ts';
import { clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createProxyClient, type ProxyClient } from './edge.ts';
import { createToken, revokeToken } from './token.ts';

export const proxySimulate = defineCommand({
  name: 'proxy simulate',
  summary: 'Simulate a reverse proxy, for tests and demonstrations.',
  details:
    'Registers a proxy of the cluster, follows its services, reports each of them as active, and runs until it is stopped. With a proxy token (nbx_…) as --token it authenticates with that token; otherwise it makes a token in your name that is valid for a day, and revokes it at the end.',
  flags: {
    address: { placeholder: 'NAME', doc: 'The domain name under which the cluster offers services.' },
    'custom-ports': { doc: 'Allow services to choose their port.' },
    name: { placeholder: 'NAME', doc: 'The name of the proxy (default simulated-1).' },
    requests: { placeholder: 'N', doc: 'Number of requests to report for each service when it becomes active.' },
  },
  settings: clientSettings,
  examples: [
    ['heddle proxy simulate --address proxy.example.com', 'Simulate a proxy of the cluster proxy.example.com'],
    ['heddle proxy simulate --address proxy.example.com --token nbx_…', 'The same, with a token for proxies'],
  ],
  async run({ flags, config, terminal }) {
    const { address, 'custom-ports': ports, name = 'simulated-1', requests = '0' } = flags;
    if (typeof address !== 'string') throw new InvalidInput('No cluster: give --address, such as proxy.example.com.');
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    terminal.onInterrupt(stop);
    process.once('SIGTERM', stop);
    const entry = await obtainToken(config, String(name));
    const edge = createProxyClient(config.server, entry.token, String(name));
    const register = async (): Promise<void> => {
      const abilities = ports === true ? { supports_custom_ports: true } : {};
      const { cluster } = await edge.send('register', { address, ...abilities });
      terminal.out(`proxy ${String(name)} is registered at ${String(asObject(cluster)['address'])}\n`);
    };
    try {
      await register();
      await followServices({ edge, register, terminal, requests: Number(requests) }, stopping.signal);
    } finally {
      // When the server cannot be reached, it considers the proxy disconnected after a while.
      await edge.send('disconnect', {}).catch(ignoreRefusal);
      await entry.leave().catch(ignoreRefusal);
    }
    terminal.out(`proxy ${String(name)} is gone\n`);
    return exit.ok;
  },
});

/** Prefix of the tokens of reverse proxies. */
const proxyTokenPrefix = 'nbx_';

/**
 * Lifetime of the token that the simulation creates, in seconds. It matters only if the token is not revoked at the
 * end.
 */
const tokenLifetimeSeconds = 86_400;

/** Returns the token of the proxy, and a function to call at the end: it revokes the token if it was created here. */
async function obtainToken(
  config: Invocation<(typeof clientSettings)[number]>['config'],
  name: string,
): Promise<{ readonly token: string; leave(): Promise<void> }> {
  if (config.token?.startsWith(proxyTokenPrefix) === true) return { token: config.token, leave: async () => undefined };
  const client = await connect(config);
  const made = await createToken(client, { name: `${name} (simulated)`, expires_in: tokenLifetimeSeconds });
  return { token: made.plain_token, leave: () => revokeToken(client, made.id) };
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof HeddleError)) throw error;
}

interface Simulation {
  readonly edge: ProxyClient;
  readonly terminal: Terminal;
  readonly requests: number;
  register(): Promise<void>;
}

/** Follows the services until the signal aborts. A stream that breaks off is opened again. */
async function followServices({ edge, register, terminal, requests }: Simulation, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { type, data } of edge.follow(signal)) {
        const services = asObjects(data[type === 'state' ? 'services' : 'put'] ?? []);
        for (const { name, domain } of services) terminal.out(`serving ${String(name)} at ${String(domain)}\n`);
        for (const id of asTexts(data['removed'] ?? [])) terminal.out(`no longer serving ${id}\n`);
        await reportServices(edge, services, requests);
      }
    } catch (error) {
      if (!(error instanceof Unavailable) && !(error instanceof NotFound) && !signal.aborted) throw error;
      // The server considers the proxy disconnected.
      if (error instanceof NotFound && !signal.aborted) await register();
    }
    // An abort ends the wait.
    await wait(1000, undefined, { signal }).catch(() => undefined);
  }
}

async function reportServices(edge: ProxyClient, services: readonly JsonObject[], requests: number): Promise<void> {
  if (services.length === 0) return;
  const issued = new Date().toISOString();
  const reported = services.map(({ id, enabled }) => ({
    service_id: String(id),
    status: enabled === true ? 'active' : 'pending',
    certificate_issued_at: issued,
  }));
  await edge.send('service-status', { services: reported });
  const records = services.flatMap(({ id, domain }) =>
    Array.from({ length: requests }, (_, at) => ({
      ...{ timestamp: issued, id: `${String(id)}-${issued}-${at}`, service_id: String(id), host: String(domain) },
      ...{ method: 'GET', path: `/simulated/${at}`, status_code: 200, duration_ms: 1 + (at % 50), protocol: 'http' },
    })),
  );
  for (let at = 0; at < records.length; at += 1000)
    await edge.send('access-logs', { batch: `${issued}/${at}`, records: records.slice(at, at + 1000) });
}
