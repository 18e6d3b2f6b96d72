import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ChangeView, UnitView } from '../../plan/view/view.ts';
import { unreadable } from '../client.ts';
import { cell } from '../terminal/cell.ts';
import { type Paint, printable } from '../terminal/paint.ts';
import { renderTable } from '../terminal/table.ts';
import { renderUnits } from './units.ts';

/** A revision as the server answers it. */
export type RevisionView = JsonObject & { readonly revision: number };

/** What an answer says about a revision. */
export function revisionIn(body: unknown): RevisionView {
  // The interface says what it holds.
  if (isObject(body) && typeof body['revision'] === 'number') return body as unknown as RevisionView;
  throw unreadable('a revision');
}

/** Revisions, a line each; what they did to the object that was asked for stands below. */
export function renderRevisions(revisions: readonly RevisionView[], paint: Paint): string {
  if (revisions.length === 0) return 'No revision fits.\n';
  const rows = revisions.map((revision) => ({
    cells: [String(revision.revision), timeOf(revision), authorOf(revision), whatOf(revision)],
    below: changesIn(revision).flatMap((change) => renderChange(change, paint)),
  }));
  return `${renderTable(['REVISION', 'TIME', 'BY', 'WHAT'], rows, paint).join('\n')}\n`;
}

/** One revision with everything that it changed. */
export function renderRevision(revision: RevisionView, paint: Paint): string {
  const { source, commit, commit_author: author, commit_subject: subject, plan, digest } = revision;
  const facts = [
    ['made', timeOf(revision)],
    ['by', authorOf(revision)],
    ['source', source],
    ['commit', commit],
    ['author', author],
    ['subject', subject],
    ['plan', plan],
    ['digest', digest],
  ].filter(([, value]) => value !== undefined);
  const changes = changesIn(revision);
  return [
    paint('strong', `Revision ${revision.revision}: ${whatOf(revision)}`),
    ...facts.map(([name, value]) => `  ${String(name).padEnd(7)} ${cell(value)}`),
    ...changes.flatMap((change) => ['', ...renderChange(change, paint)]),
    '',
  ].join('\n');
}

function timeOf({ created_at: time }: RevisionView): string {
  return printable(
    String(time)
      .replace('T', ' ')
      .replace(/\.\d+Z$/, 'Z'),
  );
}

function authorOf({ actor, source, commit, commit_author: author }: RevisionView): string {
  const name = isObject(actor) ? String(actor['name']) : '-';
  const from = source === undefined || source === name ? '' : ` for ${String(source)}`;
  const at = commit === undefined ? '' : ` at ${String(commit).slice(0, 10)}`;
  const by = typeof author === 'string' && author !== '' ? ` by ${author}` : '';
  return printable(`${name}${from}${at}${by}`);
}

const words = { create: 'created', update: 'changed', delete: 'deleted', claims: 'changed hands' } as const;

/** How much a revision did, and what kind of step it was. */
function whatOf(revision: RevisionView): string {
  const { commit_subject: subject } = revision;
  const effect = effectOf(revision);
  return typeof subject === 'string' && subject !== '' ? `${effect} (${printable(subject)})` : effect;
}

function effectOf({ counts, rollback, restored }: RevisionView): string {
  const numbers = isObject(counts) ? counts : {};
  const parts = Object.entries(words).flatMap(([name, word]) =>
    typeof numbers[name] === 'number' && numbers[name] > 0 ? [`${numbers[name]} ${word}`] : [],
  );
  if (isObject(rollback)) return [`back to revision ${String(rollback['revision'])}`, ...parts].join(', ');
  if (restored !== undefined) return `restored from a backup of revision ${String(restored)}`;
  if (numbers['sources'] !== undefined) return 'a source set up, suspended or resumed';
  return parts.length === 0 ? 'nothing but declarations' : parts.join(', ');
}

function changesIn({ changes }: RevisionView): readonly JsonObject[] {
  return Array.isArray(changes) ? changes.filter((change): change is JsonObject => isObject(change)) : [];
}

const marks: Readonly<Record<string, readonly [string, 'added' | 'changed' | 'removed']>> = {
  create: ['+', 'added'],
  update: ['~', 'changed'],
  delete: ['-', 'removed'],
};

function renderChange(change: JsonObject, paint: Paint): readonly string[] {
  const { action, kind, key, name, units } = change;
  const [mark, style] = marks[String(action)] ?? ['=', 'changed'];
  const subject = printable(`${String(kind)} ${String(key ?? name)}`);
  // A deleted object comes with all that it was; its name is enough, unless the document is printed.
  const isGone = action === 'delete';
  const shown =
    isGone || !Array.isArray(units) ? [] : unitLines(action === 'create' ? 'create' : 'update', units, paint);
  const lines = [...shown, ...metadataLines(change, paint), ...declaredLines(change, paint)];
  return [paint(style, `${mark} ${subject}`), ...lines.map((line) => `    ${line}`)];
}

function unitLines(action: ChangeView['action'], units: readonly unknown[], paint: Paint): readonly string[] {
  // The interface says what it holds.
  return renderUnits(action, units as readonly UnitView[], paint);
}

function metadataLines({ metadata, action }: JsonObject, paint: Paint): readonly string[] {
  if (!isObject(metadata) || action === 'create' || action === 'delete') return [];
  return Object.entries(metadata).map(([name, value]) => paint('faint', `${printable(name)} is ${cell(value)}`));
}

function declaredLines({ declared }: JsonObject, paint: Paint): readonly string[] {
  if (!isObject(declared)) return [];
  const { stated, released } = declared;
  const places = (Array.isArray(stated) ? stated : []).filter(isObject);
  const names = Array.isArray(released) ? released.map(String) : [];
  return [
    ...places.map(({ source, file, line }) =>
      paint('faint', printable(`stated by ${String(source)} at ${String(file)}:${String(line)}`)),
    ),
    ...names.map((source) => paint('faint', printable(`no longer stated by ${source}`))),
  ];
}
