import { readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

/** What documents may name with `valueFrom`. */
export interface ValueOptions {
  /** Variables whose names begin with HEDDLE_VALUE_. */
  readonly values: Readonly<Record<string, string>>;
  /** The directory of files; absent: none. */
  readonly valuesDir: string | undefined;
}

/**
 * Looks values up for documents, from the allow-list only: otherwise authors of documents could read the server's own
 * secrets. A file's last line end does not count.
 */
export function createValues({
  values,
  valuesDir,
}: ValueOptions): (origin: string, name: string) => string | undefined {
  return (origin, name) => {
    if (origin === 'envRef') return Object.hasOwn(values, name) && values[name] !== '' ? values[name] : undefined;
    return origin === 'fileRef' && valuesDir !== undefined ? readInside(valuesDir, name) : undefined;
  };
}

function readInside(directory: string, name: string): string | undefined {
  try {
    const root = realpathSync(directory);
    const path = realpathSync(join(root, name));
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? undefined : text;
  } catch {
    // Missing, unreadable or a directory: the document's problem says that the value is not set.
    return undefined;
  }
}
