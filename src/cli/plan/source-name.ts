import { settingsFileName } from '../../documents/settings-file.ts';
import { readStatedName } from '../../features/sources/files/stated-name.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { Invocation } from '../command.ts';

/**
 * Returns the name of the source that declares the documents: from the flag, else from the settings file of the
 * directories, which must agree. There is no default, because objects that a source no longer declares are deleted.
 * Throws `InvalidInput`.
 */
export async function sourceNameOf(paths: readonly string[], flags: Invocation['flags']): Promise<string> {
  const given = flags['source-name'];
  if (typeof given === 'string') return given;
  const names = await Promise.all(paths.map(statedName));
  const [name] = names;
  const other = names.findIndex((one) => one !== name);
  if (name !== undefined && other < 0) return name;
  if (name !== undefined && names[other] !== undefined)
    throw new InvalidInput(
      `${paths[0]} belongs to the source ${name} and ${paths[other]} to ${names[other]}; apply them one after the other, or name one source for both with --source-name NAME.`,
    );
  const path = paths[names.indexOf(undefined)] ?? '';
  const file =
    path === '-' ? '' : `, or write \`source: NAME\` into a ${settingsFileName} in the directory of the documents`;
  throw new InvalidInput(
    `No source is named for the documents of ${path === '-' ? 'standard input' : path}: name it with --source-name NAME${file}. What a source no longer states is deleted.`,
  );
}

/**
 * Returns the source that a directory's settings file names. Returns `undefined` for a file, and for a directory
 * without settings.
 */
async function statedName(path: string): Promise<string | undefined> {
  if (path === '-') return undefined;
  const stated = await readStatedName(path);
  if ('problems' in stated) throw refused(stated.file, stated.problems);
  return stated.name;
}

function refused(file: string, problems: readonly Problem[]) {
  return new InvalidInput(`${file}: ${problems[0]?.message ?? 'cannot be read'}`, { problems });
}
