import type { SourceFile } from '../../../model/document.ts';
import type { ListedFile } from '../files/list-files.ts';

/** Remembers files between two looks at a directory, so that only files that may have changed are read. */
export interface FileMemory {
  /** The file as it was read last, if it cannot have changed since. */
  recall(name: string, listed: ListedFile): SourceFile | undefined;
  remember(file: SourceFile, listed: ListedFile, readAt: number): void;
  /** Forgets all but these names. */
  keep(names: ReadonlySet<string>): void;
}

/**
 * A file that was changed shortly before it was read may be changed again without a new stamp, because file systems
 * count time in ticks of some milliseconds; such a file is read again next time. In milliseconds, with room for clocks
 * of network file systems.
 */
const racyMs = 2000;

interface Remembered {
  readonly file: SourceFile;
  readonly stamp: string;
}

/** An empty memory. */
export function createFileMemory(): FileMemory {
  const known = new Map<string, Remembered>();
  return {
    recall(name, { stamp }) {
      const remembered = known.get(name);
      return remembered?.stamp === stamp ? remembered.file : undefined;
    },
    remember(file, { stamp, changedAt }, readAt) {
      if (readAt - changedAt < racyMs) known.delete(file.path);
      else known.set(file.path, { file, stamp });
    },
    keep(names) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    },
  };
}
