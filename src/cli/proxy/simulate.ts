import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../lib/json.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { createEdge, type Edge } from './edge.ts';

export const proxySimulate = defineCommand({
  name: 'proxy simulate',
  summary: 'Play a reverse proxy, for tests and demonstrations.',
  details:
    'Registers a proxy of the cluster, follows its services, says that each is active, and runs until it is stopped. --token is a proxy token: POST /api/reverse-proxies/proxy-tokens makes one.',
  flags: {
    address: { placeholder: 'NAME', doc: 'The name below which the cluster offers services.' },
    'custom-ports': { doc: 'Services may choose their port.' },
    name: { placeholder: 'NAME', doc: 'By which the proxy calls itself (default simulated-1).' },
    requests: { placeholder: 'N', doc: 'Reports so many requests to each service when it becomes active.' },
  },
  settings: ['server', 'token'],
  examples: [
    ['heddle proxy simulate --address proxy.example.com --token nbx_…', 'Make the cluster proxy.example.com real'],
  ],
  async run({ flags, config, terminal }) {
    const { address = '', 'custom-ports': ports, name = 'simulated-1', requests = '0' } = flags;
    if (config.token === undefined) throw new Unauthenticated('No proxy token: give --token or HEDDLE_TOKEN.');
    const edge = createEdge(config.server, config.token, String(name));
    const answer = await edge.send('register', {
      address: String(address),
      ...(ports === true ? { supports_custom_ports: true } : {}),
    });
    const cluster = answer['cluster'] as JsonObject;
    terminal.out(`proxy ${String(name)} is registered at ${String(cluster['address'])}\n`);
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    terminal.onInterrupt(stop);
    process.once('SIGTERM', stop);
    await serve(edge, terminal, Number(requests), stopping.signal);
    await edge.send('disconnect', {});
    terminal.out(`proxy ${String(name)} is gone\n`);
    return exit.ok;
  },
});

/** Follows the services until it is stopped; a stream that breaks off is taken up again. */
async function serve(edge: Edge, terminal: Terminal, requests: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { type, data } of edge.follow(signal)) {
        const services = (data[type === 'state' ? 'services' : 'put'] ?? []) as readonly JsonObject[];
        for (const { name, domain } of services) terminal.out(`serving ${String(name)} at ${String(domain)}\n`);
        for (const id of (data['removed'] ?? []) as readonly string[]) terminal.out(`no longer serving ${id}\n`);
        await report(edge, services, requests);
      }
    } catch (error) {
      if (!(error instanceof Unavailable) && !signal.aborted) throw error;
    }
    // Being stopped ends the wait.
    await wait(1000, undefined, { signal }).catch(() => undefined);
  }
}

async function report(edge: Edge, services: readonly JsonObject[], requests: number): Promise<void> {
  if (services.length === 0) return;
  const issued = new Date().toISOString();
  const told = services.map(({ id, enabled }) => ({
    service_id: String(id),
    status: enabled === true ? 'active' : 'pending',
    certificate_issued_at: issued,
  }));
  await edge.send('service-status', { services: told });
  const records = services.flatMap(({ id, domain }) =>
    Array.from({ length: requests }, (_, at) => ({
      ...{ timestamp: issued, id: `${String(id)}-${issued}-${at}`, service_id: String(id), host: String(domain) },
      ...{ method: 'GET', path: `/simulated/${at}`, status_code: 200, duration_ms: 1 + (at % 50), protocol: 'http' },
    })),
  );
  for (let at = 0; at < records.length; at += 1000)
    await edge.send('access-logs', { batch: `${issued}/${at}`, records: records.slice(at, at + 1000) });
}
