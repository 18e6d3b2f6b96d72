import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverFileSchema } from '../../config/file.ts';
import { createDirectory } from '../../db/embedded/disk.ts';
import * as kinds from '../../kinds/index.ts';
import { createRegistry } from '../../model/declare/registry.ts';
import { InvalidInput } from '../../model/errors.ts';
import { anyDocumentSchema, editorSchema } from '../../model/lower/editor.ts';
import { guessHint } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { toWriteError } from '../write-file.ts';

export const schema = defineCommand({
  name: 'schema',
  summary: 'Write JSON Schemas of documents for editors.',
  details:
    'Works offline. Prints the schema of all documents, that of one kind, or that of the file for `heddle serve --config`; with --dir writes `heddle.json`, one file for each kind and `heddle-server.json`. A first line `# yaml-language-server: $schema=heddle.json` in a YAML file makes editors check it and complete field names.',
  flags: {
    kind: { placeholder: 'KIND', doc: 'Only documents of this kind.' },
    server: { doc: 'The file of settings for `heddle serve --config`.' },
    dir: { placeholder: 'DIR', doc: 'Write files to this directory instead of printing.' },
  },
  settings: [],
  examples: [
    ['heddle schema > heddle.json', 'One schema for every document'],
    ['heddle schema --dir schemas', 'Also write a file for each kind'],
  ],
  async run({ flags, terminal }) {
    const { kind, server, dir } = flags;
    const files = server === true ? [serverFile()] : schemaFiles(typeof kind === 'string' ? kind : undefined);
    if (typeof dir !== 'string') {
      terminal.out(files[0]?.text ?? '');
      return exit.ok;
    }
    await writeFiles(dir, files);
    terminal.out(`Wrote ${files.length} ${files.length === 1 ? 'schema' : 'schemas'} to ${dir}.\n`);
    return exit.ok;
  },
});

interface SchemaFile {
  readonly name: string;
  readonly text: string;
}

async function writeFiles(directory: string, files: readonly SchemaFile[]): Promise<void> {
  try {
    await createDirectory(directory);
    for (const { name, text } of files) await writeFile(join(directory, name), text);
  } catch (error) {
    throw toWriteError(directory, error);
  }
}

function fileOf(name: string, content: unknown): SchemaFile {
  return { name: `${name}.json`, text: `${JSON.stringify(content, null, 2)}\n` };
}

function serverFile(): SchemaFile {
  return fileOf('heddle-server', serverFileSchema());
}

/** Returns the JSON Schema of all documents, as text. */
export function schemaOfDocuments(): string {
  return schemaFiles(undefined)[0]?.text ?? '';
}

/**
 * Returns the schema of one kind; or the schemas of all documents, of each kind and of the server's settings file, in
 * this order. Throws `InvalidInput` for a kind that has no documents.
 */
function schemaFiles(only: string | undefined): readonly SchemaFile[] {
  const registry = createRegistry(Object.values(kinds));
  const known = registry.kinds.filter((kind) => kind.document.allowed);
  const found = known.filter((kind) => only === undefined || kind.name.toLowerCase() === only.toLowerCase());
  if (found.length === 0) {
    const hint = guessHint(only ?? '', registry.names);
    throw new InvalidInput(`there are no documents of kind \`${only}\`${hint === '' ? '.' : hint}`);
  }
  const each = found.map((kind) => fileOf(kind.name.toLowerCase(), editorSchema(registry, kind)));
  return only === undefined ? [fileOf('heddle', anyDocumentSchema(registry)), ...each, serverFile()] : each;
}
