import { isObject } from '../../lib/json.ts';
import { cell } from '../terminal/cell.ts';
import { type Paint, printable } from '../terminal/paint.ts';
import { renderSourceTable } from './sources.ts';

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
    ...testFacts(status['accessTests']),
  ];
  const sources = Array.isArray(status['sources']) ? status['sources'].filter(isObject) : [];
  return [
    ...facts.map(([name, text]) => `${paint('faint', name.padEnd(8))}  ${text}`),
    '',
    ...renderSourceTable(sources, paint),
    '',
  ].join('\n');
}

function testFacts(tests: unknown): readonly (readonly [string, string])[] {
  if (!isObject(tests)) return [];
  const { passed, failed, conditional } = tests;
  const open = conditional === 0 ? '' : `, ${cell(conditional)} depending on posture checks`;
  return [['tests', `${cell(passed)} passed, ${cell(failed)} failed${open}`]];
}
