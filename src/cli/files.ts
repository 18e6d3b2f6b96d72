import { resolve } from 'node:path';
import type { SourceFile } from '../model/document.ts';
import { InvalidInput, Unavailable } from '../model/errors.ts';
import { readDirectory } from '../sources/read-directory.ts';
import { planIn } from './plan-file.ts';
import type { Terminal } from './terminal.ts';

/** The argument of commands that take documents. */
export const pathArgument = {
  placeholder: 'PATH…',
  doc: 'files or directories of YAML or JSON documents, or - for standard input',
};

/** Told of a file that cannot be read, and why. */
type OnUnreadable = (file: string, reason: string) => void;

/**
 * Reads the files of all paths, each once; directories with everything below them. The first that cannot be read ends it,
 * unless somebody wants to hear of all of them.
 */
export async function collectFiles(
  paths: readonly string[],
  terminal: Terminal,
  onUnreadable?: OnUnreadable,
): Promise<readonly SourceFile[]> {
  const files = new Map<string, SourceFile>();
  let unreadable = 0;
  const noting: OnUnreadable | undefined =
    onUnreadable &&
    ((file, reason) => {
      unreadable += 1;
      onUnreadable(file, reason);
    });
  for (const path of new Set(paths)) {
    const found = path === '-' ? [{ path, text: await terminal.readInput() }] : await readPath(path, terminal, noting);
    if (found.length === 0 && unreadable === 0) terminal.note(`"${path}" holds no .yaml, .yml or .json file.\n`);
    for (const file of found) {
      refusePlan(file);
      const id = file.path === '-' ? '-' : resolve(file.path);
      if (!files.has(id)) files.set(id, file);
    }
  }
  return [...files.values()];
}

/** A plan file is read by name, never as documents. */
function refusePlan({ path, text }: SourceFile): void {
  if (planIn(path, text) === undefined) return;
  throw new InvalidInput(
    `${path} holds a plan and no documents; apply it by itself with \`heddle apply ${path}\`, and keep plans apart from documents.`,
  );
}

async function readPath(path: string, terminal: Terminal, onUnreadable?: OnUnreadable): Promise<readonly SourceFile[]> {
  const snapshot = await readDirectory(path, onUnreadable === undefined ? {} : { onUnreadable });
  if (!snapshot.ok) throw new Unavailable(snapshot.reason);
  for (const warning of snapshot.warnings) terminal.note(`${warning}\n`);
  return snapshot.files;
}
