import type { AnswerOf } from '../../model/operation/operation.ts';
import { objects } from '../../operations/config/objects.ts';
import { status as operations } from '../../operations/config/status.ts';
import { type Client, call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { renderObjects } from '../render/objects.ts';
import { renderStatus } from '../render/status.ts';
import { requireSource } from '../sources/source-names.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'Show the account, its objects and its sources, and problems of integrations.',
  details:
    'With --objects, lists every object with its status: InSync, Drifted, Overridden, Conflicted, Blocked or Unmanaged. `heddle drift` shows what differs.',
  flags: {
    objects: { doc: 'List the objects instead, with owner, place and status.' },
    status: { placeholder: 'STATUS', doc: 'List only the objects with this status.' },
    kind: { placeholder: 'KIND', doc: 'List only the objects of this kind.' },
    source: { placeholder: 'NAME', doc: 'List only the objects that this source owns or states.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle status --json', 'Read the state of the sources in a program'],
    ['heddle status --objects --status Drifted', 'List the objects that differ from their documents'],
  ],
  async run({ flags, config, terminal }) {
    const client = await connect(config);
    const json = flags['json'] === true;
    if (filters.some((name) => flags[name] !== undefined)) {
      const list = await readObjects(client, flags);
      if (json) writeJson(terminal, { formatVersion: '1.0', ...list });
      else terminal.out(renderObjects(list.objects, terminal.paint));
      return exit.ok;
    }
    const standing = await call(client, operations.read);
    if (json) writeJson(terminal, { formatVersion: '1.0', ...standing });
    else terminal.out(renderStatus(standing, config.server, terminal.paint));
    return exit.ok;
  },
});

/** Flags that make the command list objects. */
const filters = ['objects', 'status', 'kind', 'source'];

async function readObjects(client: Client, flags: Invocation['flags']): Promise<AnswerOf<typeof objects.list>> {
  const { source } = flags;
  const answer = await call(client, objects.list, { query: textsOf(flags, ['status', 'kind', 'source']) });
  if (answer.objects.length === 0 && typeof source === 'string') await requireSource(client, source);
  return answer;
}
