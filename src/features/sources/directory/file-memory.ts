import type { SourceFile } from '../../../model/document.ts';
import type { ListedFile } from '../files/list-files.ts';

/** Cache of files between two looks at a directory, so that only files that may have changed are read. */
export interface FileCache {
  /** Returns the file as it was read last, or `undefined` when it may have changed since. */
  recall(name: string, listed: ListedFile): SourceFile | undefined;
  remember(file: SourceFile, listed: ListedFile, readAt: number): void;
  /** Forgets all files except those with these names. */
  retainOnly(names: ReadonlySet<string>): void;
}

/**
 * Minimum age of a change at which a file is cached, in milliseconds. File systems count time in ticks of some
 * milliseconds, so a file that was changed shortly before it was read can change again without a new stamp. Such a file
 * is read again next time. Leaves room for the clocks of network file systems.
 */
const minStableAgeMs = 2000;

interface CachedFile {
  readonly file: SourceFile;
  readonly stamp: string;
}

/** Creates an empty cache of files. */
export function createFileCache(): FileCache {
  const known = new Map<string, CachedFile>();
  return {
    recall(name, { stamp }) {
      const remembered = known.get(name);
      return remembered?.stamp === stamp ? remembered.file : undefined;
    },
    remember(file, { stamp, changedAt }, readAt) {
      if (readAt - changedAt < minStableAgeMs) known.delete(file.path);
      else known.set(file.path, { file, stamp });
    },
    retainOnly(names) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    },
  };
}
