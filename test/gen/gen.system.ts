import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readFile } from '../../src/documents/read.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { documentKinds, registry } from '../model/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const generated = ['crds', 'examples/kinds', 'charts', 'docs/reference', 'docs/operations.md'];
const copy = mkdtempSync(join(tmpdir(), 'heddle-gen-'));
for (const path of ['src', 'package.json', ...generated])
  cpSync(join(root, path), join(copy, path), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

afterAll(() => rmSync(copy, { recursive: true, force: true }));

function gen(folder: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/gen/main.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the generated files', () => {
  test('match the declarations', () => {
    expect(gen(root, '--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('are one CRD and one example for every kind that has documents, and CRDs of plans and sources', () => {
    const namesIn = (folder: string) => readdirSync(join(root, folder)).sort();
    expect(namesIn('examples/kinds').length).toBe(documentKinds.length);
    expect(namesIn('crds').length).toBe(documentKinds.length + 2);
    expect(namesIn('crds')).toEqual(expect.arrayContaining(['plans.yaml', 'sources.yaml']));
    expect(namesIn('charts/heddle-crds/files')).toEqual(namesIn('crds'));
  });

  test.each(readdirSync(join(root, 'examples/kinds')))(
    '%s is read back as the example of its kind, without problems',
    (file) => {
      const text = readFileSync(join(root, 'examples/kinds', file), 'utf8');
      const { documents, problems } = readFile({ path: file, text });
      expect(problems).toEqual([]);
      const [document] = documents;
      const kind = registry.get(document?.kind ?? '');
      expect(document?.spec).toEqual(kind.example);
      expect(createValidator(registry).check(kind.name, 'document', kind.example)).toEqual([]);
    },
  );

  test('explain a field once in the examples', () => {
    const text = readFileSync(join(root, 'examples/kinds/policy.yaml'), 'utf8');
    expect(text.match(/# Whether destinations may open connections/g)).toHaveLength(1);
    expect(text).toContain('    # Name of the rule within the policy.\n    - name: postgres\n');
  });
});

describe('npm run gen', () => {
  beforeEach(() => {
    for (const path of generated) {
      rmSync(join(copy, path), { recursive: true, force: true });
      cpSync(join(root, path), join(copy, path), { recursive: true });
    }
  });

  const row = '| [`Group`](#group) |';
  const edits: readonly (readonly [string, string, () => void])[] = [
    ['an edited CRD', 'crds/groups.yaml', () => appendFileSync(join(copy, 'crds/groups.yaml'), '\n')],
    ['a missing example', 'examples/kinds/policy.yaml', () => rmSync(join(copy, 'examples/kinds/policy.yaml'))],
    ['a left-over CRD', 'crds/gone.yaml', () => writeFileSync(join(copy, 'crds/gone.yaml'), '')],
    [
      'a chart of another version',
      'charts/heddle/Chart.yaml',
      () => rewrite('charts/heddle/Chart.yaml', (text) => text.replace(/^appVersion: .*$/m, 'appVersion: "9.9.9"')),
    ],
    [
      'a value of the chart with another default',
      'charts/heddle/README.md',
      () => rewrite('charts/heddle/values.yaml', (text) => text.replace(/^replicas: 1$/m, 'replicas: 2')),
    ],
    [
      'a CRD of the chart that may be deleted',
      'charts/heddle-crds/files/groups.yaml',
      () => rewrite('charts/heddle-crds/files/groups.yaml', (text) => text.replace('keep', 'delete')),
    ],
    [
      'an edited kind table',
      'docs/reference/kinds.md',
      () => rewrite('docs/reference/kinds.md', (text) => text.replace(row, `${row} edited |`)),
    ],
    [
      'an edited alert',
      'docs/operations.md',
      () =>
        rewrite('charts/heddle/alerts/heddle.yaml', (text) =>
          text.replace('Prometheus reads no metrics', 'Nobody reads metrics'),
        ),
    ],
    ['a left-over page', 'docs/reference/gone.md', () => writeFileSync(join(copy, 'docs/reference/gone.md'), '')],
  ];
  const linesOf = (text: string) => text.trimEnd().split('\n').sort();

  test(`with --check reports ${edits.map(([what]) => what).join(', ')}, and without it corrects them all`, () => {
    for (const [, , edit] of edits) edit();
    const paths = edits.map(([, path]) => path);
    const checked = gen(copy, '--check');
    expect(checked.status).toBe(1);
    expect(linesOf(checked.stderr)).toEqual(
      [
        ...paths.map((path) => `${path} does not match the declarations`),
        'Run `npm run gen` and commit what it writes.',
      ].sort(),
    );
    const mended = gen(copy);
    expect([mended.status, linesOf(mended.stdout)]).toEqual([0, paths.map((path) => `wrote ${path}`).sort()]);
    expect(gen(copy, '--check')).toMatchObject({ status: 0 });
  });

  test.each([
    ['without a comment', '\nshy: 1\n', 'values.yaml does not explain shy; write a comment in front of it'],
    ['that the schema lacks', '\n# Shown.\nnew: 1\n', 'values.schema.json does not know new; add it'],
  ])('refuses a value of a chart %s', (_, line, sentence) => {
    appendFileSync(join(copy, 'charts/heddle/values.yaml'), line);
    const refused = gen(copy);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain(sentence);
  });
});

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(join(copy, path), change(readFileSync(join(copy, path), 'utf8')));
}
