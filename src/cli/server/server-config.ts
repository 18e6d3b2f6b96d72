import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { serverFileFaults, settingsIn, statedSources } from '../../config/file.ts';
import type { FileValues } from '../../config.ts';
import { problemsOf, readSettingsFile } from '../../documents/settings-file.ts';
import { InvalidInput, Unavailable } from '../../model/errors.ts';
import type { Problem } from '../../model/problem.ts';
import type { Transport } from '../../model/remote-url.ts';
import { mapFiles } from '../../model/sources/schema.ts';
import type { StatedSource } from '../../model/sources/stated.ts';

/** Content of a settings file. */
export interface ServerConfig {
  readonly settings: FileValues;
  /** Sources whose file and directory paths are absolute. */
  readonly sources: readonly StatedSource[];
}

/** Values that the settings file is checked against. */
export interface ServerConfigOptions {
  /** Kinds that documents may have. */
  readonly kinds: readonly string[];
  /** Transports by which Git repositories may be reached. */
  readonly transports: readonly Transport[];
}

/**
 * Reads a settings file. Throws `InvalidInput` with every problem and its position, and `Unavailable` when the file
 * cannot be read.
 */
export async function readServerConfig(path: string, options: ServerConfigOptions): Promise<ServerConfig> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Unavailable(`The file of settings cannot be read (${reason}); correct the path given by --config.`, {
      cause,
    });
  });
  const file = readSettingsFile({ path, text });
  if ('problems' in file) throw invalidConfigError(path, file.problems);
  const faults = serverFileFaults(file.value, options);
  if (faults.length > 0) throw invalidConfigError(path, problemsOf(file, faults));
  const directory = dirname(resolve(path));
  return {
    settings: settingsIn(file.value),
    sources: statedSources(file.value).map((source) => resolvePaths(source, directory)),
  };
}

function invalidConfigError(path: string, problems: readonly Problem[]): InvalidInput {
  return new InvalidInput(`${path} has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`, {
    problems,
  });
}

/** Returns the source with its paths resolved against the directory of the settings file. */
function resolvePaths(source: StatedSource, directory: string): StatedSource {
  const from = (name: string) => resolve(directory, name);
  if (source.type === 'directory') return { ...source, path: from(source.path) };
  if (source.type === 'git') return mapFiles(source, from);
  if (source.type === 'kubernetes' && source.kubeconfigFile !== undefined)
    return { ...source, kubeconfigFile: from(source.kubeconfigFile) };
  return source;
}
