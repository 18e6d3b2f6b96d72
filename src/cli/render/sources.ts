import { printable } from '../../lib/text/printable.ts';
import type { Source } from '../../operations/config/sources.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderProblems } from '../terminal/problems.ts';
import { renderTable } from '../terminal/table.ts';

type Status = Source['status'];
type Condition = NonNullable<Status['conditions']>[number];
type Attempt = NonNullable<Status['history']>[number];

const headings = ['SOURCE', 'TYPE', 'READY', 'REASON', 'OBJECTS', 'REVISION', 'APPLIED'];

/** Returns the lines of a table of sources. Below each row, the problems of the source. */
export function renderSourceTable(sources: readonly Source[], paint: Paint): readonly string[] {
  if (sources.length === 0)
    return ['No sources. `heddle serve --source DIR` watches a directory, `heddle apply` pushes documents.'];
  const rows = sources.map((source) => {
    const { id, type, objects, status } = source;
    const ready = status.conditions?.find((condition) => condition.type === 'Ready');
    const cells = [
      ...[id, type, ready && readyWords[ready.status], ready?.reason ?? status.state],
      ...[objects, status.lastAppliedRevision, status.lastAppliedAt],
    ].map(cell);
    return { cells, below: [...overrideLines(source, paint), ...remarks(source, paint)] };
  });
  return renderTable(headings, rows, paint);
}

const readyWords: Readonly<Record<Condition['status'], string>> = { True: 'yes', False: 'no', Unknown: 'unknown' };

/** Returns lines about a source that its row does not contain: its conditions, or its message. */
function remarks({ status }: Source, paint: Paint): readonly string[] {
  const { conditions = [], message = '', state } = status;
  const holding = conditions.filter((one) => one.type !== 'Ready' && one.status === 'True');
  const isAmongHolding = (text: string) => holding.some((condition) => condition.message === text);
  const unready = conditions.filter(
    (one) => one.type === 'Ready' && one.status !== 'True' && !isAmongHolding(one.message),
  );
  if (conditions.length > 0) return [...unready, ...holding].map((condition) => conditionLine(condition, paint));
  if (message === '') return [];
  return [paint(state === 'applied' ? 'faint' : 'warning', printable(message))];
}

/** Returns a line about the running overrides on objects of a source. */
function overrideLines({ id, overrides }: Source, paint: Paint): readonly string[] {
  if (overrides === undefined) return [];
  const { units, until } = overrides;
  const what = `${cell(units)} ${units === 1 ? 'unit' : 'units'} until ${cell(until)} at the latest`;
  return [`${paint('warning', 'Overridden')}: ${what}; \`heddle drift --source ${cell(id)}\` shows them`];
}

/** Returns the line of one condition: type, reason, time of the last transition, and message. */
function conditionLine({ type, status, reason, message, lastTransitionTime }: Condition, paint: Paint): string {
  const word = status === 'True' ? cell(type) : `Not ${cell(type).toLowerCase()}`;
  const style = type === 'Reconciling' ? 'faint' : 'warning';
  const why = message !== '' ? `: ${printable(message)}` : '';
  return `${paint(style, word)} (${cell(reason)}) since ${cell(lastTransitionTime)}${why}`;
}

/** Returns the text with all details of one source. */
export function renderSource(source: Source, paint: Paint): string {
  const { id, type, objects, overrides, status, suspended: _, generation: __, ...settings } = source;
  const { conditions = [], history = [], problems = [] } = status;
  const facts: readonly (readonly [string, unknown])[] = [
    ['source', `${cell(id)} (${cell(type)})`],
    ...Object.entries(settings),
    ['objects', inventoryText(objects, status.inventory)],
    ['observed', contentText(status.observedDigest, status.observedCommit)],
    ['applied', appliedText(status)],
    ['next run', status.nextRunAt],
    ['asked for', status.lastHandledReconcileAt],
    ['waits for', approvalText(status)],
    ['overrides', overrides === undefined ? undefined : `${overrides.units}, the last until ${overrides.until}`],
  ];
  const shown = facts.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return [
    ...shown.map(([name, value]) => `${paint('faint', name.padEnd(width))}  ${cell(value)}`),
    ...section('CONDITIONS', conditions.map(conditionRow), paint),
    ...section('LATEST ATTEMPTS', history.map(historyRow), paint),
    ...(problems.length === 0 ? [] : ['', renderProblems(problems, paint).trimEnd()]),
    '',
  ].join('\n');
}

function section(title: string, rows: readonly (readonly string[])[], paint: Paint): readonly string[] {
  if (rows.length === 0) return [];
  const lines = renderTable(
    [],
    rows.map((cells) => ({ cells })),
    paint,
  );
  return ['', paint('strong', title), ...lines];
}

function conditionRow({ type, status, reason, message, lastTransitionTime }: Condition): readonly string[] {
  return [type, status, reason, lastTransitionTime, message === '' ? ' ' : message].map(cell);
}

function historyRow({ at, result, revision, commit, digest, message }: Attempt): readonly string[] {
  const made = revision !== undefined ? `revision ${revision}` : ' ';
  return [cell(at), cell(result), made, contentText(digest, commit), cell(message)];
}

function inventoryText(objects: number, inventory: Status['inventory'] = {}): string {
  const kinds = Object.entries(inventory).map(([kind, number]) => `${number} ${kind}`);
  return kinds.length === 0 ? String(objects) : `${objects} (${kinds.join(', ')})`;
}

function contentText(digest = '', commit?: string): string {
  return commit === undefined ? digest.slice(0, 12) : `commit ${commit.slice(0, 12)}`;
}

function appliedText({ lastAppliedRevision, lastAppliedAt, lastAppliedDigest, lastAppliedCommit }: Status): string {
  if (lastAppliedRevision === undefined) return '';
  return `${contentText(lastAppliedDigest, lastAppliedCommit)} as revision ${lastAppliedRevision}, ${cell(lastAppliedAt)}`.trim();
}

function approvalText({ planDigest, planId }: Status): string {
  if (planDigest === undefined) return '';
  const how = planId === undefined ? '' : `: \`heddle approve ${planId}\``;
  return `an approval of the digest ${planDigest}${how}`;
}
