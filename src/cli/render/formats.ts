import { relative } from 'node:path';
import type { Problem } from '../../model/problem.ts';
import type { PlanView } from '../../operations/config/plan.ts';
import type { PlanPairs } from '../../operations/config/plan-access.ts';
import { renderMarkdown } from '../../plan/view/markdown.ts';
import { renderFailureMarkdown, renderValidMarkdown } from '../../plan/view/markdown-problems.ts';
import {
  commentOnPlan,
  commentOnProblems,
  type ReviewComment,
  renderGithub,
  renderGitlab,
} from '../../plan/view/review-comments.ts';
import type { Format } from '../formats.ts';
import { diffPairs, remarkPairs } from '../plan/plan-pairs.ts';

/** Returns a plan in a format, with the pairs that gain or lose access if they were requested. */
export function formatPlan(format: Format, plan: PlanView, pairs?: PlanPairs): string {
  if (format === 'markdown') return renderMarkdown(plan, undefined, pairs === undefined ? [] : diffPairs(pairs));
  return formatReviewComments(format, [...commentOnPlan(plan), ...(pairs === undefined ? [] : remarkPairs(pairs))]);
}

/** Returns a failure in a format: the problems of documents, or the message when there are none. */
export function formatFailure(
  format: Format,
  message: string,
  problems: readonly Problem[],
  warnings: readonly Problem[] = [],
): string {
  if (format === 'markdown') return renderFailureMarkdown(message, problems);
  const failed: ReviewComment = { level: 'error', code: 'failed', title: 'heddle', message };
  const remarks = problems.length === 0 ? [failed] : commentOnProblems(problems);
  return formatReviewComments(format, [...remarks, ...commentOnProblems(warnings, 'warning')]);
}

/** Returns the result for valid documents in a format, with their warnings. */
export function formatValid(format: Format, message: string, warnings: readonly Problem[]): string {
  if (format === 'markdown') return renderValidMarkdown(message, warnings);
  return formatReviewComments(format, commentOnProblems(warnings, 'warning'));
}

function formatReviewComments(format: 'github' | 'gitlab', remarks: readonly ReviewComment[]): string {
  const withRelativePaths = remarks.map((remark) =>
    remark.file === undefined ? remark : { ...remark, file: toRelativePath(remark.file) },
  );
  return format === 'github' ? renderGithub(withRelativePaths) : renderGitlab(withRelativePaths);
}

/** Returns the path relative to the working directory, which a CI platform expects to be the top of the repository. */
function toRelativePath(file: string): string {
  const path = relative('', file);
  return path.startsWith('..') ? file : path;
}
