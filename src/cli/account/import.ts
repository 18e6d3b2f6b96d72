import { printable } from '../../lib/text/printable.ts';
import { archive } from '../../operations/config/archive.ts';
import { objects as operations } from '../../operations/config/objects.ts';
import { type Client, call, clientSettings, connect, requireSuccess, send } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { positionText } from '../terminal/problems.ts';
import { kindNamed } from './kind-name.ts';

export const importObject = defineCommand({
  name: 'import',
  summary: 'Print the document of one existing object, ready to be committed.',
  details:
    'The document names its object by id, so that applying it adopts the object instead of creating another one. Unless you edit it, applying it changes nothing.',
  argument: {
    placeholder: 'KIND NAME|ID',
    doc: 'a kind, and the name, key or id of one of its objects',
    least: 2,
    most: 2,
  },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [
    ['heddle import Group "Ops team" >> config/groups.yaml', 'Bring a group that was made by hand into Git'],
    ['heddle import SetupKey 12', 'Show the document of the setup key with the id 12'],
  ],
  async run({ flags, positionals: [kind = '', name = ''], config, terminal }) {
    const client = await connect(config);
    const object = `${kindNamed(kind)}/${name}`;
    const query = { kind: kindNamed(kind), object, markAdopt: true };
    if (flags['json'] === true) {
      const documents = await call(client, archive.export, { query: { ...query, format: 'json' } });
      writeJson(terminal, { formatVersion: '1.0', documents });
    } else {
      const answer = await send(client, archive.export, { query: { ...query, format: 'yaml' } });
      terminal.out(`---\n${requireSuccess(answer).text}`);
    }
    const owner = await declaredByText(client, object);
    if (owner !== undefined) terminal.note(`${owner}\n`);
    return exit.ok;
  },
});

/** Returns a sentence about the sources that already declare the object, or `undefined` when no source does. */
async function declaredByText(client: Client, object: string): Promise<string | undefined> {
  const { objects } = await call(client, operations.list, { query: { object } });
  const [{ declared } = { declared: [] }] = objects;
  if (declared.length === 0) return undefined;
  const positions = declared.map(({ source, ...position }) => `${source} (${positionText(position)})`);
  return `${printable(object)} is already stated by the source ${printable(positions.join(' and by '))}; move that document instead of stating the object twice.`;
}
