/** Maximum length of a file path, in characters. The same as the maximum of common operating systems. */
export const maxPathLength = 4096;

/**
 * Removes empty and `.` segments and resolves `..`: `./config//a.yaml` becomes `config/a.yaml`. The current directory
 * becomes the empty path.
 */
export function normalizePath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    const isBack = step === '..' && steps.length > 0 && steps.at(-1) !== '..';
    if (isBack) steps.pop();
    else steps.push(step);
  }
  return `${path.startsWith('/') ? '/' : ''}${steps.join('/')}`;
}

/**
 * Returns the path relative to a directory, both normalized. Returns `undefined` when the path is not in the directory.
 * The empty directory contains all relative paths that do not start with `..`.
 */
export function pathBelow(directory: string, path: string): string | undefined {
  if (directory === '') return path.startsWith('/') || path === '..' || path.startsWith('../') ? undefined : path;
  const start = directory.endsWith('/') ? directory : `${directory}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}
