import { readFile } from '../../src/documents/read.ts';
import type { Problem } from '../../src/model/problem.ts';

/** A small valid document; `spec` is the text after `spec:`. */
export function group(name: string, spec = ' {}'): string {
  return `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${name}\nspec:${spec}\n`;
}

/** The line on which the spec of `group` begins. */
export const specLine = 5;

/** Reads a text as the file `a.yaml`. */
export function read(text: string) {
  return readFile({ path: 'a.yaml', text });
}

/** The one problem of a text, be it taken for documents or not. */
export function onlyProblem(text: string): Problem {
  const { problems: own, foreign } = read(text);
  const problems = foreign === undefined ? own : foreign.problems;
  if (problems.length !== 1) throw new Error(`expected one problem, got ${JSON.stringify(problems)}`);
  return problems[0] as Problem;
}
