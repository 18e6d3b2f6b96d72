import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as kinds from '../kinds/index.ts';
import { createRegistry } from '../model/registry.ts';
import { chartFiles } from './charts.ts';
import { crdFiles } from './crds.ts';
import { exampleFiles } from './examples.ts';
import { type Files, findStale, readText, writeFiles } from './files.ts';
import { kindTable } from './kind-table.ts';
import { commandTable, metricTable, roleTable, settingTable } from './program-tables.ts';
import { emptyReadme, type Section, withSections } from './readme.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

if (values.check) check(await generate());
else for (const path of writeFiles(root, await generate())) console.log(`wrote ${path}`);

/** Everything that is written from the declarations and from the version of the program. */
async function generate(): Promise<Files> {
  const registry = createRegistry(Object.values(kinds));
  const { version } = JSON.parse(readText(root, 'package.json') ?? '{}') as { readonly version: string };
  const sections: readonly Section[] = [
    { name: 'kinds', from: 'src/kinds', text: kindTable(registry) },
    { name: 'commands', from: 'src/cli', text: await commandTable() },
    { name: 'settings', from: 'src/config.ts', text: settingTable() },
    { name: 'metrics', from: 'src/api/metrics.ts', text: metricTable() },
    { name: 'roles', from: 'src/model/roles.ts', text: roleTable() },
  ];
  const readme = withSections(readText(root, 'README.md') ?? emptyReadme(sections), sections);
  const charts = chartFiles(registry, version, (path) => readText(root, path));
  return new Map([...crdFiles(registry), ...exampleFiles(registry), ...charts, ['README.md', readme]]);
}

function check(files: Files): void {
  const stale = findStale(root, files);
  for (const path of stale) console.error(`${path} is not what the declarations say`);
  if (stale.length === 0) return;
  console.error('Run `npm run gen` and commit what it writes.');
  process.exitCode = 1;
}
