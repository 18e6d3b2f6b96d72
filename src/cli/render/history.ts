import { isObject } from '../../lib/json.ts';
import { printable } from '../../lib/text/printable.ts';
import type { Revision, RevisionChange, RevisionWithChanges } from '../../operations/config/revisions.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderTable } from '../terminal/table.ts';
import { renderUnits } from './units.ts';

/**
 * Returns a table with one row for each revision. Below each row, its changes to the object that the user asked for.
 */
export function renderRevisions(revisions: readonly Revision[], paint: Paint): string {
  if (revisions.length === 0) return 'No matching revisions.\n';
  const rows = revisions.map((revision) => ({
    cells: [String(revision.revision), timeOf(revision), authorOf(revision), revisionDescription(revision)],
    below: (revision.changes ?? []).flatMap((change) => renderChange(change, paint)),
  }));
  return `${renderTable(['REVISION', 'TIME', 'BY', 'WHAT'], rows, paint).join('\n')}\n`;
}

/** Returns the text of one revision with all of its changes. */
export function renderRevision(revision: RevisionWithChanges, paint: Paint): string {
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
  return [
    paint('strong', `Revision ${revision.revision}: ${revisionDescription(revision)}`),
    ...facts.map(([name, value]) => `  ${String(name).padEnd(7)} ${cell(value)}`),
    ...revision.changes.flatMap((change) => ['', ...renderChange(change, paint)]),
    '',
  ].join('\n');
}

function timeOf({ created_at: time }: Revision): string {
  return printable(time.replace('T', ' ').replace(/\.\d+Z$/, 'Z'));
}

function authorOf({ actor, source, commit, commit_author: author = '' }: Revision): string {
  const from = source === undefined || source === actor.name ? '' : ` for ${source}`;
  const at = commit === undefined ? '' : ` at ${commit.slice(0, 10)}`;
  const by = author === '' ? '' : ` by ${author}`;
  return printable(`${actor.name}${from}${at}${by}`);
}

const actionWords = { create: 'created', update: 'changed', delete: 'deleted', claims: 'changed hands' } as const;

/** Returns a short description of a revision: its number of changes, its type, and the subject of its commit. */
function revisionDescription(revision: Revision): string {
  const { commit_subject: subject = '' } = revision;
  const effect = effectDescription(revision);
  return subject === '' ? effect : `${effect} (${printable(subject)})`;
}

function effectDescription({ counts, rollback, restored }: Revision): string {
  const parts = Object.entries(actionWords).flatMap(([name, word]) =>
    Number(counts[name] ?? 0) > 0 ? [`${counts[name]} ${word}`] : [],
  );
  if (isObject(rollback)) return [`back to revision ${String(rollback['revision'])}`, ...parts].join(', ');
  if (restored !== undefined) return `restored from a backup of revision ${restored}`;
  if (counts['sources'] !== undefined) return 'a source set up, suspended or resumed';
  return parts.length === 0 ? 'declarations only' : parts.join(', ');
}

const actionMarks: Readonly<Record<string, readonly [string, 'added' | 'changed' | 'removed']>> = {
  create: ['+', 'added'],
  update: ['~', 'changed'],
  delete: ['-', 'removed'],
};

function renderChange(change: RevisionChange, paint: Paint): readonly string[] {
  const { action, kind, key, name } = change;
  const [mark, style] = actionMarks[action] ?? ['=', 'changed'];
  const subject = printable(`${kind} ${key ?? name}`);
  const lines = [...unitLines(change, paint), ...metadataLines(change, paint), ...declaredLines(change, paint)];
  return [paint(style, `${mark} ${subject}`), ...lines.map((line) => `    ${line}`)];
}

function unitLines({ action, units }: RevisionChange, paint: Paint): readonly string[] {
  // A deleted object contains all of its former units; its name is enough.
  if (action === 'delete') return [];
  return renderUnits(action === 'create' ? 'create' : 'update', units, paint);
}

function metadataLines({ metadata, action }: RevisionChange, paint: Paint): readonly string[] {
  if (!isObject(metadata) || action === 'create' || action === 'delete') return [];
  return Object.entries(metadata).map(([name, value]) => paint('faint', `${printable(name)} is ${cell(value)}`));
}

function declaredLines({ declared }: RevisionChange, paint: Paint): readonly string[] {
  if (declared === undefined) return [];
  const { stated, released } = declared;
  return [
    ...stated.map(({ source, file, line }) => paint('faint', printable(`stated by ${source} at ${file}:${line}`))),
    ...released.map((source) => paint('faint', printable(`no longer stated by ${source}`))),
  ];
}
