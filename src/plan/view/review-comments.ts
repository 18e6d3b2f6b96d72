import { sha256 } from '../../lib/node-pure.ts';
import type { Problem } from '../../model/problem.ts';
import type { ChangeView, PlanView } from '../../operations/config/plan.ts';
import type { AccessImpact } from '../../operations/config/plan-access.ts';
import { accessLine, accessSummary } from './access.ts';

/** A comment at a position in the documents, for the review of a change request. */
export interface ReviewComment {
  readonly level: 'error' | 'warning' | 'notice';
  /** Stable code that identifies the type of the comment. */
  readonly code: string;
  readonly title: string;
  readonly message: string;
  readonly file?: string;
  /** Line number, starting at 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Returns a comment for each problem. */
export function commentOnProblems(
  problems: readonly Problem[],
  level: ReviewComment['level'] = 'error',
): readonly ReviewComment[] {
  return problems.map(({ code, message, kind, key, file, line, column }) => ({
    ...{ level, code, message, title: kind === undefined ? code : `${kind} ${key ?? ''}`.trim() },
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }));
}

/**
 * Returns the comments about a plan, at the positions where its objects are declared: guards, access and risks first,
 * then warnings, then the changes.
 */
export function commentOnPlan(plan: PlanView): readonly ReviewComment[] {
  return [
    ...plan.guards.map(
      ({ guard, message }): ReviewComment => ({
        ...{ level: 'error', code: `guard_${guard}`, title: 'the plan needs an approval', message },
      }),
    ),
    ...(plan.access === undefined ? [] : commentOnAccess(plan.access)),
    ...plan.changes.flatMap((change) =>
      change.risks.map((risk) => commentOnChange(change, 'warning', 'change_risk', risk)),
    ),
    ...commentOnProblems(plan.warnings, 'warning'),
    ...plan.changes.map((change) => commentOnChange(change, 'notice', `change_${change.action}`, effectOf(change))),
  ];
}

/** Maximum number of lines about gained access, and about lost access. */
const maxAccessRows = 20;

/** Returns one comment for gained and one for lost access, because platforms show only a few comments of a type. */
function commentOnAccess(impact: AccessImpact): readonly ReviewComment[] {
  const none = { pairs: 0, conditional: 0 };
  return (['gained', 'lost'] as const).flatMap((change): readonly ReviewComment[] => {
    if (impact[change].pairs === 0) return [];
    const summary = accessSummary({ ...impact, gained: none, lost: none, [change]: impact[change] });
    const rows = impact.groups.filter((row) => row.change === change).map(accessLine);
    const left = rows.length - maxAccessRows;
    const more = left > 0 ? [`and ${left} more`] : impact.omitted > 0 ? ['and perhaps more'] : [];
    const message = [`${summary.slice(0, -1)}:`, ...rows.slice(0, maxAccessRows), ...more].join('\n');
    return [{ level: 'warning', code: `access_${change}`, title: `access is ${change}`, message }];
  });
}

function commentOnChange(
  change: ChangeView,
  level: ReviewComment['level'],
  code: string,
  message: string,
): ReviewComment {
  const { kind, key, name, file, line } = change;
  return {
    ...{ level, code, message, title: `${kind} ${key ?? name}` },
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}

const verbs = { create: 'would be created', update: 'would be changed', delete: 'would be deleted' } as const;

function effectOf({ kind, key, name, action, units, renamedFrom, usedBy }: ChangeView): string {
  const renamed = renamedFrom === undefined ? '' : ` (until now ${renamedFrom})`;
  const used = usedBy === undefined ? '' : `, which is used by ${usedBy.join(', ')}`;
  const paths = units.map(({ path }) => path);
  const more = paths.length > 8 ? ` and ${paths.length - 8} more` : '';
  const which = action === 'update' && paths.length > 0 ? `: ${paths.slice(0, 8).join(', ')}${more}` : '';
  return `${kind} ${key ?? name}${renamed} ${verbs[action]}${which}${used}`;
}

/** Renders GitHub workflow commands, one per line. GitHub shows them next to the lines that they name. */
export function renderGithub(remarks: readonly ReviewComment[]): string {
  return remarks.map((remark) => `${workflowCommand(remark)}\n`).join('');
}

function workflowCommand({ level, title, message, file, line, column }: ReviewComment): string {
  const properties = [
    ...(file === undefined ? [] : [`file=${escapeProperty(file)}`]),
    ...(file === undefined || line === undefined ? [] : [`line=${line}`]),
    ...(file === undefined || column === undefined ? [] : [`col=${column}`]),
    `title=${escapeProperty(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

const severities = { error: 'major', warning: 'minor', notice: 'info' } as const;

/** Renders a GitLab code quality report, a JSON list. A comment without a file is reported at `.`, line 1. */
export function renderGitlab(remarks: readonly ReviewComment[]): string {
  const seen = new Map<string, number>();
  const issues = remarks.map(({ level, code, title, message, file = '.', line = 1 }) => {
    const identity = JSON.stringify([code, title, message, file]);
    const nth = seen.get(identity) ?? 0;
    seen.set(identity, nth + 1);
    return {
      // GitLab lists each issue on one line.
      description: `${title}: ${message.replaceAll('\n', ' ')}`,
      check_name: code,
      // The fingerprint leaves out the line, so that a comment that only moved counts as the same.
      fingerprint: sha256(`${identity}${nth}`),
      severity: severities[level],
      location: { path: file, lines: { begin: line } },
    };
  });
  return `${JSON.stringify(issues, null, 2)}\n`;
}
