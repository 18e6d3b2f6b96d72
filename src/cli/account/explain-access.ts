import { access as operations } from '../../operations/config/access.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { renderAccess } from '../render/access.ts';

export const explainAccess = defineCommand({
  name: 'explain-access',
  summary: 'Say whether one end may open a connection to another, and why.',
  details:
    'An end is a peer, a group, a network resource or a route: its key, its name or its id, with the kind in front where several things are called so (Peer/db), or an address or host name that leads there; the name or e-mail address of a person stands for their one peer. A group is answered for by a peer that is in it and in nothing else; how its members fare is counted beside it.',
  argument: {
    placeholder: 'FROM TO',
    doc: 'who would open the connection, and what would be reached',
    least: 2,
    most: 2,
  },
  flags: {
    port: { placeholder: 'PORT', doc: 'The traffic: tcp/443, udp/8000-8010, icmp, ssh, or 443. All when left out.' },
    all: { doc: 'Show the rules that concern neither end too.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle explain-access developers db --port tcp/5432', 'Ask whether developers reach the database'],
    ['heddle explain-access laptop 10.20.0.7 --port 443', 'Ask for whatever leads to an address'],
    ['heddle explain-access laptop Group/web', 'Ask for everything, with the kind of one end'],
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
