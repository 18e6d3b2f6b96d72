import { equalJson, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { planActions } from '../../model/declare/plan-words.ts';
import type { ChangeView, PlanView, UnitView } from '../../operations/config/plan.ts';
import { accessLine, accessSummary, changesAccess, firstRows } from './access.ts';
import {
  countText,
  escapeHtml,
  escapeProse,
  fenced,
  inlineCode,
  problemLine,
  truncate,
  truncateLines,
} from './markdown-text.ts';
import { noteOf } from './view.ts';

/** Default maximum length of the text, in characters. GitHub accepts comments of 65,536 characters. */
const defaultMaxLength = 60_000;

/** Maximum number of lines about gained and lost access. */
const maxAccessRows = 40;

/** Maximum length of the text about one object, in characters. */
const maxChangeLength = 8_000;

/** Maximum length of the list of pairs, in characters. */
const maxPairsLength = 20_000;

/**
 * Renders a plan as Markdown for change requests: a headline, the parts that need attention, and every change in a
 * collapsed section. `pairs` are diff lines about each pair that gains or loses access. Changes that do not fit into
 * `limit` characters are only counted.
 */
export function renderMarkdown(plan: PlanView, limit = defaultMaxLength, pairs: readonly string[] = []): string {
  const head = [
    headline(plan),
    ...suspensions(plan),
    ...guardLines(plan),
    ...accessLines(plan),
    ...pairLines(pairs),
    ...table(plan),
    ...riskLines(plan),
    ...warningLines(plan),
  ];
  const foot = footer(plan);
  const room = limit - length(head) - length(foot) - moreChangesLine(plan.changes.length).length - 2;
  const changes = fittingChanges(plan.changes, room);
  const left = plan.changes.length - changes.length;
  return [...head, ...changes, ...(left > 0 ? [moreChangesLine(left)] : []), ...foot]
    .map((part) => `${part}\n`)
    .join('\n');
}

/** Each part is followed by two characters: its newline and an empty line. */
function length(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + part.length + 2, 0);
}

function fittingParts(parts: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = parts.findIndex((part) => {
    left -= part.length + 2;
    return left < 0;
  });
  return end < 0 ? parts : parts.slice(0, end);
}

/** Renders the first changes that fit. Stops at the first change that does not fit. */
function fittingChanges(changes: readonly ChangeView[], room: number): readonly string[] {
  const parts: string[] = [];
  let left = room;
  for (const change of changes) {
    const part = renderChange(change);
    left -= part.length + 2;
    if (left < 0) break;
    parts.push(part);
  }
  return parts;
}

function moreChangesLine(changes: number): string {
  return `_and ${countText(changes, 'more change')}, not shown here_`;
}

function headline({ source, counts, claims, rollback }: PlanView): string {
  const subject = source === undefined ? 'Plan' : `Plan for ${inlineCode(source)}`;
  const what = rollback === undefined ? subject : `Plan for the rollback to revision ${rollback.revision}`;
  const { create, update, delete: gone } = counts;
  if (create + update + gone > 0) return `### ${what}: ${create} to create, ${update} to change, ${gone} to delete`;
  const own = claims.length === 0 ? '' : `; ownership of ${countText(claims.length, 'object')} changes`;
  return `### ${what}: no changes${own}`;
}

function guardLines({ guards, state }: PlanView): readonly string[] {
  if (guards.length === 0) return [];
  const heading =
    state === 'approved' ? 'This plan needed an approval and was approved.' : 'This plan needs an approval.';
  return [`> **${heading}**\n${guards.map(({ message }) => `>\n> - ${escapeProse(message)}`).join('\n')}`];
}

function suspensions({ rollback }: PlanView): readonly string[] {
  if (rollback === undefined || rollback.suspends.length === 0) return [];
  return [`Suspends ${rollback.suspends.map(inlineCode).join(', ')}, so that the restored state is kept.`];
}

const marks = { create: '+', update: '~', delete: '-' } as const;

/** Lists who gains and loses access, or nothing when access does not change. */
function accessLines({ access }: PlanView): readonly string[] {
  if (access === undefined || !changesAccess(access)) return [];
  const shown = firstRows(access.groups, maxAccessRows).map(accessLine);
  const left = access.groups.length - shown.length + access.omitted;
  const body = [...shown, ...(left > 0 ? [`# and ${countText(left, 'more line')}`] : [])];
  return [`**${accessSummary(access)}**\n\n${fenced(body)}`];
}

function pairLines(pairs: readonly string[]): readonly string[] {
  if (pairs.length === 0) return [];
  return [collapsible('Access, pair by pair', fitLines(pairs, maxPairsLength))];
}

function collapsible(title: string, lines: readonly string[]): string {
  return `<details><summary>${title}</summary>\n\n${fenced(lines)}\n\n</details>`;
}

/** Counts the created, changed and deleted objects of each kind. */
function table({ changes }: PlanView): readonly string[] {
  if (changes.length === 0) return [];
  const kinds = [...new Set(changes.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const counts = planActions.map(
      (action) => changes.filter((change) => change.kind === kind && change.action === action).length,
    );
    return `| ${kind} | ${counts.join(' | ')} |`;
  });
  return [`| kind | create | change | delete |\n| --- | ---: | ---: | ---: |\n${rows.join('\n')}`];
}

function riskLines({ changes }: PlanView): readonly string[] {
  const risks = changes.flatMap((change) => change.risks.map((risk) => `- ${subject(change)}: ${escapeProse(risk)}`));
  return risks.length === 0 ? [] : [`**Look twice**\n\n${truncateLines(risks)}`];
}

function warningLines({ warnings }: PlanView): readonly string[] {
  return warnings.length === 0 ? [] : [`**Warnings**\n\n${truncateLines(warnings.map(problemLine))}`];
}

function renderChange(change: ChangeView): string {
  const renamed = change.renamedFrom === undefined ? [] : [`  renamed from ${change.renamedFrom}`];
  const replaced = change.replaces === undefined ? [] : [`  re-created to replace id ${change.replaces}`];
  const used = change.usedBy === undefined ? [] : [`  used by ${change.usedBy.join(', ')}`];
  const lines = [...renamed, ...replaced, ...change.units.flatMap((unit) => unitLines(change, unit)), ...used];
  // An update without units changes no field: it moves the object to another parent, for example.
  const body = lines.length === 0 ? [bodyless[change.action]] : fitLines(lines, maxChangeLength);
  return collapsible(`${marks[change.action]} ${summary(change)}`, body);
}

const bodyless = {
  create: '  with its defaults',
  update: '  no field changes',
  delete: '  the whole object',
} as const;

function fitLines(lines: readonly string[], room: number): readonly string[] {
  const shown = fittingParts(lines, room);
  return shown.length === lines.length
    ? lines
    : [...shown, `  and ${countText(lines.length - shown.length, 'more line')}`];
}

function summary({ kind, key, name, file, line }: ChangeView): string {
  const position = file === undefined ? '' : ` (${escapeHtml(file)}:${line})`;
  return `${escapeHtml(kind)} <code>${escapeHtml(key ?? name)}</code>${position}`;
}

function subject({ kind, key, name }: ChangeView): string {
  return `${kind} ${inlineCode(key ?? name)}`;
}

/** Returns the diff lines of one unit. For an entry of a keyed list, only the members that differ. */
function unitLines(change: ChangeView, unit: UnitView): readonly string[] {
  const { path, before, after } = unit;
  const note = noteText(unit);
  if (isEntry(before) && isEntry(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const inner = names.filter((name) => !equalJson(before[name], after[name]));
    return inner.flatMap((name) => sides(`${path}.${name}`, before[name], after[name], note));
  }
  if (change.action === 'create' || before === undefined) return [`+ ${path}${suffixOf(path, after)}${note}`];
  if (after === undefined) return [`- ${path}${suffixOf(path, before)}${note}`];
  return sides(path, before, after, note);
}

function noteText(unit: UnitView): string {
  const note = noteOf(unit);
  return note === undefined ? '' : `  (${note})`;
}

function sides(path: string, before: Json | undefined, after: Json | undefined, note = ''): readonly string[] {
  return [
    ...(before === undefined ? [] : [`- ${path}: ${shown(before)}`]),
    ...(after === undefined ? [] : [`+ ${path}: ${shown(after)}${note}`]),
  ];
}

/** The path of a set element contains the value already, so no value is added. */
function suffixOf(path: string, value: Json | undefined): string {
  return value === undefined || (path.endsWith(']') && !isEntry(value)) ? '' : `: ${shown(value)}`;
}

function shown(value: Json): string {
  return truncate(JSON.stringify(value), 1_000);
}

function footer({ digest, id, baseRevision, expiresAt, state }: PlanView): readonly string[] {
  const about = [
    `digest ${inlineCode(digest)}`,
    `made at revision ${baseRevision}`,
    ...(id === undefined ? [] : [`plan ${inlineCode(id)}`]),
    ...(expiresAt === undefined ? [] : [`valid until ${expiresAt}`]),
  ];
  const approve = state === 'needs_approval' ? `, after ${inlineCode(`heddle approve ${id}`)}` : '';
  const usable = state === 'ready' || state === 'approved' || state === 'needs_approval';
  const how =
    id === undefined || !usable ? [] : [`Apply exactly this with ${inlineCode(`heddle apply ${id}`)}${approve}.`];
  return ['---', [`${about.join(' · ')}.`, ...how].join('\n')];
}

function isEntry(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
