import { setTimeout as wait } from 'node:timers/promises';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { followForwards } from './forwards.ts';
import { keepExposed, type LocalService, readLocalService } from './local-service.ts';
import { createMachine, type Machine } from './machine.ts';

export const agentSimulate = defineCommand({
  name: 'agent simulate',
  summary: 'Simulate machines that enrol and stay connected, for tests and demonstrations.',
  details:
    'Each machine creates its own keys, enrols with the setup key, reports its system information, and follows its network map until it is stopped. Each event is printed, and the ingress ports that the machine forwards or through which it is reachable. Its peer is not deleted at the end: use an ephemeral key for peers that are deleted automatically. Services that it exposes are withdrawn when it is stopped; nothing has to listen on the port.',
  flags: {
    'setup-key': { placeholder: 'KEY', doc: 'The setup key with which the machines enrol.' },
    peers: { placeholder: 'N', doc: 'How many machines (default 1).' },
    name: {
      placeholder: 'NAME',
      multiple: true,
      doc: 'The host name of one machine, or of several, separated by commas; may be repeated (default simulated-1 and so on).',
    },
    expose: {
      placeholder: 'PORT[/PROTOCOL]',
      multiple: true,
      doc: 'A local service that each machine exposes through the reverse proxy and keeps renewing: http (the default), tcp, udp or tls; may be repeated.',
    },
  },
  settings: ['server'],
  examples: [
    ['heddle agent simulate --setup-key KEY --name laptop --name server', 'Simulate two machines'],
    [
      'heddle agent simulate --setup-key KEY --expose 8080 --expose 5432/tcp',
      'Simulate a machine that offers two services',
    ],
  ],
  async run({ flags, config, terminal }) {
    const { 'setup-key': key } = flags;
    if (typeof key !== 'string') throw new InvalidInput('No setup key: give --setup-key.');
    const services = listOf(flags['expose']).map(readLocalService);
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    terminal.onInterrupt(stop);
    process.once('SIGTERM', stop);
    const machines = namesIn(flags).map((name) => createMachine(config.server, name));
    const played = machines.map((machine) =>
      simulateMachine(machine, key, services, terminal, stopping.signal).catch((error: unknown) => {
        // When one machine is refused, all machines stop.
        stop();
        throw error;
      }),
    );
    const [failed] = (await Promise.allSettled(played)).filter(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return exit.ok;
  },
});

function listOf(flag: Invocation['flags'][string]): readonly string[] {
  return Array.isArray(flag) ? flag.map(String) : [];
}

function namesIn({ name, peers }: Invocation['flags']): readonly string[] {
  const names = listOf(name).flatMap((text) => text.split(',').filter((one) => one !== ''));
  if (names.length > 0 && peers === undefined) return names;
  const count = Number(peers ?? 1);
  if (!Number.isInteger(count) || count < 1) throw new InvalidInput('--peers needs a whole number, 1 or more.');
  if (names.length > count)
    throw new InvalidInput(`--peers ${count} is less than the ${names.length} given names; leave --peers out.`);
  return [...names, ...Array.from({ length: count - names.length }, (_, at) => `simulated-${at + 1}`)];
}

/** Enrols a machine, then keeps it connected and its services exposed until the signal aborts. */
async function simulateMachine(
  machine: Machine,
  key: string,
  services: readonly LocalService[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { name } = machine;
  const { address, label } = await machine.enrol(key);
  terminal.out(`${name} is ${label} at ${address}\n`);
  const leaving = new AbortController();
  const left = AbortSignal.any([signal, leaving.signal]);
  const ended = stayConnected(machine, terminal, left).finally(() => leaving.abort());
  await Promise.all([ended, ...services.map((service) => keepExposed(machine, service, terminal, left))]).finally(() =>
    leaving.abort(),
  );
  terminal.out(`${name} is gone\n`);
}

/**
 * Follows the network map until the signal aborts or the server ends the connection for good. A stream that breaks off
 * is resumed after its last event.
 */
async function stayConnected(machine: Machine, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const forwardsIn = followForwards();
  const print = (text: string): void => terminal.out(`${machine.name}: ${text}\n`);
  while (!signal.aborted) {
    try {
      for await (const message of machine.follow(signal)) {
        const { type, data } = message;
        print(`${type}${data['reason'] === undefined ? '' : ` (${String(data['reason'])})`}`);
        for (const line of forwardsIn(message)) print(line);
        if (type === 'end' && data['reconnect'] === false) return;
      }
    } catch (error) {
      if (!(error instanceof Unavailable) && !signal.aborted) throw error;
    }
    // An abort ends the wait.
    await wait(1000, undefined, { signal }).catch(() => undefined);
  }
}
