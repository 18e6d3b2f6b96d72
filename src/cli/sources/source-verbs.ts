import type { AnswerOf } from '../../model/operation/operation.ts';
import { sources as operations, type Source } from '../../operations/config/sources.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { printFailure, writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { autoApproveFlag, isConfirmed, requireConfirmable } from '../terminal/confirm.ts';
import { count } from '../terminal/problems.ts';
import { requireSource } from './source-names.ts';

const argument = { placeholder: 'NAME', doc: 'the name of a source, as `heddle sources` lists them', most: 1 };

export const suspend = defineCommand({
  name: 'suspend',
  summary: 'Stop a source from being applied, until it is resumed.',
  details:
    'A reconcile that is running completes. What the documents of the source state stays theirs meanwhile: `heddle detach` lets go of it.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle suspend office', 'Keep what is in Git from being applied for now']],
  run: (invocation) => setSuspended(invocation, 'suspend'),
});

export const resume = defineCommand({
  name: 'resume',
  summary: 'Let a source that was suspended be applied again.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle resume office', 'Let the source go on']],
  run: (invocation) => setSuspended(invocation, 'resume'),
});

type Call = Invocation<(typeof clientSettings)[number]>;

async function setSuspended({ flags, positionals: [name = ''], config, terminal }: Call, verb: 'suspend' | 'resume') {
  const client = await connect(config);
  const before = await requireSource(client, name);
  const source = await call(client, operations[verb], { params: { name } });
  if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', source });
  else terminal.out(`${suspensionText(name, verb, before)}\n`);
  return exit.ok;
}

function suspensionText(name: string, verb: 'suspend' | 'resume', before: Source): string {
  const was = before.suspended;
  if (verb === 'resume')
    return was ? `The source ${name} goes on.` : `The source ${name} was not suspended; it goes on as before.`;
  if (was) return `The source ${name} was suspended already.`;
  return `The source ${name} is suspended; what it states stays its own. \`heddle resume ${name}\` lets it go on.`;
}

export const detach = defineCommand({
  name: 'detach',
  summary: 'Let go of everything that a source states and owns; its objects stay as they are.',
  details:
    'Asks first. Afterwards the objects that no other source states belong to nobody, and anybody may change them; sources that this one was in the way of are reconciled at once. The source is suspended: resumed or pushed again, it takes the same objects back.',
  argument,
  flags: { ...autoApproveFlag, ...jsonFlag },
  settings: clientSettings,
  examples: [['heddle detach office', 'Go on by hand with what came from Git']],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [name = ''] = positionals;
    requireConfirmable(invocation, 'detach', 'the source');
    const client = await connect(config);
    const source = await requireSource(client, name);
    if (!(await mayDetach(invocation, name, source)))
      return printFailure(invocation, exit.error, 'Nothing was detached.');
    const { deleted: _, ...end } = await call(client, operations.detach, { params: { name } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', source: name, ...end });
    else terminal.out(`${detachedText(name, end)}\n`);
    return exit.ok;
  },
});

async function mayDetach(call: Pick<Invocation, 'flags' | 'terminal'>, name: string, source: Source): Promise<boolean> {
  const held = count(source.objects, 'object');
  if (call.flags['auto-approve'] !== true)
    call.terminal.note(`The source ${name} states something about ${held}, which it would let go of.\n`);
  return isConfirmed(call, `Detach the source ${name}?`);
}

/** Detaching a source deletes nothing, so `deleted` is left out. */
type End = Omit<AnswerOf<typeof operations.detach>, 'deleted'>;

function detachedText(name: string, { revision, released, shared, reconciled }: End): string {
  const next = reconciled.length === 0 ? '' : ` What it was in the way of is reconciled now: ${reconciled.join(', ')}.`;
  const after = `The source ${name} is suspended.${next}`;
  if (revision === null) return `There was nothing to let go of. ${after}`;
  const free = released - shared;
  const belong = free === 1 ? 'belongs' : 'belong';
  const rest = shared === 0 ? '' : `, and other sources go on with ${count(shared, 'object')}`;
  return `${count(free, 'object')} ${belong} to nobody now${rest}, as of revision ${revision}. ${after}`;
}
