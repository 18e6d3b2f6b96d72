import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { mentions, root, writtenPages } from './pages.ts';

/** Lines of the `sh` blocks of all pages, without trailing comments. */
const lines = writtenPages.flatMap(({ text }) =>
  [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, '')),
  ),
);

/** Beginnings of lines that are not run here, each with the reason. Every other line runs in the checkout. */
const notRun: Readonly<Record<string, string>> = {
  'npm ci': 'loads packages; .ci/run begins with it',
  'npm start': 'runs until it is stopped; the page is followed on such a server by commands.system.ts',
  'npm run check': 'runs these tests; .ci/run ends with it',
  'npm test': 'runs tests; .ci/run runs them after these',
  'npm run test:large': 'runs tests; .ci/run runs them after these',
  'npm run test:system': 'runs these tests',
  'npm run test:kubernetes': 'needs Go, and compiles an API server of Kubernetes',
  'npm run gen': 'writes files of the checkout; `npm run check` compares them',
  'npm run bench': 'takes minutes, and the whole machine',
  'npm run soak': 'takes longer than tests may',
  'npm run walk': 'starts a server and six machines one after the other',
  'npm run build:executable': 'writes dist-executable/; test/gen/executable.release.ts runs it',
  'npm run build': 'writes dist/; test/gen/package.release.ts has it done by `npm pack`',
  'npm run test:release': 'runs tests; .ci/run runs them before these',
  'npm install ./heddle': 'installs a package; test/gen/package.release.ts does so in an empty folder',
  'npm run image:layout': 'writes dist-layout/; test/gen/executable.release.ts runs it',
  'npm run image &&': 'needs docker; test/gen/image.system.ts makes what docker would',
  'npm run image': 'writes dist-image/; test/gen/image.system.ts runs it',
  '.ci/run': 'runs these tests',
  'helm install': 'needs a cluster; test/charts renders the chart with helm',
  'kubectl patch': 'needs a cluster; test/kubernetes/own-resources.kube.ts changes the same members',
  'npx heddle agent simulate': 'runs until it is stopped; test/cli/agent.large.ts plays it',
  'npx heddle operator backup account.backup':
    'needs a server that is stopped; test/faults/restore.system.ts does the same',
  'npx heddle operator restore account.backup': 'needs an empty Postgres; test/faults/restore.system.ts does the same',
  'export HEDDLE_SECRET_KEY_FILE': 'sets a variable for the line behind it; the next test knows its name',
  'npx heddle serve --database-url': 'needs a database of that name; test/docs/pages.test.ts knows its flags',
  'npx heddle serve --source': 'runs until it is stopped; test/gen/package.release.ts starts the same',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'runs until it is stopped; test/telemetry reads the same variables',
  HEDDLE_OIDC_: 'sets a variable for a server; the next test knows its name',
};

const reasonNotToRun = (line: string) => Object.keys(notRun).find((start) => line.startsWith(start));

test.each(lines.filter((line) => reasonNotToRun(line) === undefined))(
  'the documented shell line `%s` runs without errors and prints a result',
  async (line) => {
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', line], {
      cwd: root,
    });
    expect({ printed: stdout !== '', stderr }).toEqual({ printed: true, stderr: '' });
  },
);

test('the documentation names only existing npm scripts and server variables', () => {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Readonly<Record<string, string>> };
  const settings = readFileSync(join(root, 'docs/reference/settings.md'), 'utf8');
  const named = writtenPages.flatMap((page) => mentions(page, /npm run (?:--silent )?([a-z][\w-]*)/g));
  const variables = writtenPages.flatMap((page) => mentions(page, /\b(HEDDLE_(?!VALUE_|TEST_)[A-Z_]*[A-Z])\b/g));
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(variables.filter((name) => !settings.includes(name))).toEqual([]);
});

test('every entry in the list of shell lines that are not run matches a documented line', () => {
  const used = new Set(lines.map(reasonNotToRun));
  expect(Object.keys(notRun).filter((start) => !used.has(start))).toEqual([]);
});
