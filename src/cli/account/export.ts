import { InvalidInput } from '../../model/errors.ts';
import { archive } from '../../operations/config/archive.ts';
import { clientSettings, connect, readAnswer, requireSuccess, send } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { requireSource } from '../sources/source-names.ts';
import { withProgress } from '../terminal/progress.ts';

export const exportDocuments = defineCommand({
  name: 'export',
  summary: 'Write the account as documents to standard output.',
  details: 'A plan of the exported documents contains no changes.',
  flags: {
    kind: { placeholder: 'KIND', doc: 'Only documents of this kind.' },
    source: { placeholder: 'NAME', doc: 'Only what this source states.' },
    revision: { placeholder: 'N', doc: 'The account as it was after this revision; `heddle history` lists them.' },
    'mark-adopt': { doc: 'Name the object of every document by id, so that any source can adopt the objects.' },
    format: {
      placeholder: 'FORM',
      doc: 'yaml (the default), or kubernetes for custom resources, which `kubectl apply --server-side` accepts.',
    },
    namespace: { placeholder: 'NAME', doc: 'The namespace of the Kubernetes resources.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle export > account.yaml', 'Write everything to a file'],
    ['heddle export --kind Policy', 'Show the policies'],
    [
      'heddle export --source office --format kubernetes --namespace mesh',
      'Show what a source states as custom resources',
    ],
    ['heddle export --mark-adopt > config/all.yaml', 'Bring an account that was made by hand into Git'],
  ],
  async run({ flags, config, terminal }) {
    const format = formatOf(flags);
    const json = format === 'json';
    const client = await connect(config);
    const query = {
      ...textsOf(flags, ['kind', 'source', 'revision', 'namespace']),
      format,
      ...(flags['mark-adopt'] === true ? { markAdopt: true } : {}),
    };
    const answer = await withProgress(terminal, 'exporting', () => send(client, archive.export, { query }));
    const documents = json ? readAnswer(archive.export, answer) : [];
    const { text } = requireSuccess(answer);
    const isEmpty = json ? documents.length === 0 : text === '';
    if (isEmpty && query.source !== undefined) await requireSource(client, query.source);
    if (json) writeJson(terminal, { formatVersion: '1.0', documents });
    else terminal.out(text);
    return exit.ok;
  },
});

function formatOf({ format, json, namespace }: Invocation['flags']): 'yaml' | 'json' | 'kubernetes' {
  if (format !== undefined && format !== 'yaml' && format !== 'kubernetes')
    throw new InvalidInput(`--format cannot be ${String(format)}; write yaml or kubernetes.`);
  if (json === true && format !== undefined)
    throw new InvalidInput('--json and --format exclude each other; keep one.');
  if (namespace !== undefined && format !== 'kubernetes')
    throw new InvalidInput('--namespace is only for custom resources; add --format kubernetes.');
  return json === true ? 'json' : (format ?? 'yaml');
}
