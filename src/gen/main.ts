import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Command } from '../cli/command.ts';
import { allCommands } from '../cli/commands.ts';
import { writeYaml } from '../documents/write.ts';
import * as kinds from '../kinds/index.ts';
import { createRegistry, type Registry } from '../model/declare/registry.ts';
import { allDefinitions } from '../model/lower/crd/all.ts';
import { chartFiles } from './charts.ts';
import { clientPage } from './client-page.ts';
import { commandListFile } from './command-list.ts';
import { exampleFiles } from './examples.ts';
import { type Files, findStale, generatedNotice, readText, writeFiles } from './files.ts';
import { kindPage } from './kind-page.ts';
import { operationsPage } from './operations-page.ts';
import { commandPage, problemPage, rolePage, settingPage } from './program-pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

if (values.check) check(await generate());
else for (const path of writeFiles(root, await generate())) console.log(`wrote ${path}`);

/** Returns all files that are generated from the declarations and from the version of the program. */
async function generate(): Promise<Files> {
  const registry = createRegistry(Object.values(kinds));
  const { version } = JSON.parse(readText(root, 'package.json') ?? '{}') as { readonly version: string };
  const charts = chartFiles(registry, version, (path) => readText(root, path));
  const operations = operationsPage(
    readText(root, 'docs/operations.md') ?? '',
    readText(root, 'charts/heddle/alerts/heddle.yaml') ?? '',
  );
  const commands = await allCommands(async () => {
    throw new Error('commands are only described here, not run');
  });
  return new Map([
    ...crdFiles(registry),
    ...exampleFiles(registry),
    ...charts,
    ['src/version.ts', versionFile(version)],
    ['src/cli/command-list.ts', commandListFile(commands)],
    ...referencePages(registry, commands),
    ['docs/operations.md', operations],
  ]);
}

/**
 * Returns the module with the version. The version is part of the code, so a bundle knows it wherever its files are
 * installed.
 */
function versionFile(version: string): string {
  return `// Written by \`npm run gen\` from package.json; do not edit.

/** The version of this program. */
export function programVersion(): string {
  return '${version}';
}
`;
}

/** Returns the pages of `docs/reference/`. */
function referencePages(registry: Registry, commands: readonly Command[]): Files {
  return new Map([
    ['docs/reference/kinds.md', kindPage(registry)],
    ['docs/reference/commands.md', commandPage(commands)],
    ['docs/reference/settings.md', settingPage()],
    ['docs/reference/problems.md', problemPage()],
    ['docs/reference/roles.md', rolePage()],
    ['docs/reference/client-profile.md', clientPage()],
  ]);
}

function check(files: Files): void {
  const stale = findStale(root, files);
  for (const path of stale) console.error(`${path} does not match the declarations`);
  if (stale.length === 0) return;
  console.error('Run `npm run gen` and commit what it writes.');
  process.exitCode = 1;
}

/** Returns the files of `crds/`, which are all CustomResourceDefinitions of Heddle. */
export function crdFiles(registry: Registry): Files {
  const definitions = [...allDefinitions(registry)];
  return new Map(definitions.map(([plural, crd]) => [`crds/${plural}.yaml`, writeYaml(crd, generatedNotice)]));
}
