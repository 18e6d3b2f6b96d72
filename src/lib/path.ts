/** The longest path of a file that is taken, as the longest that systems take. */
export const longestPath = 4096;

/** A path without steps that mean nothing: `./config//a.yaml` is `config/a.yaml`, and the directory itself is the empty path. */
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

/** The path below a directory, both normalized; `undefined` for what is not in it. The empty directory holds relative paths. */
export function pathBelow(directory: string, path: string): string | undefined {
  if (directory === '') return path.startsWith('/') || path === '..' || path.startsWith('../') ? undefined : path;
  const start = directory.endsWith('/') ? directory : `${directory}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}
