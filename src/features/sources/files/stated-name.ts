import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDirectorySettings } from '../../../documents/directory-settings.ts';
import { isDirectorySettings, settingsFileName } from '../../../documents/settings-file.ts';
import type { Problem } from '../../../model/problem.ts';
import type { Fetched, Origin } from './origin.ts';

/** Name of the source that a directory states, or the problems of its settings file. */
type StatedName =
  | { readonly name?: string | undefined }
  | { readonly file: string; readonly problems: readonly Problem[] };

/**
 * Reads which source the settings file of a directory names: `undefined` when they name none. Returns an empty object
 * for a path that is no directory, and for a directory without settings that can be read.
 */
export async function readStatedName(directory: string): Promise<StatedName> {
  const file = join(directory, settingsFileName);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  // A file with this name may also contain documents.
  if (text === undefined || !isDirectorySettings(settingsFileName, text)) return {};
  const read = readDirectorySettings({ path: file, text });
  return 'problems' in read ? { file, problems: read.problems } : { name: read.settings.source };
}

/** Name of a source, and where it comes from. */
export interface RunningName {
  readonly name: string;
  /**
   * True: the settings of the directory name the source, or else its path, when the server starts. Absent: the
   * configuration of the server names it, or the API.
   */
  readonly isNamedByDirectory?: true | undefined;
}

/**
 * Compares the name of a source with the one that the settings of its directory state. If the directory names the
 * source, nothing is applied under another name. Otherwise the configured name is used, with a warning.
 */
export function withNameCheck(origin: Omit<Origin, 'concluded' | 'unchanged'>, running: RunningName): Origin {
  return {
    fetch: async (last) => checkStatedName(await origin.fetch(last), running),
    peek: async () => checkStatedName(await origin.peek(), running),
    watch: (changed) => origin.watch(changed),
  };
}

function checkStatedName(fetched: Fetched, { name, isNamedByDirectory }: RunningName): Fetched {
  const stated = fetched.ok ? fetched.selection.statedSource : undefined;
  if (!fetched.ok || stated === undefined || stated.name === name) return fetched;
  const named = `"${stated.file}" names the source ${stated.name}`;
  if (isNamedByDirectory === true)
    return {
      ok: false,
      reason: `${named}, but this server runs it as ${name} since its start; restart the server, or name the source with --source NAME=DIR.`,
    };
  const warning = `${named}, but it is configured as ${name}, which is used; state the same name in both.`;
  return { ...fetched, warnings: [...fetched.warnings, warning] };
}
