import type { AccessImpact } from '../../operations/config/plan-access.ts';
import { accessLine, accessSummary, firstRows } from '../../plan/view/access.ts';
import { type Paint, printable } from '../terminal/paint.ts';
import { count } from '../terminal/problems.ts';

/** How many lines of a plan show who gains and loses access. */
const mostRows = 30;

/** Who gains and loses access by a plan, one line for each two groups. */
export function renderImpact(impact: AccessImpact, paint: Paint): string {
  const rows = firstRows(impact.groups, mostRows);
  const left = impact.groups.length - rows.length + impact.omitted;
  const lines = rows.map((row) =>
    paint(row.change === 'gained' ? 'added' : 'removed', `  ${printable(accessLine(row))}`),
  );
  const more = left > 0 ? [paint('faint', `  and ${count(left, 'more line')}`)] : [];
  return `${[paint('strong', accessSummary(impact)), ...lines, ...more].join('\n')}\n`;
}
