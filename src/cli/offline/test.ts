import { summariseTests } from '../../features/config/access/test-results.ts';
import { printable } from '../../lib/text/printable.ts';
import type { SourceFile } from '../../model/document.ts';
import { InvalidInput } from '../../model/errors.ts';
import { access as operations, type TestResult, type TestResults } from '../../operations/config/access.ts';
import { documents } from '../../operations/config/documents.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { failureDocument, writeJson } from '../failure.ts';
import { jsonFlag, sourceFlag } from '../flags.ts';
import { collectFiles } from '../plan/files.ts';
import { pushBody } from '../plan/planning.ts';
import { sourceNameOf } from '../plan/source-name.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { count, positionText } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import { checkOffline } from './offline.ts';
import { collectValues, type ValueConfig, valueSettings } from './values.ts';

export const test = defineCommand({
  name: 'test',
  summary: 'Run the access tests of the account, or of documents.',
  details:
    'Without paths, runs the tests of the account on its state. With paths, runs the tests on the result of applying these documents, on the server; with --offline on the documents alone, which must then state everything that their tests refer to. Exits with 5 when a test fails. Results that depend on posture checks are reported and are not failures.',
  argument: {
    placeholder: '[PATH…]',
    doc: 'files or directories of YAML or JSON documents, or - for standard input',
    least: 0,
  },
  flags: {
    ...sourceFlag,
    offline: { doc: 'Use only the documents, and no server.' },
    ...jsonFlag,
  },
  settings: [...clientSettings, ...valueSettings],
  examples: [
    ['heddle test', 'Run the tests of the account'],
    ['heddle test config --source-name team', 'Run them on the result of applying the documents'],
    ['heddle test config --offline', 'Run them on the documents alone, in a pipeline without a server'],
  ],
  async run({ flags, positionals, config, terminal }) {
    const files = positionals.length === 0 ? undefined : (await collectFiles(positionals, terminal)).files;
    const run = async (): Promise<TestResults> => {
      if (files !== undefined && flags['offline'] === true) {
        // Imported on demand: the other modes leave the check to the server.
        const { testOffline } = await import('./test.ts');
        return testOffline(files, config);
      }
      const client = await connect(config);
      if (files === undefined) return call(client, operations.runTests);
      const source = await sourceNameOf(positionals, flags);
      const values = await collectValues(files, config);
      return call(client, documents.test, { body: pushBody({ source, files, rules: [], values }, {}) });
    };
    const results = await withProgress(terminal, 'testing', run);
    const isFine = results.failed === 0;
    const head = isFine
      ? { formatVersion: '1.0' }
      : failureDocument(`${count(results.failed, 'access test')} failed`, exit.invalid);
    if (flags['json'] === true) writeJson(terminal, { ...head, ...results });
    else terminal.out(renderTests(results, terminal.paint));
    return isFine ? exit.ok : exit.invalid;
  },
});

const words: Readonly<Record<TestResult['outcome'], readonly [word: string, style: Style]>> = {
  pass: ['pass', 'added'],
  fail: ['fail', 'error'],
  conditional: ['open', 'warning'],
};

function renderTests({ tests, passed, failed, conditional }: TestResults, paint: Paint): string {
  if (tests.length === 0) return 'No access tests.\n';
  const lines = tests.flatMap((one) => {
    const [word, style] = words[one.outcome];
    const position = positionText(one);
    const head = `${paint(style, word)}  ${printable(one.key ?? one.name)}${position === '' ? '' : `  ${paint('faint', `(${position})`)}`}`;
    return one.outcome === 'pass' ? [head] : [head, `      ${printable(one.message)}`];
  });
  const open = conditional === 0 ? '' : `, ${conditional} depending on posture checks`;
  const sum = `${count(tests.length, 'access test')}: ${passed} passed, ${failed} failed${open}.`;
  return `${[...lines, '', paint(failed > 0 ? 'error' : 'strong', sum)].join('\n')}\n`;
}

const incomplete =
  'the documents refer to objects that they do not state, so their result is only known on a server that has these objects; run the tests on a server, without --offline';

/**
 * Runs the access tests of documents without a server. Throws `InvalidInput` when the documents have faults or are
 * incomplete.
 */
export async function testOffline(files: readonly SourceFile[], config: ValueConfig): Promise<TestResults> {
  const { problems, warnings, tests } = await checkOffline(files, config);
  const faults = problems.filter(({ code }) => code !== 'access_test_failed');
  if (faults.length > 0) throw new InvalidInput('the documents are invalid', { problems: faults });
  if (tests === undefined)
    // Only the problems of an `InvalidInput` are printed, so its message is added as one.
    throw new InvalidInput(incomplete, {
      problems: [...warnings, { code: 'documents_incomplete', message: incomplete }],
    });
  return { revision: 0, ...summariseTests(tests) };
}
