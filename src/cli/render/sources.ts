import { isObject } from '../../lib/json.ts';
import type { Problem } from '../../model/problem.ts';
import { cell } from '../terminal/cell.ts';
import { type Paint, printable } from '../terminal/paint.ts';
import { renderProblems } from '../terminal/problems.ts';
import { renderTable } from '../terminal/table.ts';

type Members = { readonly [member: string]: unknown };

const headings = ['SOURCE', 'TYPE', 'READY', 'REASON', 'OBJECTS', 'REVISION', 'APPLIED'];

/** A table of sources; what is amiss with one stands below it. */
export function renderSourceTable(sources: readonly Members[], paint: Paint): readonly string[] {
  if (sources.length === 0) return ['No sources. `heddle serve --source DIR` watches one, `heddle apply` pushes one.'];
  const rows = sources.map((source) => {
    const status = statusOf(source);
    const ready = conditionsOf(source).find(({ type }) => type === 'Ready');
    const cells = [
      ...[source['id'], source['type'], readyWords[String(ready?.['status'])], ready?.['reason'] ?? status['state']],
      ...[source['objects'], status['lastAppliedRevision'], status['lastAppliedAt']],
    ].map(cell);
    return { cells, below: [...overrideLines(source, paint), ...remarks(source, paint)] };
  });
  return renderTable(headings, rows, paint);
}

const readyWords: Readonly<Record<string, string>> = { True: 'yes', False: 'no', Unknown: 'unknown' };

/** What is to be said of a source beyond its row. */
function remarks(source: Members, paint: Paint): readonly string[] {
  const conditions = conditionsOf(source);
  const { message, state } = statusOf(source);
  const holding = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True');
  const isAmongHolding = (text: unknown) => holding.some((condition) => condition['message'] === text);
  const unready = conditions.filter(
    ({ type, status, message: why }) => type === 'Ready' && status !== 'True' && !isAmongHolding(why),
  );
  if (conditions.length > 0) return [...unready, ...holding].map((condition) => conditionLine(condition, paint));
  if (typeof message !== 'string' || message === '') return [];
  return [paint(state === 'applied' ? 'faint' : 'warning', printable(message))];
}

/** The running overrides of an object. */
function overrideLines({ id, overrides }: Members, paint: Paint): readonly string[] {
  if (!isObject(overrides)) return [];
  const { units, until } = overrides;
  const what = `${cell(units)} ${units === 1 ? 'unit' : 'units'} until ${cell(until)} at the latest`;
  return [`${paint('warning', 'Overridden')}: ${what}; \`heddle drift --source ${cell(id)}\` shows them`];
}

/** One condition: what holds, why, since when. */
function conditionLine({ type, status, reason, message, lastTransitionTime }: Members, paint: Paint): string {
  const word = status === 'True' ? cell(type) : `Not ${cell(type).toLowerCase()}`;
  const style = type === 'Reconciling' ? 'faint' : 'warning';
  const why = typeof message === 'string' && message !== '' ? `: ${printable(message)}` : '';
  return `${paint(style, word)} (${cell(reason)}) since ${cell(lastTransitionTime)}${why}`;
}

/** Everything that is known of one source. */
export function renderSource(source: Members, paint: Paint): string {
  const status = statusOf(source);
  const { id, type, objects, overrides, status: _, suspended: __, generation: ___, ...settings } = source;
  const facts: readonly (readonly [string, unknown])[] = [
    ['source', `${cell(id)} (${cell(type)})`],
    ...Object.entries(settings),
    ['objects', inventoryText(objects, status['inventory'])],
    ['observed', contentText(status['observedDigest'], status['observedCommit'])],
    ['applied', appliedText(status)],
    ['next run', status['nextRunAt']],
    ['asked for', status['lastHandledReconcileAt']],
    ['waits for', approvalText(status)],
    [
      'overrides',
      isObject(overrides) ? `${cell(overrides['units'])}, the last until ${cell(overrides['until'])}` : undefined,
    ],
  ];
  const shown = facts.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  const problems = Array.isArray(status['problems']) ? (status['problems'] as readonly Problem[]) : [];
  return [
    ...shown.map(([name, value]) => `${paint('faint', name.padEnd(width))}  ${cell(value)}`),
    ...section(
      'CONDITIONS',
      conditionsOf(source).map((condition) => conditionRow(condition)),
      paint,
    ),
    ...section('LATEST ATTEMPTS', historyOf(status).map(historyRow), paint),
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

function conditionRow({ type, status, reason, message, lastTransitionTime }: Members): readonly string[] {
  return [type, status, reason, lastTransitionTime, message === '' ? ' ' : message].map(cell);
}

function historyRow({ at, result, revision, commit, digest, message }: Members): readonly string[] {
  const made = typeof revision === 'number' ? `revision ${revision}` : ' ';
  return [cell(at), cell(result), made, contentText(digest, commit), cell(message)];
}

function inventoryText(objects: unknown, inventory: unknown): string {
  const kinds = isObject(inventory) ? Object.entries(inventory).map(([kind, number]) => `${cell(number)} ${kind}`) : [];
  return kinds.length === 0 ? cell(objects) : `${cell(objects)} (${kinds.join(', ')})`;
}

function contentText(digest: unknown, commit: unknown): string {
  if (typeof commit === 'string') return `commit ${commit.slice(0, 12)}`;
  return typeof digest === 'string' ? digest.slice(0, 12) : '';
}

function appliedText(status: Members): string {
  const { lastAppliedRevision: revision, lastAppliedAt: at } = status;
  if (typeof revision !== 'number') return '';
  return `${contentText(status['lastAppliedDigest'], status['lastAppliedCommit'])} as revision ${revision}, ${cell(at)}`.trim();
}

function approvalText({ planDigest, planId }: Members): string {
  if (typeof planDigest !== 'string') return '';
  const how = typeof planId === 'string' ? `: \`heddle approve ${planId}\`` : '';
  return `an approval of the digest ${planDigest}${how}`;
}

function statusOf(source: Members): Members {
  return isObject(source['status']) ? source['status'] : {};
}

function conditionsOf(source: Members): readonly Members[] {
  const { conditions } = statusOf(source);
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
}

function historyOf({ history }: Members): readonly Members[] {
  return Array.isArray(history) ? history.filter(isObject) : [];
}
