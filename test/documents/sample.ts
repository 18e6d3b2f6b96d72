import { expect } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { readFile } from '../../src/documents/read.ts';
import type { Problem } from '../../src/model/problem.ts';

/** Returns a small valid document. `spec` is the text after `spec:`. */
export function group(name: string, spec = ' {}'): string {
  return `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${name}\nspec:${spec}\n`;
}

/** Line on which the spec of `group` begins. */
export const specLine = 5;

/** Reads a text as the file `a.yaml`. */
export function read(text: string) {
  return readFile({ path: 'a.yaml', text });
}

/**
 * Returns the only problem of a text, whether or not the text is read as Heddle documents. Throws when there is not
 * exactly one.
 */
export function onlyProblem(text: string): Problem {
  const { problems: own, foreign } = read(text);
  const problems = foreign === undefined ? own : foreign.problems;
  if (problems.length !== 1) throw new Error(`expected one problem, got ${JSON.stringify(problems)}`);
  return problems[0] as Problem;
}

/** Expects that the problems of a text, of which the first has this code, are truncated to the first thousand and a note. */
export function expectTruncated(text: string, code: string): void {
  const { problems } = read(text);
  expect(problems).toHaveLength(limits.fileProblems + 1);
  expect(problems[0]?.code).toBe(code);
  expect(problems.filter((problem) => problem.code === 'file_too_many_problems')).toHaveLength(1);
}
