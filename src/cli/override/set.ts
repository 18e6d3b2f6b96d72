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
  summary: 'Set aside what documents state about an object, for a while and with a reason.',
  details:
    'For emergencies: the sources leave these values alone until the time is over, and put their own back afterwards. A value is YAML, empty for the default; what it refers to is named by key, as in documents. FIELD may lead inside: settings.ttl, rules[web].enabled, peers[ana-laptop]=true. Takes the right to change the configuration (config.override).',
  argument: {
    placeholder: 'KIND NAME FIELD=VALUE...',
    doc: 'a kind, the key, name or id of one of its objects, and what is to hold meanwhile',
    least: 3,
  },
  flags: {
    reason: { placeholder: 'TEXT', doc: 'Why; it stands in the audit log and beside the value as long as it holds.' },
    ttl: { placeholder: 'DURATION', doc: 'How long, such as 30m (default 4h, at most 24h).' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    [`heddle override Route office metric=5 --reason 'incident 4711' --ttl 30m`, 'Prefer a route for half an hour'],
    [`heddle override Policy web 'rules[web].sources=[operators]' --reason 'line down'`, 'Let others in meanwhile'],
  ],
  async run(invocation) {
    const { flags, positionals, config } = invocation;
    const [kind = '', name = '', ...fields] = positionals;
    const { reason, ttl } = textsOf(flags, ['reason', 'ttl']);
    if (reason === undefined) throw new InvalidInput('an override says why: give --reason TEXT');
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
      throw new InvalidInput(`\`${word}\` says no value; write FIELD=VALUE, such as metric=5`);
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
  throw new InvalidInput(`the value of ${field} is no YAML${why} (a text in quotes always is: '${field}="..."')`);
}
