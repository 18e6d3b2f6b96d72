import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pages, root } from './pages.ts';

/** A step of an example: a block of code, and the instruction in its comment. */
interface Step {
  readonly verb: 'file' | 'insert' | 'replace';
  readonly path: string;
  /** Part of the line before which the block is inserted, or which the block replaces. */
  readonly lineText: string;
  readonly code: string;
}

/** Returns the steps of the examples for contributors, in order. */
function exampleSteps(): readonly Step[] {
  const text = pages.find(({ path }) => path === 'docs/contributing.md')?.text ?? '';
  const blocks = text.matchAll(
    /^( *)<!-- (file|insert|replace): ([^\s:]+)(?:: ([^\n]+))? -->\n *```ts\n(.*?)^ *```/gms,
  );
  return [...blocks].map(([, indent = '', verb, path = '', lineText = '', code = '']) => ({
    // The pattern matches only these verbs.
    verb: verb as Step['verb'],
    path,
    lineText: lineText.replace(/^"(.*)"$/, '$1'),
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Copies the sources of the checkout to a directory and adds the examples. */
export async function addExamples(directory: string): Promise<void> {
  for (const name of ['src', 'package.json', 'tsconfig.json'])
    await cp(join(root, name), join(directory, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const step of exampleSteps()) await follow(join(directory, step.path), step);
}

async function follow(path: string, { verb, lineText, code }: Step): Promise<void> {
  if (verb === 'file') {
    await mkdir(dirname(path), { recursive: true });
    return writeFile(path, code);
  }
  const lines = (await readFile(path, 'utf8')).split('\n');
  const at = lines.findIndex((line) => line.includes(lineText));
  if (at < 0) throw new Error(`${path} has no line with ${lineText}`);
  await writeFile(path, lines.toSpliced(at, verb === 'replace' ? 1 : 0, code.trimEnd()).join('\n'));
}
