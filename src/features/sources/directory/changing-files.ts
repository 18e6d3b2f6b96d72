import { join } from 'node:path';
import { settingsFileName } from '../../../documents/settings-file.ts';
import { apiVersion } from '../../../model/document.ts';
import { ignoreFile } from '../../../model/sources/file-rules.ts';
import { readText } from '../files/read-text.ts';
import { describeFirst } from '../files/selection.ts';
import type { StableReadOptions } from './read-when-stable.ts';

/** Tracks the files of a directory that change from one look at the directory to the next. */
export interface ChangingFiles {
  /** Records that these files changed since the last look. */
  note(changed: readonly string[]): Promise<void>;
  /** Returns the files that are left out, so that the reading does not wait for them. */
  leftOut(): ReadonlySet<string>;
  /** Returns one sentence for each file that is left out. */
  warnings(): readonly string[];
  /** Returns the files that changed last, with advice, as part of a message. Empty when none changed. */
  describeLatest(): string;
}

/** Number of changes after which a file that contains no document is left out. */
const maxChanges = 4;

const maxNamedFiles = 5;

const [group = ''] = apiVersion.split('/');

/**
 * Creates a tracker of changing files. It starts with the files that the last reading left out, unless they contain
 * documents.
 */
export async function trackChangingFiles({
  path,
  last,
  leftOut,
  statedFiles,
}: StableReadOptions): Promise<ChangingFiles> {
  const changes = new Map<string, number>();
  /** Files that contain documents, or may contain them. They are never left out. */
  const awaited = new Set<string>();
  const without = new Set<string>();
  let stated: ReadonlySet<string> | undefined;
  let latest: readonly string[] = [];
  const isAwaited = async (name: string): Promise<boolean> => {
    // A single file that is named is always read (its `name` is empty), and these two files decide which others are
    // read.
    if (name === '' || name === ignoreFile || name === settingsFileName) return true;
    const file = join(path, name);
    stated ??= await statedFiles();
    // The directory may have had another path when its files were applied.
    if ([...stated].some((known) => known === file || known.endsWith(`/${name}`) || known === name)) return true;
    const before = last?.files.find((one) => one.path === file)?.text;
    // A file that cannot be read now may be half written. It counts as empty, so its text at the last reading decides.
    const now = await readText(file, file).catch(() => '');
    return [before, now].some((text) => text?.includes(group));
  };
  for (const name of leftOut) if (!(await isAwaited(name))) without.add(name);
  return {
    async note(changed) {
      latest = changed.filter((name) => !without.has(name));
      for (const name of latest) {
        changes.set(name, (changes.get(name) ?? 0) + 1);
        if (!awaited.has(name) && (await isAwaited(name))) awaited.add(name);
        else if (!awaited.has(name) && (changes.get(name) ?? 0) >= maxChanges) without.add(name);
      }
    },
    leftOut: () => new Set(without),
    warnings: () =>
      [...without].map(
        (name) =>
          `"${join(path, name)}" is being written to all the time and is not read, because it contains no Heddle document; add it to ${ignoreFile}.`,
      ),
    describeLatest() {
      const files = latest.map((name) => `"${join(path, name)}"`).sort();
      if (files.length === 0) return '';
      const isStated = latest.some((name) => awaited.has(name));
      const why = isStated ? ', which contains documents or contained them, so nothing is applied without it' : '';
      return `${describeFirst(files, maxNamedFiles)}${why}; write each new version to another file and rename it into place, or add the files to ${ignoreFile}`;
    },
  };
}
