import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as kinds from '../kinds/index.ts';
import { createRegistry } from '../model/registry.ts';
import { chartFiles } from './charts.ts';
import { crdFiles } from './crds.ts';
import { exampleFiles } from './examples.ts';
import { type Files, findStale, readText, writeFiles } from './files.ts';
import { emptyReadme, withKindTable } from './kind-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

if (values.check) check(generate());
else for (const path of writeFiles(root, generate())) console.log(`wrote ${path}`);

/** Everything that is written from the declarations and from the version of the program. */
function generate(): Files {
  const registry = createRegistry(Object.values(kinds));
  const { version } = JSON.parse(readText(root, 'package.json') ?? '{}') as { readonly version: string };
  const readme = withKindTable(readText(root, 'README.md') ?? emptyReadme, registry);
  const charts = chartFiles(registry, version, (path) => readText(root, path));
  return new Map([...crdFiles(registry), ...exampleFiles(registry), ...charts, ['README.md', readme]]);
}

function check(files: Files): void {
  const stale = findStale(root, files);
  for (const path of stale) console.error(`${path} is not what src/kinds says`);
  if (stale.length === 0) return;
  console.error('Run `npm run gen` and commit what it writes.');
  process.exitCode = 1;
}
