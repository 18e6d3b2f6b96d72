import { printable } from '../../lib/text/printable.ts';
import type { AnswerOf } from '../../model/operation/operation.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';

/** Values that the server generated, and that can be read only once. */
export type Outputs = AnswerOf<typeof operations.readOutputs>;

export const outputs = defineCommand({
  name: 'outputs',
  summary: 'Read the values that applying a plan generated, such as setup keys; possible only once.',
  details: 'When a source generates values, its log line names the plan. Values that were read cannot be read again.',
  argument: { placeholder: 'PLAN_ID', doc: 'the id of the applied plan', most: 1 },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle outputs d1ns4cafcndc00000000 --json', 'Pass new setup keys to a program']],
  async run({ flags, positionals: [id = ''], config, terminal }) {
    const found = await call(await connect(config), operations.readOutputs, { params: { id } });
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', outputs: found });
    else terminal.out(found.length === 0 ? 'There is nothing to read.\n' : renderOutputs(found));
    return exit.ok;
  },
});

/** Returns one line for each value. */
export function renderOutputs(found: Outputs): string {
  return found.map(({ kind, key, field, value }) => `${printable(`${kind} ${key}  ${field}: ${value}`)}\n`).join('');
}
