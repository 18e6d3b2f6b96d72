import { isObject } from '../lib/json.ts';
import { type Paint, printable } from './paint.ts';

type Members = { readonly [member: string]: unknown };

/** The state of a server for reading: what it is, what it holds, and a table of its sources. */
export function renderStatus(status: Members, server: string, paint: Paint): string {
  const objects = isObject(status['objects']) ? Object.entries(status['objects']) : [];
  const held = objects
    .filter(([, number]) => number !== 0)
    .map(([kind, number]) => `${cell(number)} ${printable(kind)}`);
  const facts: readonly (readonly [string, string])[] = [
    ['server', `${server}, Heddle ${cell(status['version'])}`],
    ['database', cell(status['database'])],
    ['account', `${cell(status['account'])}, revision ${cell(status['revision'])}`],
    ['objects', held.length === 0 ? 'none' : held.join(', ')],
  ];
  const sources = Array.isArray(status['sources']) ? status['sources'].filter(isObject) : [];
  return [
    ...facts.map(([name, text]) => `${paint('faint', name.padEnd(8))}  ${text}`),
    '',
    ...sourceLines(sources, paint),
    '',
  ].join('\n');
}

const headings = ['SOURCE', 'TYPE', 'STATE', 'OBJECTS', 'REVISION', 'APPLIED'];

function sourceLines(sources: readonly Members[], paint: Paint): readonly string[] {
  if (sources.length === 0) return ['No sources. `heddle serve --source DIR` watches one, `heddle apply` pushes one.'];
  const rows = sources.map((source) => {
    const state = stateOf(source);
    return [
      source['id'],
      source['type'],
      state['state'],
      source['objects'],
      state['lastAppliedRevision'],
      state['lastAppliedAt'],
    ].map(cell);
  });
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [
    paint('strong', line(headings)),
    ...rows.flatMap((row, at) => {
      const { message, state } = stateOf(sources[at] ?? {});
      const style = state === 'applied' ? 'faint' : 'warning';
      return [
        line(row),
        ...(typeof message === 'string' && message !== '' ? [`    ${paint(style, printable(message))}`] : []),
      ];
    }),
  ];
}

function stateOf(source: Members): Members {
  return isObject(source['status']) ? source['status'] : {};
}

function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
