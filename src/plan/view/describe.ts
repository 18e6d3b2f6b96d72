import { equalJson, isObject, type Json } from '../../lib/json.ts';
import type { ChangeView, UnitView } from '../../operations/config/plan.ts';
import { noteOf } from './view.ts';

/** One line about a change to the object `id`, for logs: action, object, fields, and where it is declared. */
export function describeChange(change: ChangeView, id: string): string {
  const position = change.file === undefined ? '' : ` (${change.file}:${change.line})`;
  const details = change.action === 'update' ? detailsOf(change) : '';
  return `${verbs[change.action]} ${labelOf(change, id)}${details}${position}`;
}

/** Returns the kind of a change's object, and its key, its name, or its id if it has neither. */
export function labelOf({ kind, key, name }: ChangeView, id: string): string {
  return `${kind} ${key ?? (name === '' ? id : name)}`;
}

function detailsOf({ renamedFrom, units }: ChangeView): string {
  const renamed = renamedFrom === undefined ? '' : `renamed from ${renamedFrom}`;
  const parts = [renamed, describeUnits(units)].filter((part) => part !== '');
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

const verbs = { create: 'created', update: 'changed', delete: 'deleted' } as const;

/** Returns the units that differ, on one line. Of many units, only the first few are listed. */
export function describeUnits(units: readonly UnitView[]): string {
  const parts = units.flatMap(innerUnits);
  const shown = parts.slice(0, 5).map(describeUnit);
  return [...shown, ...(parts.length > 5 ? [`${parts.length - 5} more`] : [])].join(', ');
}

function describeUnit(unit: UnitView): string {
  const { path, before, after } = unit;
  const note = noteOf(unit);
  if (before === undefined) return `+${path}${detail(after)}`;
  if (after === undefined) return `-${path}`;
  return `${path} ${shorten(before)} → ${shorten(after)}${note === undefined ? '' : ` (${note})`}`;
}

/** For a changed entry of a keyed list, returns only the members that differ. */
function innerUnits(unit: UnitView): readonly UnitView[] {
  const { path, before, after } = unit;
  if (!isObject(before) || !isObject(after)) return [unit];
  const names = Object.keys({ ...before, ...after }).sort();
  return names.flatMap((name) => {
    // Members of JSON objects are JSON.
    const [old, now] = [before[name], after[name]];
    if (equalJson(old, now)) return [];
    return [
      {
        path: `${path}.${name}`,
        ...(old === undefined ? {} : { before: old }),
        ...(now === undefined ? {} : { after: now }),
      },
    ];
  });
}

/** The value of a set element is part of its path already. */
function detail(value: Json | undefined): string {
  return value === undefined || value === true || typeof value === 'object' ? '' : ` ${shorten(value)}`;
}

/** Returns a value as one line of JSON, shortened when it is long. */
export function shorten(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
