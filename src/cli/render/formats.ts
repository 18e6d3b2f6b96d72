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

/** A plan in a format, with who exactly gains and loses access when that was asked for. */
export function formatPlan(format: Format, plan: PlanView, pairs?: PlanPairs): string {
  if (format === 'markdown') return renderMarkdown(plan, undefined, pairs === undefined ? [] : diffPairs(pairs));
  return formatRemarks(format, [...commentOnPlan(plan), ...(pairs === undefined ? [] : remarkPairs(pairs))]);
}

/** What is wrong with documents, or why nothing could be said about them. */
export function formatFailure(
  format: Format,
  message: string,
  problems: readonly Problem[],
  warnings: readonly Problem[] = [],
): string {
  if (format === 'markdown') return renderFailureMarkdown(message, problems);
  const failed: ReviewComment = { level: 'error', code: 'failed', title: 'heddle', message };
  const remarks = problems.length === 0 ? [failed] : commentOnProblems(problems);
  return formatRemarks(format, [...remarks, ...commentOnProblems(warnings, 'warning')]);
}

/** What is to be said about documents that are in order. */
export function formatValid(format: Format, message: string, warnings: readonly Problem[]): string {
  if (format === 'markdown') return renderValidMarkdown(message, warnings);
  return formatRemarks(format, commentOnProblems(warnings, 'warning'));
}

function formatRemarks(format: 'github' | 'gitlab', remarks: readonly ReviewComment[]): string {
  const placed = remarks.map((remark) =>
    remark.file === undefined ? remark : { ...remark, file: pathIn(remark.file) },
  );
  return format === 'github' ? renderGithub(placed) : renderGitlab(placed);
}

/** A path as the platforms know it: from the directory of the pipeline, which is that of the repository. */
function pathIn(file: string): string {
  const path = relative('', file);
  return path.startsWith('..') ? file : path;
}
