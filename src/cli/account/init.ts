import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createDirectory } from '../../db/embedded/disk.ts';
import { quoteShellWord } from '../../lib/shell-word.ts';
import { InvalidInput } from '../../model/errors.ts';
import { archive } from '../../operations/config/archive.ts';
import { clientSettings, connect, requireSuccess, send } from '../client.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { withProgress } from '../terminal/progress.ts';
import { toWriteError } from '../write-file.ts';
import { type CiSystem, ciFiles, ciSystems } from './ci-files.ts';
import { editorSettings, firstDocuments, type StarterFile, schemaPath, surroundingFiles } from './starter.ts';

export const init = defineCommand({
  name: 'init',
  summary: 'Create a directory of documents.',
  details:
    'Works offline. Writes heddle.yaml, which names the source that owns what the documents state, starter documents, a README, .heddleignore, .gitignore, and the schema with settings so that editors check every document of every file; with --ci also a pipeline at the top of the Git repository. With --from-server the documents are those of the account. Existing files are not changed.',
  argument: { placeholder: 'DIR', doc: 'the directory (default: the current one)', least: 0, most: 1 },
  flags: {
    'source-name': { placeholder: 'NAME', doc: 'Name of the source (default: the name of the directory).' },
    ci: {
      placeholder: 'SYSTEM',
      doc: 'github, gitlab or none (default none): a pipeline that validates and plans every change with a token that cannot write, and applies it on the main branch.',
    },
    'from-server': { doc: 'Start with the documents of the account, as `heddle export --mark-adopt` writes them.' },
  },
  settings: clientSettings,
  examples: [
    ['heddle init mesh --source-name office', 'Create the directory mesh, with documents of the source office'],
    ['heddle init mesh --ci github', 'The same with a workflow for GitHub Actions'],
    ['heddle init mesh --from-server', 'Write an account that was made by hand as documents'],
    ['heddle plan mesh', 'Show what its documents would change'],
  ],
  async run({ positionals, flags, config, terminal }) {
    const directory = positionals[0] ?? '.';
    const named = flags['source-name'];
    const source = sourceNameOf(typeof named === 'string' ? named : undefined, directory);
    const system = systemOf(flags['ci']);
    const top = (await repositoryOf(resolve(directory))) ?? resolve(directory);
    const word = quoteShellWord(directory);
    // Runs first, so that it can fail before anything is written.
    const documents = flags['from-server'] === true ? await documentsOf(config, terminal) : firstDocuments;
    const editor = withPathsAtTop(top, [editorSettings(top, resolve(directory))]);
    const settings = join(directory, 'heddle.yaml');
    const made: string[] = [];
    for (const [path, text] of [
      ...withPathsBelow(directory, surroundingFiles(source, quoteShellWord(relative(top, resolve(directory)) || '.'))),
      ...withPathsBelow(directory, documents),
      ...editor,
      ...withPathsAtTop(top, pipeline(top, directory, system)),
    ]) {
      const isMade = await writeNew(path, text);
      terminal.out(isMade ? `wrote ${path}\n` : `kept ${path}\n`);
      if (isMade) made.push(path);
    }
    for (const [path, text] of editor)
      if (!(await readFile(path, 'utf8')).includes(relative(top, join(resolve(directory), schemaPath))))
        terminal.out(`Editors check the documents once ${path} also contains:\n${text}`);
    if (made.includes(settings))
      terminal.out(`The documents belong to the source ${source}; do not rename it later.\n`);
    terminal.out(`\`heddle validate ${word}\` checks them, \`heddle plan ${word}\` shows what they would change.\n`);
    return exit.ok;
  },
});

/** Returns the documents of the account, each marked to adopt its object. */
async function documentsOf(
  config: Parameters<typeof connect>[0],
  terminal: Invocation['terminal'],
): Promise<readonly StarterFile[]> {
  const client = await connect(config);
  const answer = await withProgress(terminal, 'exporting', () =>
    send(client, archive.export, { query: { format: 'yaml', markAdopt: true } }),
  );
  return [['account.yaml', requireSuccess(answer).text]];
}

/** Form of source names that the server accepts. */
const sourceForm = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;

function sourceNameOf(stated: string | undefined, directory: string): string {
  const name = stated ?? basename(resolve(directory));
  if (sourceForm.test(name)) return name;
  const of = stated === undefined ? 'the name of the directory' : '--source-name';
  throw new InvalidInput(
    `${of} is \`${name.slice(0, 100)}\`, which is not a valid name of a source; use letters, digits, dots, dashes and slashes, as in --source-name office`,
  );
}

function systemOf(given: unknown): CiSystem | undefined {
  if (given === undefined || given === 'none') return undefined;
  const system = ciSystems.find((name) => name === given);
  if (system !== undefined) return system;
  throw new InvalidInput(`--ci is \`${given}\`; write ${ciSystems.join(', ')} or none`);
}

/** Returns the pipeline file, with its path relative to the top of the repository. Empty without a CI system. */
function pipeline(top: string, directory: string, system: CiSystem | undefined): readonly StarterFile[] {
  if (system === undefined) return [];
  const { path, text } = ciFiles[system];
  return [[path, text(relative(top, resolve(directory)) || '.')]];
}

function withPathsBelow(directory: string, files: readonly StarterFile[]): readonly StarterFile[] {
  return files.map(([path, text]) => [join(directory, path), text]);
}

/**
 * Returns the files with their paths at the top of a repository. The paths are relative to the working directory, or
 * absolute when they lie outside of it.
 */
function withPathsAtTop(top: string, files: readonly StarterFile[]): readonly StarterFile[] {
  return files.map(([path, text]) => {
    const shown = relative('', join(top, path));
    return [shown.startsWith('..') ? join(top, path) : shown, text];
  });
}

/**
 * Returns the nearest directory, from here upwards, that is a Git repository. In a worktree `.git` is a file, not a
 * directory.
 */
async function repositoryOf(directory: string): Promise<string | undefined> {
  if (await fileExists(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? undefined : repositoryOf(above);
}

/** Writes a file unless it exists. Returns whether it was written. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await createDirectory(dirname(path));
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (await fileExists(path)) return false;
    throw toWriteError(path, error);
  }
}

function fileExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
