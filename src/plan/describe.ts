import type { Json } from '../lib/json.ts';
import type { ChangeView, UnitView } from './view.ts';

/** One line about a change, for logs: action, object, fields, and where it is declared. */
export function describeChange(change: ChangeView): string {
  const place = change.file === undefined ? '' : ` (${change.file}:${change.line})`;
  const units = change.action === 'update' ? `: ${describeUnits(change.units)}` : '';
  return `${verbs[change.action]} ${change.kind} ${change.key ?? change.name}${units}${place}`;
}

const verbs = { create: 'created', update: 'changed', delete: 'deleted' } as const;

function describeUnits(units: readonly UnitView[]): string {
  const shown = units.slice(0, 5).map(describeUnit);
  return [...shown, ...(units.length > 5 ? [`${units.length - 5} more`] : [])].join(', ');
}

function describeUnit({ path, before, after, reset }: UnitView): string {
  if (before === undefined) return `+${path}${detail(after)}`;
  if (after === undefined) return `-${path}`;
  return `${path} ${brief(before)} → ${brief(after)}${reset === true ? ' (back to its default)' : ''}`;
}

/** The value of a set's element is in its path already. */
function detail(value: Json | undefined): string {
  return value === undefined || value === true || typeof value === 'object' ? '' : ` ${brief(value)}`;
}

function brief(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
