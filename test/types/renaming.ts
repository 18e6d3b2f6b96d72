import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A declared field: its file, its name and the offset of the name in the file. */
interface Declared {
  readonly file: string;
  readonly field: string;
  readonly at: number;
}

const root = resolve(import.meta.dirname, '../..');

/** Returns the spec fields that each kind declares in a file of its own, one list per file. */
export async function declaredFields(): Promise<readonly (readonly Declared[])[]> {
  const folders = await readdir(join(root, 'src/kinds'), { withFileTypes: true });
  const files = folders
    .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
    .flatMap(({ name }) => ['kind.ts', 'fields.ts'].map((file) => `src/kinds/${name}/${file}`));
  const lists = await Promise.all(files.map(async (file) => fieldsIn(file, await sourceOf(file))));
  return lists.filter((list) => list.length > 0);
}

async function sourceOf(file: string): Promise<string> {
  return readFile(join(root, file), 'utf8').catch(() => '');
}

/** Returns the members of the object literal that declares a kind's fields. Relies on the formatting of the file. */
function fieldsIn(file: string, source: string): readonly Declared[] {
  const begin = /^(?:export )?const (?:spec|serviceFields) = \{\n/m.exec(source);
  if (begin === null) return [];
  const from = begin.index + begin[0].length;
  const block = source.slice(from, source.indexOf('\n}', from));
  return [...block.matchAll(/^ {2}(\w+): /gm)].map((match) => ({
    file,
    field: match[1] ?? '',
    at: from + match.index + 2,
  }));
}

/** Renames the fields, each of another kind, in a copy of the sources, and returns the errors of the type check. */
export async function errorsAfterRenaming(fields: readonly Declared[]): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'heddle-renamed-'));
  try {
    await cp(join(root, 'src'), join(copy, 'src'), { recursive: true });
    await mkdir(join(copy, 'test'));
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await cp(join(root, 'package.json'), join(copy, 'package.json'));
    await cp(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'));
    for (const { file, field, at } of fields) {
      const source = await sourceOf(file);
      const renamed = `${source.slice(0, at)}renamed_${source.slice(at)}`;
      await writeFile(join(copy, file), renamed);
      if (!renamed.includes(`renamed_${field}: `)) throw new Error(`${file} has no field ${field} at ${at}`);
    }
    return await typeErrors(copy);
  } finally {
    await rm(copy, { recursive: true });
  }
}

function typeErrors(directory: string): Promise<readonly string[]> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return new Promise((done) => {
    execFile(process.execPath, [compiler, '--pretty', 'false'], { cwd: directory, maxBuffer: 2 ** 26 }, (_, out) =>
      done(out.split('\n').filter((line) => line.includes('error TS'))),
    );
  });
}

/** Returns the fields whose renaming is not mentioned by any error. */
export function unnoticed(fields: readonly Declared[], errors: readonly string[]): readonly string[] {
  return fields
    .filter(({ field }) => !errors.some((error) => new RegExp(`['"\`]${field}['"\`]`).test(error)))
    .map(({ file, field }) => `${field} of ${file}`);
}
