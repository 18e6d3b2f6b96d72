import { join } from 'node:path';
import { directorySettings } from '../../../documents/settings-file.ts';
import { apiVersion } from '../../../model/document.ts';
import { ignoreFile } from '../../../model/sources/file-rules.ts';
import { readText } from '../files/read-text.ts';
import { nameSome } from '../files/selection.ts';
import type { StableReading } from './read-when-stable.ts';

/** The files of a directory that change from one look at it to the next. */
export interface ChangingFiles {
  /** Takes notice of files that changed. */
  note(changed: readonly string[]): Promise<void>;
  /** Those that no reading waits for. */
  leftOut(): ReadonlySet<string>;
  /** One sentence for each that is left out. */
  warnings(): readonly string[];
  /** Those that changed last, with what to do about them. */
  named(): string;
}

/** So often a file that holds no document may change before it is left out. */
const mostChanges = 4;

const mostNamed = 5;

const [group = ''] = apiVersion.split('/');

/** Finds the files of a directory that need not be waited for, beginning with those of the last time. */
export async function findChangingFiles({ path, last, leftOut, statedFiles }: StableReading): Promise<ChangingFiles> {
  const changes = new Map<string, number>();
  /** Those that state objects, or could. */
  const awaited = new Set<string>();
  const without = new Set<string>();
  let stated: ReadonlySet<string> | undefined;
  let latest: readonly string[] = [];
  const isAwaited = async (name: string): Promise<boolean> => {
    // A single file that is named is read, and these files say which others are read.
    if (name === '' || name === ignoreFile || name === directorySettings) return true;
    const file = join(path, name);
    stated ??= await statedFiles();
    // A directory may be called otherwise than when its files were applied.
    if ([...stated].some((known) => known === file || known.endsWith(`/${name}`) || known === name)) return true;
    const before = last?.files.find((one) => one.path === file)?.text;
    // What cannot be read now may be half of a document.
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
        else if (!awaited.has(name) && (changes.get(name) ?? 0) >= mostChanges) without.add(name);
      }
    },
    leftOut: () => new Set(without),
    warnings: () =>
      [...without].map(
        (name) =>
          `"${join(path, name)}" is being written to all the time and is not read, because it holds no document of ours; name it in ${ignoreFile}.`,
      ),
    named() {
      const files = latest.map((name) => `"${join(path, name)}"`).sort();
      if (files.length === 0) return '';
      const isStated = latest.some((name) => awaited.has(name));
      const why = isStated ? ', which holds documents or did, so that nothing is applied without it' : '';
      return `${nameSome(files, mostNamed)}${why}; write files anew beside it and rename them into place, or name them in ${ignoreFile}`;
    },
  };
}
