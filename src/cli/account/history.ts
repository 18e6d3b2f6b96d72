import { keysOf } from '../../lib/json.ts';
import { InvalidInput } from '../../model/errors.ts';
import { revisions as operations, type Revision, type RevisionWithChanges } from '../../operations/config/revisions.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { renderRevision, renderRevisions } from '../render/history.ts';

const filters = {
  source: { placeholder: 'NAME', doc: 'Only revisions that applied this source.' },
  object: { placeholder: 'KIND/KEY|ID', doc: 'Only revisions of this object, with the changes that each made to it.' },
  kind: { placeholder: 'KIND', doc: 'Only revisions that changed an object of this kind.' },
  actor: { placeholder: 'NAME', doc: 'Only revisions by the actor with this id, name or e-mail address.' },
  since: { placeholder: 'TIME', doc: 'Only revisions made at this time or later, such as 2026-03-01.' },
  until: { placeholder: 'TIME', doc: 'Only revisions made before this time.' },
  before: { placeholder: 'N', doc: 'Only revisions before this one: the next page.' },
  limit: { placeholder: 'N', doc: 'Maximum number of revisions (default 20).' },
} as const;

export const history = defineCommand({
  name: 'history',
  summary: 'Show the changes of the account: who changed what, when and from where.',
  argument: {
    placeholder: '[REVISION]',
    doc: 'a revision, to show every value before and after',
    least: 0,
    most: 1,
  },
  flags: { ...filters, ...jsonFlag },
  settings: clientSettings,
  examples: [
    ['heddle history', 'The latest revisions'],
    ['heddle history 42', 'Everything that revision 42 changed'],
    ['heddle history --object Group/developers', 'All changes of one object, and who made them'],
  ],
  async run(invocation) {
    const { flags, positionals, terminal } = invocation;
    const [number] = positionals;
    const json = flags['json'] === true;
    if (number !== undefined) {
      const revision = await readRevision(invocation, number);
      if (json) writeJson(terminal, { formatVersion: '1.0', revision });
      else terminal.out(renderRevision(revision, terminal.paint));
      return exit.ok;
    }
    const revisions = await listRevisions(invocation);
    if (json) writeJson(terminal, { formatVersion: '1.0', revisions });
    else terminal.out(renderRevisions(revisions, terminal.paint));
    return exit.ok;
  },
});

type Call = Invocation<(typeof clientSettings)[number]>;

async function readRevision({ flags, config }: Call, revision: string): Promise<RevisionWithChanges> {
  const given = Object.keys(filters).filter((name) => flags[name] !== undefined);
  if (given.length > 0)
    throw new InvalidInput(`--${given[0]} is only for the list of revisions; leave out the flag or the revision.`);
  return call(await connect(config), operations.read, { params: { revision } });
}

async function listRevisions({ flags, config }: Call): Promise<readonly Revision[]> {
  return call(await connect(config), operations.list, { query: textsOf({ limit: '20', ...flags }, keysOf(filters)) });
}
