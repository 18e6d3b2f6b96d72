import { type Problem, sortProblems } from '../../model/problem.ts';
import { countText, escapeProse, problemLine, truncateLines } from './markdown-text.ts';

/** Renders problems as Markdown for a change request: a headline, and each problem with its position. */
export function renderFailureMarkdown(message: string, problems: readonly Problem[]): string {
  if (problems.length === 0) return `### ${escapeProse(message)}\n`;
  const lines = truncateLines(sortProblems(problems).map(problemLine));
  return `### ${countText(problems.length, 'problem')}: nothing would be applied\n\n${lines}\n`;
}

/** Renders the result of a successful validation as Markdown for a change request. */
export function renderValidMarkdown(message: string, warnings: readonly Problem[]): string {
  const lines =
    warnings.length === 0 ? '' : `\n**Warnings**\n\n${truncateLines(sortProblems(warnings).map(problemLine))}\n`;
  return `### ${escapeProse(message)}\n${lines}`;
}
