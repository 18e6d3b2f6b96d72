import { printable } from '../../lib/text/printable.ts';
import type { Problem } from '../../model/problem.ts';
import type { RunningOverride } from '../../operations/config/overrides.ts';
import type { ChangeView, PlanView } from '../../operations/config/plan.ts';
import type { AccessImpact } from '../../operations/config/plan-access.ts';
import { fieldNameOf } from '../../plan/ownership/membership.ts';
import { accessLine, accessSummary, changesAccess, firstRows } from '../../plan/view/access.ts';
import { renderOverrides } from '../override/render.ts';
import type { Paint } from '../terminal/paint.ts';
import { count, positionText, renderWarnings } from '../terminal/problems.ts';
import { renderUnits } from './units.ts';

/** Returns a plan as text: a diff by field, warnings, guards, and a summary line. */
export function renderPlan(plan: PlanView, paint: Paint): string {
  const changes = renderChanges(plan.changes, paint);
  const { overrides = [] } = plan;
  const warnings = renderWarnings(
    plan.warnings.filter((warning) => !isCoveredBy(overrides, warning)),
    paint,
  );
  const guards = plan.guards.map(({ message }) => `  ${paint('warning', '!')} ${printable(message)}\n`).join('');
  return [
    ...(changes === '' ? [] : [changes]),
    ...(warnings === '' ? [] : [warnings]),
    ...(overrides.length === 0
      ? []
      : [`${paint('warning', 'Running overrides:')}\n${renderOverrides(overrides, paint)}`]),
    ...(plan.access === undefined || !changesAccess(plan.access) ? [] : [renderImpact(plan.access, paint)]),
    ...(guards === '' ? [] : [`${paint('warning', 'This plan needs an approval:')}\n${guards}`]),
    `${paint('strong', summaryOf(plan))}\n${ownershipOf(plan)}${suspensionOf(plan)}`,
  ].join('\n');
}

/** Checks whether a warning only repeats what the list of running overrides shows. */
function isCoveredBy(overrides: readonly RunningOverride[], { code, kind, key, path }: Problem): boolean {
  if (code !== 'unit_overridden') return false;
  return overrides.some((one) => one.kind === kind && one.key === key && path?.endsWith(`/${fieldNameOf(one.path)}`));
}

/** Returns one line with the number of changes in a plan. */
export function summaryOf(plan: PlanView): string {
  const { create, update, delete: gone } = plan.counts;
  if (create + update + gone > 0) return `Plan: ${create} to create, ${update} to change, ${gone} to delete.`;
  const claimed = countClaims(plan, 'claim');
  if (claimed > 0) return `No changes; takes ownership of ${count(claimed, 'object')}.`;
  if (plan.rollback !== undefined)
    return `No changes. Everything in scope is as it was at revision ${plan.rollback.revision}.`;
  return 'No changes. The account matches the documents.';
}

/** Returns a sentence on the sources that a rollback suspends. Empty for other plans. */
function suspensionOf({ rollback, changes, claims }: PlanView): string {
  if (rollback === undefined || changes.length + claims.length === 0) return '';
  const names = rollback.suspends.map(printable);
  const to = `Returns to revision ${rollback.revision}`;
  if (names.length === 0) return `${to}.\n`;
  const [sources, them] = names.length === 1 ? ['source', 'it'] : ['sources', 'them'];
  return `${to} and suspends the ${sources} ${names.join(', ')}; \`heddle resume NAME\` lets ${them} run again.\n`;
}

/** Returns a hint on how to approve a plan whose guards tripped. `command` is the command line to repeat. */
export function approvalHint(plan: PlanView, command: string): string {
  const empty =
    plan.rollback === undefined && plan.guards.some(({ guard }) => guard === 'empty')
      ? '\nIf you removed the documents on purpose, you can also use --allow-empty.'
      : '';
  const first =
    plan.id === undefined
      ? ''
      : `\nor have it approved first, by a user with that right, with\n  heddle approve ${plan.id}`;
  return `To apply exactly this plan nevertheless, run\n  ${command} --approve ${plan.digest}${first}${empty}\n`;
}

const actionMarks = { create: ['+', 'added'], update: ['~', 'changed'], delete: ['-', 'removed'] } as const;

/** Returns the lines of all changes. A change of several lines is separated from others by empty lines. */
function renderChanges(changes: readonly ChangeView[], paint: Paint): string {
  const blocks = changes.map((change) => renderChange(change, paint));
  return blocks
    .map((lines, at) => (at > 0 && (lines.length > 1 || (blocks[at - 1]?.length ?? 0) > 1) ? ['', ...lines] : lines))
    .flatMap((lines) => lines.map((line) => `${line}\n`))
    .join('');
}

function renderChange(change: ChangeView, paint: Paint): readonly string[] {
  const [mark, style] = actionMarks[change.action];
  const name = printable(change.key ?? change.name);
  const position = positionText(change);
  const head = `${paint(style, `${mark} ${change.kind} ${name}`)}${position === '' ? '' : `  ${paint('faint', `(${position})`)}`}`;
  const units = renderUnits(change.action, change.units, paint);
  const renamed =
    change.renamedFrom === undefined ? [] : [paint('changed', `renamed from ${printable(change.renamedFrom)}`)];
  // An update without units moves the object to another key or parent.
  const isMoved = units.length + renamed.length === 0 && change.action === 'update';
  const body = isMoved ? [paint('faint', 'none of its fields changes')] : [...renamed, ...units];
  const users =
    change.usedBy === undefined ? [] : [paint('faint', `used by ${change.usedBy.map(printable).join(', ')}`)];
  const risks = change.risks.map((risk) => `${paint('warning', 'risk:')} ${printable(risk)}`);
  return [head, ...[...body, ...users, ...risks].map((line) => `    ${line}`)];
}

/** Returns one sentence each for claims, releases and restatements, which change no value. */
function ownershipOf(plan: PlanView): string {
  const changes = plan.counts.create + plan.counts.update + plan.counts.delete > 0;
  const claimed = countClaims(plan, 'claim');
  const released = countClaims(plan, 'release');
  const restated = countClaims(plan, 'restate');
  const lines = [
    ...(claimed > 0 && changes ? [`Takes ownership of ${unchanged(claimed)}.`] : []),
    ...(released > 0 ? [`Gives up ownership of ${unchanged(released)}.`] : []),
    ...(restated > 0 ? [`Records new declarations about ${unchanged(restated)}.`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function unchanged(objects: number): string {
  return `${count(objects, 'object')} without changing ${objects === 1 ? 'it' : 'them'}`;
}

function countClaims(plan: PlanView, action: PlanView['claims'][number]['action']): number {
  return plan.claims.filter((claim) => claim.action === action).length;
}

/** Maximum number of lines about access in a plan. */
const maxAccessRows = 30;

/** Returns the access that is gained and lost by a plan, one line for each pair of groups. */
function renderImpact(impact: AccessImpact, paint: Paint): string {
  const rows = firstRows(impact.groups, maxAccessRows);
  const left = impact.groups.length - rows.length + impact.omitted;
  const lines = rows.map((row) =>
    paint(row.change === 'gained' ? 'added' : 'removed', `  ${printable(accessLine(row))}`),
  );
  const more = left > 0 ? [paint('faint', `  and ${count(left, 'more line')}`)] : [];
  return `${[paint('strong', accessSummary(impact)), ...lines, ...more].join('\n')}\n`;
}
