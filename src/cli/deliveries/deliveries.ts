import { printable } from '../../lib/text/printable.ts';
import { type EventFeed, eventFeeds } from '../../model/declare/list-words.ts';
import { NotFound } from '../../model/errors.ts';
import { type Delivery, deliveries as operations } from '../../operations/config/deliveries.ts';
import { guessHint } from '../arguments.ts';
import { type Client, call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderDelivery, renderDeliveryTable } from '../render/deliveries.ts';

const argument = {
  placeholder: 'CHANNEL',
  doc: 'the key or id of a channel, as `heddle deliveries` lists them',
  most: 1,
};

const eventFlag = {
  event: {
    placeholder: 'NUMBER',
    doc: 'Only this event, by its number in the audit log, or as `traffic-12` (default: all of them).',
  },
};

export const deliveries = defineCommand({
  name: 'deliveries',
  summary: 'Show the state of all deliveries to channels, or all details of one delivery.',
  argument: {
    ...argument,
    placeholder: '[CHANNEL]',
    doc: 'a channel, to show its last error and what was set aside',
    least: 0,
  },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [
    ['heddle deliveries', 'One line per channel, with its problems'],
    ['heddle deliveries network-chat', 'Everything about one channel'],
  ],
  async run({ flags, positionals: [name], config, terminal }) {
    const client = await connect(config);
    const found = await call(client, operations.list);
    const json = flags['json'] === true;
    if (name === undefined) {
      if (json) writeJson(terminal, { formatVersion: '1.0', deliveries: found });
      else terminal.out(`${renderDeliveryTable(found, terminal.paint).join('\n')}\n`);
      return exit.ok;
    }
    const delivery = choose(found, name);
    if (json) writeJson(terminal, { formatVersion: '1.0', delivery });
    else terminal.out(`${renderDelivery(delivery, terminal.paint).join('\n')}\n`);
    return exit.ok;
  },
});

export const deliveriesResume = defineCommand({
  name: 'deliveries resume',
  summary: 'Retry a delivery at once, even if it is paused; or send the events since a given time.',
  argument,
  flags: {
    since: {
      placeholder: 'TIME',
      doc: 'Send the events since this time, such as 2026-01-31T08:00:00Z; earlier events that still wait are not sent.',
    },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [['heddle deliveries resume network-chat', 'The receiver works again']],
  run: (invocation) =>
    runOnDelivery(invocation, 'Deliveries resumed', (client, id) => {
      const { since } = invocation.flags;
      return call(client, operations.resume, {
        params: { id },
        ...(typeof since === 'string' ? { query: { since } } : {}),
      });
    }),
});

/** Declares a command that acts on events that were set aside: on all of them, or on one. */
function setAsideCommand(verb: 'retry' | 'discard', words: Readonly<Record<'summary' | 'done' | 'when', string>>) {
  const name = `deliveries ${verb}`;
  return defineCommand({
    ...{ name, summary: words.summary, argument },
    flags: { ...eventFlag, ...jsonFlag },
    settings: clientSettings,
    examples: [[`heddle ${name} network-chat --event 4102`, words.when]],
    run: (invocation) =>
      runOnDelivery(invocation, words.done, (client, id) =>
        call(client, operations[verb], { params: { id }, query: eventOf(invocation) }),
      ),
  });
}

export const deliveriesRetry = setAsideCommand('retry', {
  summary: 'Resend events that were set aside because the receiver refused them.',
  done: 'Resending what was set aside',
  when: 'Send one event again',
});

export const deliveriesDiscard = setAsideCommand('discard', {
  summary: 'Discard events that were set aside; the audit log keeps them.',
  done: 'What was set aside was discarded',
  when: 'Discard an event that is no longer needed',
});

export const deliveriesTest = defineCommand({
  name: 'deliveries test',
  summary: 'Send a sample to a channel, and show the answer of its receiver.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle deliveries test network-chat', 'See whether the address and the credentials are right']],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const client = await connect(config);
    const { id } = choose(await call(client, operations.list), positionals[0] ?? '');
    const { delivered, message } = await call(client, operations.test, { params: { id } });
    if (!delivered) return printFailure(invocation, exit.error, message);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', delivered, message });
    else terminal.out(`${printable(message)}\n`);
    return exit.ok;
  },
});

type Call = Invocation<(typeof clientSettings)[number]>;

/** Runs `work` on the channel's delivery, and prints `done`. */
async function runOnDelivery(
  { flags, positionals, config, terminal }: Call,
  done: string,
  work: (client: Client, id: string) => Promise<unknown>,
): Promise<number> {
  const client = await connect(config);
  const delivery = choose(await call(client, operations.list), positionals[0] ?? '');
  await work(client, delivery.id);
  if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', channel: delivery.id });
  else terminal.out(`${done}: \`heddle deliveries ${nameOf(delivery)}\` shows the result.\n`);
  return exit.ok;
}

/**
 * Returns the query for one event: by its number in the audit log, or by feed and number (`traffic-12`), as receivers
 * see it. Empty without the flag.
 */
function eventOf({ flags: { event } }: Pick<Call, 'flags'>): { readonly event?: string; readonly feed?: EventFeed } {
  if (typeof event !== 'string') return {};
  const feed = eventFeeds.find((name) => event.startsWith(`${name}-`));
  return feed === undefined ? { event } : { event: event.slice(feed.length + 1), feed };
}

function nameOf({ key, id }: Delivery): string {
  return key ?? id;
}

/** Returns the delivery of the channel with this id or key. Throws `NotFound`, with the most similar name. */
function choose(found: readonly Delivery[], word: string): Delivery {
  const one = found.find(({ id }) => id === word) ?? found.find(({ key }) => key === word);
  if (one !== undefined) return one;
  const names = found.map(nameOf);
  const hint = guessHint(word, names);
  const known = names.length === 0 ? '; there are no channels.' : `; there are ${names.join(', ')}.`;
  throw new NotFound(`channel ${printable(word)} not found${hint === '' ? known : hint}`);
}
