import { basename, resolve } from 'node:path';
import { InvalidInput } from '../../model/errors.ts';
import { type RunningName, readStatedName } from './files/stated-name.ts';

/** A directory, and the name of its source. */
export interface NamedSource extends RunningName {
  readonly path: string;
}

/**
 * Reads sources in the form `NAME=DIR`. Without a name, the `heddle.yaml` of the directory names the source, and
 * without that the last part of the path. Throws `InvalidInput` when two would have the same name.
 */
export async function readNamedSources(texts: readonly string[]): Promise<readonly NamedSource[]> {
  const named = await Promise.all(texts.map(readNamedSource));
  const seen = new Map<string, string>();
  for (const { name, path } of named) {
    const other = seen.get(name);
    if (other !== undefined)
      throw new InvalidInput(
        `the sources ${other} and ${path} would both be called ${name}; name one of them with --source NAME=${path}`,
      );
    seen.set(name, path);
  }
  return named;
}

/**
 * Throws `InvalidInput` when a directory that a flag names would have the same name as a source of the settings file.
 */
export function refuseRepeatedNames(
  named: readonly NamedSource[],
  stated: readonly { readonly name: string; readonly account?: string }[],
): void {
  for (const { name, path } of named) {
    if (!stated.some((source) => source.name === name && source.account === undefined)) continue;
    throw new InvalidInput(
      `the source ${path} would be called ${name}, like a source in the settings file; name it with --source NAME=${path}`,
    );
  }
}

async function readNamedSource(text: string): Promise<NamedSource> {
  const given = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/.exec(text);
  if (given?.[1] !== undefined && given[2] !== undefined) return { name: given[1], path: given[2] };
  const stated = await readStatedName(text);
  // Invalid settings do not keep the server from starting: nothing is applied from the directory, and its status says
  // why.
  const name = 'problems' in stated ? undefined : stated.name;
  return { name: name ?? nameOfPath(text), path: text, isNamedByDirectory: true };
}

function nameOfPath(path: string): string {
  const last = basename(resolve(path))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return last === '' ? 'source' : last;
}
