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
    'A reconcile that is running completes. The source keeps everything that its documents state; `heddle detach` releases it.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle suspend office', 'Stop applying what is in Git for now']],
  run: (invocation) => setSuspended(invocation, 'suspend'),
});

export const resume = defineCommand({
  name: 'resume',
  summary: 'Resume a suspended source, so that it is applied again.',
  argument,
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle resume office', 'Resume the source']],
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
    return was ? `The source ${name} is resumed.` : `The source ${name} was not suspended; nothing changed.`;
  if (was) return `The source ${name} is already suspended; nothing changed.`;
  return `The source ${name} is suspended; its objects are not changed. Resume it with \`heddle resume ${name}\`.`;
}

export const detach = defineCommand({
  name: 'detach',
  summary: 'Release everything that a source states and owns; its objects are not changed.',
  details:
    'Asks for confirmation first. Afterwards, objects that no other source states have no owner, and any user or source may change them; sources that this source blocked are reconciled immediately. The source is suspended: when it is resumed or pushed again, it takes the same objects back.',
  argument,
  flags: { ...autoApproveFlag, ...jsonFlag },
  settings: clientSettings,
  examples: [['heddle detach office', 'Manage by hand what came from Git']],
  async run(invocation) {
    const { flags, positionals, config, terminal } = invocation;
    const [name = ''] = positionals;
    requireConfirmable(invocation, 'detach', 'the source');
    const client = await connect(config);
    const source = await requireSource(client, name);
    if (!(await confirmDetach(invocation, name, source)))
      return printFailure(invocation, exit.error, 'Nothing was detached.');
    const { deleted: _, ...end } = await call(client, operations.detach, { params: { name } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', source: name, ...end });
    else terminal.out(`${detachedText(name, end)}\n`);
    return exit.ok;
  },
});

async function confirmDetach(
  call: Pick<Invocation, 'flags' | 'terminal'>,
  name: string,
  source: Source,
): Promise<boolean> {
  const held = count(source.objects, 'object');
  if (call.flags['auto-approve'] !== true)
    call.terminal.note(`The source ${name} states values of ${held} and would release them.\n`);
  return isConfirmed(call, `Detach the source ${name}?`);
}

/** Detaching a source deletes nothing, so `deleted` is left out. */
type DetachResult = Omit<AnswerOf<typeof operations.detach>, 'deleted'>;

function detachedText(name: string, { revision, released, shared, reconciled }: DetachResult): string {
  const next = reconciled.length === 0 ? '' : ` Sources that it blocked are reconciled now: ${reconciled.join(', ')}.`;
  const after = `The source ${name} is suspended.${next}`;
  if (revision === null) return `There was nothing to release. ${after}`;
  const free = released - shared;
  const belong = free === 1 ? 'belongs' : 'belong';
  const rest = shared === 0 ? '' : `, and other sources still state ${count(shared, 'object')}`;
  return `${count(free, 'object')} ${belong} to no source now${rest}, as of revision ${revision}. ${after}`;
}
