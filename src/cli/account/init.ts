import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { shellWord } from '../../lib/shell-word.ts';
import { InvalidInput } from '../../model/errors.ts';
import { ignoreFile } from '../../model/sources/file-rules.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeError } from '../write-file.ts';
import { schemaOfDocuments } from './schema.ts';

export const init = defineCommand({
  name: 'init',
  summary: 'Lay out a directory of documents.',
  details:
    'Works offline. Writes heddle.yaml, which names the source that owns what the documents state, a first document, .heddleignore, and the schema with settings by which editors check every document. What is there already stays as it is.',
  argument: { placeholder: 'DIR', doc: 'the directory; the current one unless said otherwise', least: 0, most: 1 },
  flags: {
    'source-name': { placeholder: 'NAME', doc: 'Name of the source; the name of the directory unless said otherwise.' },
  },
  settings: [],
  examples: [
    ['heddle init mesh --source-name office', 'A directory mesh, whose documents the source office owns'],
    ['heddle plan mesh', 'What its documents would change'],
  ],
  async run({ positionals, flags, terminal }) {
    const directory = positionals[0] ?? '.';
    const named = flags['source-name'];
    const source = sourceNameOf(typeof named === 'string' ? named : undefined, directory);
    const word = shellWord(directory);
    const made: string[] = [];
    for (const [name, text] of Object.entries(layout(source))) {
      const path = join(directory, name);
      const isMade = await writeNew(path, text);
      terminal.out(isMade ? `wrote ${path}\n` : `kept ${path}\n`);
      if (isMade) made.push(name);
    }
    if (made.includes('heddle.yaml'))
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

/** Dot directories are never read as documents, so the schema is in one. */
const schemaPath = '.heddle/schema.json';

function layout(source: string): Readonly<Record<string, string>> {
  const editor = { 'yaml.schemas': { [schemaPath]: ['*.yaml', '*.yml', '!heddle.yaml'] } };
  return {
    'heddle.yaml': `# Settings of this directory. The source owns what the documents state: never rename it.\nsource: ${JSON.stringify(source)}\n`,
    'groups.yaml': firstDocument,
    [ignoreFile]: '# Files and directories that are no documents, one pattern a line as in .gitignore.\n',
    [schemaPath]: schemaOfDocuments(),
    '.vscode/settings.json': `${JSON.stringify(editor, null, 2)}\n`,
  };
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
    if (
      await stat(path).then(
        () => true,
        () => false,
      )
    )
      return false;
    throw writeError(path, error);
  }
}
