import { isObject } from '../../lib/json.ts';
import { accept, clientSettings, connect, unreadable } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { printable } from '../terminal/paint.ts';

/** A value that the server made up and shows once. */
export interface Output {
  readonly kind: string;
  readonly key: string;
  readonly field: string;
  readonly value: string;
}

export const outputs = defineCommand({
  name: 'outputs',
  summary: 'Read the values that the server made up for a plan that it applied, such as setup keys; once.',
  details: 'The log line of a source that made some names the plan. After they were read nobody can read them again.',
  argument: { placeholder: 'PLAN_ID', doc: 'the id of the applied plan', most: 1 },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle outputs d1ns4cafcndc00000000 --json', 'Hand new setup keys to a program']],
  async run({ flags, positionals: [id = ''], config, terminal }) {
    const client = await connect(config);
    const { body } = accept(await client.get(`/api/config/plans/${encodeURIComponent(id)}/outputs`));
    const found = outputsIn(body);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', outputs: found });
    else terminal.out(found.length === 0 ? 'There is nothing to read.\n' : renderOutputs(found));
    return exit.ok;
  },
});

/** The values in an answer. */
export function outputsIn(body: unknown): readonly Output[] {
  const items: readonly unknown[] = Array.isArray(body) ? body : [];
  return items.map((item) => {
    if (isObject(item) && ['kind', 'key', 'field', 'value'].every((name) => typeof item[name] === 'string'))
      return item as unknown as Output;
    throw unreadable('The server', 'the outputs of a plan', 'something else');
  });
}

/** One line a value. */
export function renderOutputs(found: readonly Output[]): string {
  return found.map(({ kind, key, field, value }) => `${printable(`${kind} ${key}  ${field}: ${value}`)}\n`).join('');
}
