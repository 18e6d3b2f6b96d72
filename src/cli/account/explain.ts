import * as kinds from '../../kinds/index.ts';
import { createRegistry } from '../../model/declare/registry.ts';
import { InvalidInput } from '../../model/errors.ts';
import { type Explanation, explain } from '../../model/lower/explain.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderColumns, wrap } from '../terminal/layout.ts';

export const explainField = defineCommand({
  name: 'explain',
  summary: 'Print the documentation of a kind or of one of its fields.',
  details: 'Works offline. Fields are named as in documents, with a dot between them.',
  argument: { placeholder: 'KIND[.FIELD]', doc: 'a kind, or a field of it such as Policy.rules.ports', most: 1 },
  flags: jsonFlag,
  settings: [],
  examples: [
    ['heddle explain Policy', 'Show the fields of a policy'],
    ['heddle explain Policy.rules.ports', 'Show the possible values of a port'],
  ],
  async run({ flags, positionals: [name = ''], terminal }) {
    const found = explain(createRegistry(Object.values(kinds)), name);
    if (typeof found === 'string') throw new InvalidInput(`${found}.`.replace('?.', '?'));
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...found });
    else terminal.out(render(found));
    return exit.ok;
  },
});

function render({ kind, path, type, doc, facts, members, example }: Explanation): string {
  const title = path === '' ? kind : `${kind}.${path}`;
  const rows = members.map(
    (member) => [member.name, `${member.type}${member.required ? ', required' : ''}. ${member.doc}`] as const,
  );
  return [
    type === undefined ? title : `${title}  (${type})`,
    '',
    ...wrap(doc),
    ...(facts.length === 0 ? [] : ['', ...facts]),
    ...(example === undefined ? [] : ['', ...wrap(`Example: ${path.split('.').at(-1)}: ${JSON.stringify(example)}`)]),
    ...(rows.length === 0 ? [] : ['', 'Fields:', ...renderColumns(rows)]),
    '',
  ].join('\n');
}
