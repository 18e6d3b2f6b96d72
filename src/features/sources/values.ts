import { readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Values that documents may name with `valueFrom`. */
export interface ValueOptions {
  /** Environment variables whose names begin with `HEDDLE_VALUE_`. */
  readonly values: Readonly<Record<string, string>>;
  /** Directory with files of values. `undefined`: there is none. */
  readonly valuesDir: string | undefined;
}

/**
 * Returns a function that looks up values for documents. It uses the allow-list only: otherwise authors of documents
 * could read the server's own secrets. A line end at the end of a file is ignored.
 */
export function createValueLookup({
  values,
  valuesDir,
}: ValueOptions): (origin: string, name: string) => string | undefined {
  return (origin, name) => {
    if (origin === 'envRef') return Object.hasOwn(values, name) && values[name] !== '' ? values[name] : undefined;
    return origin === 'fileRef' && valuesDir !== undefined ? readFileInside(valuesDir, name) : undefined;
  };
}

function readFileInside(directory: string, name: string): string | undefined {
  try {
    const root = realpathSync(directory);
    const path = realpathSync(join(root, name));
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? undefined : text;
  } catch {
    // The file is missing, unreadable or a directory. The problem of the document says that the value is not set.
    return undefined;
  }
}
