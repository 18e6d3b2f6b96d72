import type { SourceGlobs } from '../../../documents/directory-settings.ts';
import { describeBytes, limits } from '../../../documents/limits.ts';
import { isDirectorySettings, settingsFileName } from '../../../documents/settings-file.ts';
import type { SourceFile } from '../../../model/document.ts';
import { ignoreFile } from '../../../model/sources/file-rules.ts';
import { maxFiles } from '../files/list-files.ts';
import { createSelector, digestOfContent, type FileSelection } from '../files/selection.ts';
import { isDocumentFile, Unreadable } from '../files/snapshot.ts';
import type { GitRun } from './program.ts';

/** Runs a plumbing command on the repository. Throws `Unreadable` when the command fails, unless `mayFail` is true. */
export type Plumbing = (
  args: readonly string[],
  options?: { readonly input?: string; readonly outputBytes?: number; readonly mayFail?: boolean },
) => Promise<GitRun>;

/** Document files of a directory in a commit, read from the repository itself: nothing is ever checked out. */
export interface GitTree {
  readonly files: readonly SourceFile[];
  readonly digest: string;
  readonly selection: FileSelection;
}

interface Entry {
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  readonly path: string;
}

const [link, submodule] = ['120000', '160000'];

/**
 * Returns the id of the tree or file at a path in a commit. The same id means the same content. Throws `Unreadable`
 * when the path does not exist.
 */
export async function findTree(git: Plumbing, commit: string, path: string): Promise<string> {
  const { code, output } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}:${path}`], {
    mayFail: true,
  });
  if (code === 0) return output.toString('utf8').trim();
  throw new Unreadable(`commit ${shortId(commit)} has no directory "${path}"; correct \`path\`.`);
}

/** What to read from a commit, and the globs that apply in addition to the rules in the commit. */
export interface TreeRequest {
  readonly id: string;
  readonly path: string;
  readonly globs: SourceGlobs;
}

/** Reads the files of a tree, or a single file. Throws `Unreadable` for content that a source may not have. */
export async function readTree(git: Plumbing, { id, path, globs }: TreeRequest): Promise<GitTree> {
  const { output } = await git(['cat-file', '-t', id]);
  const isTree = output.toString('utf8').trim() === 'tree';
  const entries = isTree ? await listEntries(git, id) : [await readFileEntry(git, id, path)];
  const texts = isTree ? await readRuleFiles(git, entries) : {};
  // Globs do not apply to a single file that is named.
  const selector = createSelector({ root: path, ...texts }, isTree ? globs : {});
  const selected = isTree
    ? entries.filter((entry) => !selector.excludes(entry.path, entry.mode === submodule) && isDocumentEntry(entry))
    : entries;
  const bytes = selected.reduce((total, { size }) => total + size, 0);
  if (selected.length > maxFiles) throw new Unreadable(`it holds more than ${maxFiles} files; use several sources.`);
  if (bytes > limits.revisionBytes)
    throw new Unreadable(
      `it contains ${describeBytes(bytes)} of documents, and the maximum is ${describeBytes(limits.revisionBytes)}; use several sources.`,
    );
  const large = selected.find(({ size }) => size > limits.fileBytes);
  if (large !== undefined) throw tooLarge(large);
  const files = (await readBlobs(git, selected, bytes)).filter(({ path, text }) => !isDirectorySettings(path, text));
  const selection = selector.selection();
  const digest = digestOfContent(
    files.map((file) => ({ relative: file.path, file })),
    selection,
  );
  const prefix = isTree && path !== '' ? `${path}/` : '';
  return { files: files.map((file) => ({ ...file, path: `${prefix}${file.path}` })), digest, selection };
}

/** Reads the files at the top that decide which others are read. */
async function readRuleFiles(git: Plumbing, entries: readonly Entry[]) {
  const found = entries.filter(({ path }) => path === ignoreFile || path === settingsFileName);
  const odd = found.find(({ mode }) => mode === link || mode === submodule);
  if (odd !== undefined) throw new Unreadable(`"${odd.path}" is not a regular file; put the file itself there.`);
  const large = found.find(({ size }) => size > limits.fileBytes);
  if (large !== undefined) throw tooLarge(large);
  const bytes = found.reduce((total, { size }) => total + size, 0);
  const read = new Map((await readBlobs(git, found, bytes)).map(({ path, text }) => [path, text]));
  return { ignore: read.get(ignoreFile), settings: read.get(settingsFileName) };
}

function tooLarge({ path }: Entry): Unreadable {
  return new Unreadable(`"${path}" has more than ${describeBytes(limits.fileBytes)}; split it.`);
}

async function readFileEntry(git: Plumbing, id: string, path: string): Promise<Entry> {
  const { output } = await git(['cat-file', '-s', id]);
  return { mode: '100644', id, size: Number(output.toString('utf8')), path };
}

/** Returns all entries below a tree, with paths relative to it, in byte order. */
async function listEntries(git: Plumbing, tree: string): Promise<readonly Entry[]> {
  const { output } = await git(['ls-tree', '-r', '-z', '-l', tree], { outputBytes: 64 * 1024 * 1024 });
  return output
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [head = '', path = ''] = splitOnce(line, '\t');
      const [mode = '', , id = '', size = ''] = head.split(/ +/);
      return { mode, id, size: Number(size) || 0, path };
    });
}

/** Whether the entry is a document file. Throws `Unreadable` for a submodule or a link that may hide document files. */
function isDocumentEntry({ mode, path }: Entry): boolean {
  const steps = path.split('/');
  if (steps.some((step) => step.startsWith('.'))) return false;
  const name = steps.at(-1) ?? '';
  if (mode === submodule)
    throw new Unreadable(
      `"${path}" is a submodule, which is not followed; put the documents into the repository itself.`,
    );
  // A link without an extension may lead to a directory.
  if (mode === link && (isDocumentFile(name) || !name.includes('.')))
    throw new Unreadable(`"${path}" is a symbolic link, which is not followed; put the file itself there.`);
  return mode !== link && isDocumentFile(name);
}

async function readBlobs(git: Plumbing, entries: readonly Entry[], bytes: number): Promise<readonly SourceFile[]> {
  if (entries.length === 0) return [];
  const input = `${entries.map(({ id }) => id).join('\n')}\n`;
  const { output } = await git(['cat-file', '--batch'], { input, outputBytes: bytes + entries.length * 200 });
  let at = 0;
  return entries.map(({ path, size }) => {
    const begin = output.indexOf(0x0a, at) + 1;
    at = begin + size + 1;
    return { path, text: decodeText(output.subarray(begin, begin + size), path) };
  });
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Unreadable(`"${path}" is not UTF-8 text; save it as UTF-8.`, { cause });
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Returns the short form of a commit id, as it is shown to people. */
export function shortId(commit: string): string {
  return commit.slice(0, 12);
}
