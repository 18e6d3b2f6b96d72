import { setTimeout as wait } from 'node:timers/promises';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { createMachine, type Machine } from './machine.ts';

export const agentSimulate = defineCommand({
  name: 'agent simulate',
  summary: 'Play machines that enrol and stay connected, for tests and demonstrations.',
  details:
    'Each machine makes keys of its own, enrols with the setup key, reports what it is like, and follows its network map until it is stopped. Its peer stays: use an ephemeral key for peers that go by themselves.',
  flags: {
    'setup-key': { placeholder: 'KEY', doc: 'The setup key that lets the machines in.' },
    peers: { placeholder: 'N', doc: 'How many machines (default 1).' },
    name: { placeholder: 'NAME[,NAME…]', doc: 'Their host names (default simulated-1 and so on).' },
  },
  settings: ['server'],
  examples: [['heddle agent simulate --setup-key KEY --name laptop,server', 'Play two machines']],
  async run({ flags, config, terminal }) {
    const { 'setup-key': key, name: names, peers } = flags;
    if (typeof key !== 'string') throw new InvalidInput('No setup key: give --setup-key.');
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    terminal.onInterrupt(stop);
    process.once('SIGTERM', stop);
    const machines = namesIn(names, peers).map((name) => createMachine(config.server, name));
    await Promise.all(machines.map((machine) => play(machine, key, terminal, stopping.signal)));
    return exit.ok;
  },
});

function namesIn(name: unknown, peers: unknown): readonly string[] {
  if (typeof name === 'string') return name.split(',').filter((one) => one !== '');
  const count = Number(peers ?? 1);
  if (!Number.isInteger(count) || count < 1) throw new InvalidInput('--peers wants a whole number, 1 or more.');
  return Array.from({ length: count }, (_, at) => `simulated-${at + 1}`);
}

/** Enrols, and stays connected until it is stopped; a stream that breaks off is taken up again where it was left. */
async function play(machine: Machine, key: string, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { name } = machine;
  const { address, label } = await machine.enrol(key);
  terminal.out(`${name} is ${label} at ${address}\n`);
  while (!signal.aborted) {
    try {
      for await (const { type, data } of machine.follow(signal)) {
        terminal.out(`${name}: ${type}${data['reason'] === undefined ? '' : ` (${String(data['reason'])})`}\n`);
        if (type === 'end' && data['reconnect'] === false) return;
      }
    } catch (error) {
      if (!(error instanceof Unavailable) && !signal.aborted) throw error;
    }
    // Being stopped ends the wait.
    await wait(1000, undefined, { signal }).catch(() => undefined);
  }
  terminal.out(`${name} is gone\n`);
}
