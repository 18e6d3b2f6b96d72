import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { shellWord } from '../../lib/shell-word.ts';
import { InvalidInput } from '../../model/errors.ts';
import { ignoreFile } from '../../model/sources/file-rules.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeError } from '../write-file.ts';
import { type CiSystem, ciFiles, ciSystems } from './ci-files.ts';
import { schemaOfDocuments } from './schema.ts';

export const init = defineCommand({
  name: 'init',
  summary: 'Lay out a directory of documents.',
  details:
    'Works offline. Writes heddle.yaml, which names the source that owns what the documents state, a first document, .heddleignore, and the schema with settings by which editors check every document; with --ci a pipeline at the top of the Git repository too. What is there already stays as it is.',
  argument: { placeholder: 'DIR', doc: 'the directory; the current one unless said otherwise', least: 0, most: 1 },
  flags: {
    'source-name': { placeholder: 'NAME', doc: 'Name of the source; the name of the directory unless said otherwise.' },
    ci: {
      placeholder: 'SYSTEM',
      doc: 'github, gitlab or none (default none): a pipeline that validates and plans every change, with a token that writes nothing.',
    },
  },
  settings: [],
  examples: [
    ['heddle init mesh --source-name office', 'A directory mesh, whose documents the source office owns'],
    ['heddle init mesh --ci github', 'The same with a workflow for GitHub Actions'],
    ['heddle plan mesh', 'What its documents would change'],
  ],
  async run({ positionals, flags, terminal }) {
    const directory = positionals[0] ?? '.';
    const named = flags['source-name'];
    const source = sourceNameOf(typeof named === 'string' ? named : undefined, directory);
    const word = shellWord(directory);
    const system = systemOf(flags['ci']);
    const settings = join(directory, 'heddle.yaml');
    const made: string[] = [];
    for (const [path, text] of [...layout(directory, source), ...(await pipeline(directory, system))]) {
      const isMade = await writeNew(path, text);
      terminal.out(isMade ? `wrote ${path}\n` : `kept ${path}\n`);
      if (isMade) made.push(path);
    }
    if (made.includes(settings))
      terminal.out(`The documents belong to the source ${source}; do not rename it later.\n`);
    terminal.out(`\`heddle validate ${word}\` checks them, \`heddle plan ${word}\` shows what they would change.\n`);
    return exit.ok;
  },
});

/** What the server takes for a name. */
const sourceForm = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;

function sourceNameOf(stated: string | undefined, directory: string): string {
  const name = stated ?? basename(resolve(directory));
  if (sourceForm.test(name)) return name;
  const of = stated === undefined ? 'the name of the directory' : '--source-name';
  throw new InvalidInput(
    `${of} is \`${name.slice(0, 100)}\`, which cannot name a source; use letters, digits, dots, dashes and slashes, as in --source-name office`,
  );
}

function systemOf(given: unknown): CiSystem | undefined {
  if (given === undefined || given === 'none') return undefined;
  const system = ciSystems.find((name) => name === given);
  if (system !== undefined) return system;
  throw new InvalidInput(`--ci is \`${given}\`; write ${ciSystems.join(', ')} or none`);
}

/** The file of a pipeline, at the top of the repository that the directory is in. */
async function pipeline(
  directory: string,
  system: CiSystem | undefined,
): Promise<readonly (readonly [path: string, text: string])[]> {
  if (system === undefined) return [];
  const top = (await repositoryOf(resolve(directory))) ?? resolve(directory);
  const { path, text } = ciFiles[system];
  const shown = relative('', join(top, path));
  return [[shown.startsWith('..') ? join(top, path) : shown, text(relative(top, resolve(directory)) || '.')]];
}

/** The nearest directory that is a Git repository; a worktree has a file where others have a directory. */
async function repositoryOf(directory: string): Promise<string | undefined> {
  if (await isThere(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? undefined : repositoryOf(above);
}

/** Dot directories are never read as documents, so the schema is in one. */
const schemaPath = '.heddle/schema.json';

function layout(directory: string, source: string): readonly (readonly [path: string, text: string])[] {
  const editor = { 'yaml.schemas': { [schemaPath]: ['*.yaml', '*.yml', '!heddle.yaml'] } };
  const files = {
    'heddle.yaml': `# Settings of this directory. The source owns what the documents state: never rename it.\nsource: ${JSON.stringify(source)}\n`,
    'groups.yaml': firstDocument,
    [ignoreFile]: '# Files and directories that are no documents, one pattern a line as in .gitignore.\n',
    [schemaPath]: schemaOfDocuments(),
    '.vscode/settings.json': `${JSON.stringify(editor, null, 2)}\n`,
  };
  return Object.entries(files).map(([name, text]) => [join(directory, name), text]);
}

const firstDocument = `# \`heddle explain Group\` says what a group can have.
apiVersion: heddle.dev/v1
kind: Group
metadata:
  name: engineering
spec: {}
`;

/** Writes a file unless there is one. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (await isThere(path)) return false;
    throw writeError(path, error);
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
