import { type DriftReport, drift as operations } from '../../operations/config/drift.ts';
import { type Client, call, clientSettings, connect } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { formatFlag, formatOf } from '../formats.ts';
import { driftProblems, driftSummary, renderDrift } from '../render/drift.ts';
import { formatValid } from '../render/formats.ts';
import { requireSource } from '../sources/source-names.ts';

export const drift = defineCommand({
  name: 'drift',
  summary: 'Show how the account differs from its documents, and why; exits with 2 when there are differences.',
  details:
    'Compares the account with the documents that were applied last. `heddle plan` shows the changes of documents that are not applied yet.',
  flags: {
    source: { placeholder: 'NAME', doc: 'Only what this source states.' },
    ...formatFlag,
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle drift', 'Exit with 2 when a stated value was changed'],
    ['heddle drift --format github', 'Show in a nightly pipeline where documents and account differ'],
    ['heddle drift --source office --json', 'Read the differences from one source in a program'],
  ],
  async run({ flags, config, terminal }) {
    const format = formatOf(flags);
    const report = await readDrift(await connect(config), flags);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', ...report });
    else if (format !== undefined) terminal.out(formatValid(format, driftSummary(report), driftProblems(report)));
    else terminal.out(renderDrift(report, terminal.paint));
    return report.units.length + report.byHand.length === 0 ? exit.ok : exit.changes;
  },
});

async function readDrift(client: Client, flags: Invocation['flags']): Promise<DriftReport> {
  const report = await call(client, operations.read, { query: textsOf(flags, ['source']) });
  const { source } = flags;
  // Throws for an unknown name, which would otherwise report no drift forever.
  if (report.units.length === 0 && typeof source === 'string') await requireSource(client, source);
  return report;
}
