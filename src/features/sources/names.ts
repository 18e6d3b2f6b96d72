import { basename, resolve } from 'node:path';
import { InvalidInput } from '../../model/errors.ts';
import { hasQuietFiles } from './directory/read-when-stable.ts';
import type { DirectorySnapshot } from './files/snapshot.ts';
import { type RunningName, readStatedName } from './files/stated-name.ts';

/** A directory, and the name of its source. */
export interface NamedSource extends RunningName {
  readonly path: string;
  /**
   * True: nothing could be read from the directory yet, and its `heddle.yaml` may name the source otherwise than its
   * path does.
   */
  readonly isUnread?: true;
}

/**
 * Reads sources in the form `NAME=DIR`. Without a name, the `heddle.yaml` of the directory names the source, and
 * without that the last part of the path. Throws `InvalidInput` when two are given the same name. Names that come from
 * directories are not compared here: they may not be readable yet, and whether a server starts must not depend on that.
 */
export async function readNamedSources(texts: readonly string[]): Promise<readonly NamedSource[]> {
  const named = await Promise.all(texts.map(readNamedSource));
  const seen = new Map<string, string>();
  for (const { name, path } of named.filter(isNamedByFlag)) {
    const other = seen.get(name);
    if (other !== undefined)
      throw new InvalidInput(`the sources ${other} and ${path} are both called ${name}; give one of them another name`);
    seen.set(name, path);
  }
  return named;
}

/** Throws `InvalidInput` when a flag gives a directory the name of a source of the settings file. */
export function refuseRepeatedNames(
  named: readonly NamedSource[],
  stated: readonly { readonly name: string; readonly account?: string }[],
): void {
  for (const { name, path } of named.filter(isNamedByFlag)) {
    if (!stated.some((source) => source.name === name && source.account === undefined)) continue;
    throw new InvalidInput(
      `the source ${path} is called ${name}, like a source in the settings file; give one of them another name`,
    );
  }
}

function isNamedByFlag({ isNamedByDirectory }: NamedSource): boolean {
  return isNamedByDirectory !== true;
}

async function readNamedSource(text: string): Promise<NamedSource> {
  const given = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/.exec(text);
  if (given?.[1] !== undefined && given[2] !== undefined) return { name: given[1], path: given[2] };
  const name = await readDirectoryName(text);
  const source = { path: text, isNamedByDirectory: true } as const;
  return name === undefined ? { ...source, name: nameOfPath(text), isUnread: true } : { ...source, name };
}

/**
 * Returns the name of the source of a directory: the one that its `heddle.yaml` states, or the last part of its path.
 * Returns `undefined` while nothing can be read from the directory, and while it is being written to: a `heddle.yaml`
 * may be put there later, or be only half written.
 */
async function readDirectoryName(path: string): Promise<string | undefined> {
  if (!(await hasQuietFiles(path))) return undefined;
  const stated = await readStatedName(path);
  // Invalid settings do not keep the server from starting: nothing is applied from the directory, and its status says
  // why.
  return ('name' in stated ? stated.name : undefined) ?? nameOfPath(path);
}

/**
 * Returns the name of the source of a directory with this content, or `undefined` while it contains no files.
 */
export function nameOfDirectory(
  path: string,
  { selection, looks, isMount }: Extract<DirectorySnapshot, { readonly ok: true }>,
): string | undefined {
  if (selection.statedSource !== undefined) return selection.statedSource.name;
  return isMount || looks.length > 0 ? nameOfPath(path) : undefined;
}

function nameOfPath(path: string): string {
  const last = basename(resolve(path))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return last === '' ? 'source' : last;
}
