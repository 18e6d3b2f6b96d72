import { equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { printable } from '../../lib/text/printable.ts';
import type { ChangeView, UnitView } from '../../operations/config/plan.ts';
import { noteOf } from '../../plan/view/view.ts';
import type { Paint } from '../terminal/paint.ts';

/**
 * Returns the lines of a change's units, at least one for each unit. For a changed entry of a keyed list, shows each
 * field that differs.
 */
export function renderUnits(action: ChangeView['action'], units: readonly UnitView[], paint: Paint): readonly string[] {
  if (action !== 'update') return renderWhole(units, paint);
  return units.flatMap((unit) => renderUnit(unit, paint));
}

/**
 * Returns the lines of a new or deleted object. They have no `+` or `-`, because all of them would have the same one.
 * The elements of a set share one line.
 */
function renderWhole(units: readonly UnitView[], paint: Paint): readonly string[] {
  const elements = new Map<string, string[]>();
  const values = units.map(({ path, before, after }) => ({ path, value: after ?? before }));
  for (const { path, value } of values) {
    const element = elementOf(path);
    if (element === undefined || isEntry(value)) continue;
    const names = elements.get(element.list);
    if (names === undefined) elements.set(element.list, [element.name]);
    else names.push(element.name);
  }
  const shown = new Set<string>();
  return values.flatMap(({ path, value }) => {
    const list = elementOf(path)?.list;
    if (list === undefined || isEntry(value)) return fieldLines(path, value, paint);
    if (shown.has(list)) return [];
    shown.add(list);
    return [`${label(list)}: ${(elements.get(list) ?? []).map(printable).join(', ')}`];
  });
}

function renderUnit(unit: UnitView, paint: Paint): readonly string[] {
  const { path, before, after } = unit;
  const note = noteOf(unit);
  const suffix = note === undefined ? '' : ` ${paint('faint', `(${printable(note)})`)}`;
  if (isEntry(before) && isEntry(after)) return changedEntryLines({ ...unit, before, after }, paint);
  if (after === undefined) return removedLines(path, before, paint, suffix);
  if (before === undefined) return addedLines(path, after, paint, suffix);
  return changedLines(path, before, after, paint, suffix);
}

function addedLines(path: string, after: Json, paint: Paint, suffix: string): readonly string[] {
  if (isEntry(after)) return [`${paint('added', `+ ${label(path)}`)}${suffix}`, ...indent(entryLines(after))];
  const value = elementOf(path) === undefined ? `: ${valueText(after)}` : '';
  return [`${paint('added', `+ ${label(path)}`)}${value}${suffix}`];
}

/**
 * Returns the lines of a removed unit. For an element of a set, its name is enough; an entry of a keyed list is shown
 * with its fields.
 */
function removedLines(path: string, before: Json | undefined, paint: Paint, suffix: string): readonly string[] {
  const head = paint('removed', `- ${label(path)}`);
  if (isEntry(before)) return [`${head}${suffix}`, ...indent(entryLines(before))];
  const value = before === undefined || elementOf(path) !== undefined ? '' : `: ${valueText(before)}`;
  return [`${head}${value}${suffix}`];
}

const maxInlineLength = 90;

function changedLines(path: string, before: Json, after: Json, paint: Paint, suffix: string): readonly string[] {
  const [from, to] = [valueText(before), valueText(after)];
  const head = paint('changed', `~ ${label(path)}`);
  if (from.length + to.length <= maxInlineLength) return [`${head}: ${from} → ${to}${suffix}`];
  return [`${head}:${suffix}`, `    ${paint('removed', `- ${from}`)}`, `    ${paint('added', `+ ${to}`)}`];
}

/** Returns lines for the fields in which two entries of a keyed list differ. */
function changedEntryLines(
  { path, before, after, setBy }: UnitView & { readonly before: JsonObject; readonly after: JsonObject },
  paint: Paint,
): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !equalJson(before[name], after[name]))
    .flatMap((name) => {
      const [old, now] = [before[name], after[name]];
      return renderUnit(
        {
          path: `${path}.${name}`,
          ...(old === undefined ? {} : { before: old }),
          ...(now === undefined ? {} : { after: now }),
          ...(setBy === undefined ? {} : { setBy }),
        },
        paint,
      );
    });
}

function fieldLines(path: string, value: Json | undefined, paint: Paint): readonly string[] {
  if (isEntry(value)) return [paint('strong', `${label(path)}:`), ...indent(entryLines(value))];
  return [`${label(path)}: ${valueText(value ?? null)}`];
}

/** Returns lines for the fields of an entry that are not empty. */
function entryLines(entry: JsonObject): readonly string[] {
  return Object.entries(entry)
    .filter(([, value]) => !isBlank(value))
    .map(([name, value]) => `${printable(name)}: ${valueText(value)}`);
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}

/** Returns a value on one line, in the flow style of YAML. Cut off after 2000 characters. */
function valueText(value: Json): string {
  const text = flow(value);
  return text.length <= 2000 ? text : `${text.slice(0, 2000)}… (${text.length} characters)`;
}

function flow(value: Json): string {
  if (typeof value === 'string') return printable(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([name, item]) => `${printable(name)}: ${flow(item)}`)
    .join(', ')}}`;
}

function label(path: string): string {
  return printable(path);
}

function elementOf(path: string): { readonly list: string; readonly name: string } | undefined {
  const at = path.endsWith(']') ? path.indexOf('[') : -1;
  return at < 0 ? undefined : { list: path.slice(0, at), name: path.slice(at + 1, -1) };
}

function isEntry(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlank(value: Json): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
