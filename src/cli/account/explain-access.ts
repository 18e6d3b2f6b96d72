import { access as operations } from '../../operations/config/access.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { renderAccess } from '../render/access.ts';

export const explainAccess = defineCommand({
  name: 'explain-access',
  summary: 'Show whether one end may open a connection to another, and why.',
  details:
    'An end is a peer, a group, a network resource or a route: its key, name or id, with the kind in front when several objects have that name (Peer/db), or an address or host name that belongs to it; the name or e-mail address of a person refers to their only peer. For a group, the answer is about a peer that is in this group only; the results for its members are counted next to it.',
  argument: {
    placeholder: 'FROM TO',
    doc: 'the end that opens the connection, and the end that it connects to',
    least: 2,
    most: 2,
  },
  flags: {
    port: { placeholder: 'PORT', doc: 'The traffic: tcp/443, udp/8000-8010, icmp, ssh, or 443 (default: all).' },
    all: { doc: 'Also show the rules that concern neither end.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle explain-access developers db --port tcp/5432', 'Ask whether developers reach the database'],
    ['heddle explain-access laptop 10.20.0.7 --port 443', 'Ask about the object to which an address belongs'],
    ['heddle explain-access laptop Group/web', 'Ask about all traffic, with the kind of one end'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const client = await connect(config);
    const [from = '', to = ''] = positionals;
    const all = flags['all'] === true ? { all: true } : {};
    const answer = await call(client, operations.explain, { query: { from, to, ...textsOf(flags, ['port']), ...all } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...answer });
    else terminal.out(renderAccess(answer, terminal.paint));
    return exit.ok;
  },
});
