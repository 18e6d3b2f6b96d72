import { readSettingsFile } from '../../documents/settings-file.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { InvalidInput } from '../../model/errors.ts';
import { overrides } from '../../operations/config/overrides.ts';
import { kindNamed } from '../account/kind-name.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { printOverridden } from './answer.ts';

export const override = defineCommand({
  name: 'override',
  summary: 'Override what documents state about an object, for a limited time and with a reason.',
  details:
    'For emergencies: the sources do not change these values until the time is over, and restore their own afterwards. A value is YAML, empty for the default; objects that it refers to are named by key, as in documents. FIELD may be a path into a field: settings.ttl, rules[web].enabled, peers[ana-laptop]=true. Requires the right to change the configuration (config.override).',
  argument: {
    placeholder: 'KIND NAME FIELD=VALUE...',
    doc: 'a kind, the key, name or id of one of its objects, and the values to set',
    least: 3,
  },
  flags: {
    reason: {
      placeholder: 'TEXT',
      doc: 'The reason; it is shown in the audit log, and with the value while the override runs.',
    },
    ttl: { placeholder: 'DURATION', doc: 'How long, such as 30m (default 4h, at most 24h).' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    [`heddle override Route office metric=5 --reason 'incident 4711' --ttl 30m`, 'Prefer a route for half an hour'],
    [
      `heddle override Policy web 'rules[web].sources=[operators]' --reason 'line down'`,
      'Give another group access for the time being',
    ],
  ],
  async run(invocation) {
    const { flags, positionals, config } = invocation;
    const [kind = '', name = '', ...fields] = positionals;
    const { reason, ttl } = textsOf(flags, ['reason', 'ttl']);
    if (reason === undefined) throw new InvalidInput('an override needs a reason; give --reason TEXT');
    const values = valuesOf(fields);
    const client = await connect(config);
    const body = { kind: kindNamed(kind), name, values, reason, ...(ttl === undefined ? {} : { ttl }) };
    return printOverridden(invocation, await call(client, overrides.start, { body }));
  },
});

function valuesOf(words: readonly string[]): JsonObject {
  const values: Record<string, Json> = {};
  for (const word of words) {
    const [, field, text] = /^((?:\[[^\]]*\]|[^=[])+)=(.*)$/s.exec(word) ?? [];
    if (field === undefined || text === undefined)
      throw new InvalidInput(`\`${word}\` contains no value; write FIELD=VALUE, such as metric=5`);
    if (Object.hasOwn(values, field)) throw new InvalidInput(`${field} is given twice; keep one`);
    values[field] = readValue(field, text);
  }
  return values;
}

/** Parses a value as YAML, as in documents. Throws `InvalidInput`. */
function readValue(field: string, text: string): Json {
  const read = readSettingsFile({ path: field, text: `value: ${text}\n` });
  if (!('problems' in read) && Object.keys(read.value).length === 1) return read.value['value'] ?? null;
  const why = 'problems' in read ? `: ${read.problems.map(({ message }) => message).join('; ')}` : '';
  throw new InvalidInput(
    `the value of ${field} is not valid YAML${why} (a text in quotes always is: '${field}="..."')`,
  );
}
