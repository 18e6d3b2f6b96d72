import { basename, resolve } from 'node:path';
import { InvalidInput } from '../../model/errors.ts';

/** A directory, and the name of its source. */
export interface NamedSource {
  readonly name: string;
  readonly path: string;
}

/**
 * Parses sources in the form `NAME=DIR`. Without a name, the last part of the path is the name. Throws `InvalidInput`
 * when two would have the same name.
 */
export function parseNamedSources(texts: readonly string[]): readonly NamedSource[] {
  const named = texts.map(parseNamedSource);
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

function parseNamedSource(text: string): NamedSource {
  const given = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/.exec(text);
  if (given?.[1] !== undefined && given[2] !== undefined) return { name: given[1], path: given[2] };
  const last = basename(resolve(text))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return { name: last === '' ? 'source' : last, path: text };
}
