import type { Call, Engine } from '../../../commit/engine.ts';
import { requireStoredRevision } from '../../../commit/past-states.ts';
import { readHistoryExtent } from '../../../db/commit/past.ts';
import {
  idsOfKey,
  listRevisions,
  type RevisionFilter,
  readChangesOf,
  readNames,
  readRevision,
} from '../../../db/commit/revisions.ts';
import { isObject } from '../../../lib/json.ts';
import { storedId } from '../../../model/declare/wire-id.ts';
import { NotFound } from '../../../model/errors.ts';
import { aliasIndex } from '../../../model/state/facets.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import type { Revision, RevisionWithChanges } from '../../../operations/config/revisions.ts';
import { createLabeler, type Labeler } from '../../../plan/view/view.ts';
import { type HistoryRow, possibleIdsOf, viewHistoryRow } from './history-view.ts';

/** Filter of the account's history. */
export interface HistoryFilter extends Omit<RevisionFilter, 'objects'> {
  /** Id of an object, or `Kind/key`. A key that the object had in the past matches too. */
  readonly object?: string;
}

/**
 * Returns the account's revisions, newest first. With `object`, returns only the revisions that changed this object,
 * with their changes to it.
 */
export async function listHistory(engine: Engine, call: Call, filter: HistoryFilter): Promise<readonly Revision[]> {
  const { object, ...rest } = filter;
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const objects = object === undefined ? undefined : await idsOf(engine, state, object);
  const heads = await listRevisions(engine.database, call.account, {
    ...rest,
    ...(objects === undefined ? {} : { objects }),
  });
  if (objects === undefined) return heads.map(headOf);
  const revisions = heads.map(({ revision }) => revision);
  const found = await readChangesOf(engine.database, call.account, { revisions, objects });
  const rows = readableRows(state, call, found);
  const label = await labelerOf(engine, state, rows);
  return heads.map((head) => ({
    ...headOf(head),
    changes: rows
      .filter(({ revision }) => revision === head.revision)
      .map((row) => viewHistoryRow(engine.registry, row, label)),
  }));
}

/**
 * Returns one revision with the values of every changed unit before and after. Throws `NotFound`, or `Conflict`
 * (`gone`) when the revision is not kept any more.
 */
export async function showRevision(engine: Engine, call: Call, revision: number): Promise<RevisionWithChanges> {
  const found = await readRevision(engine.database, call.account, revision);
  if (found === undefined) {
    const kept = requireStoredRevision(call.account, revision, await readHistoryExtent(engine.database, call.account));
    // The state at the base revision is available, but the changes that led to it were folded into the base.
    requireStoredRevision(call.account, revision, { ...kept, base: kept.base + 1 });
    throw new NotFound(`revision ${revision} not found`);
  }
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const rows = readableRows(state, call, found.changes);
  const label = await labelerOf(engine, state, rows);
  return { ...headOf(found), changes: rows.map((row) => viewHistoryRow(engine.registry, row, label)) };
}

/** Returns the changes to kinds that the caller may read. */
function readableRows<Row extends HistoryRow>(state: Snapshot, call: Call, rows: readonly Row[]): readonly Row[] {
  const isReadable = createKindNameReadCheck(state, call);
  return rows.filter(({ kind }) => isReadable(kind));
}

/** Returns the ids that a text may refer to: the text is an id, or a kind with a key that objects have or had. */
async function idsOf(engine: Engine, state: Snapshot, text: string): Promise<readonly string[]> {
  const at = text.indexOf('/');
  const kind = at < 0 ? undefined : engine.registry.find(text.slice(0, at));
  if (kind === undefined) return [text];
  const name = text.slice(at + 1);
  const present = [
    state.findByKey(kind.name, name),
    ...state.lookUp(kind.name, aliasIndex, name),
    ...state.lookUp(kind.name, 'name', name),
  ].flatMap((object) => (object === undefined ? [] : [object.id]));
  const past = await idsOfKey(engine.database, state.account, kind.name, name);
  const id = storedId(kind, name.replace(/^id:/, ''));
  return [...new Set([...present, ...past, ...(id === undefined ? [] : [id])])];
}

/**
 * Returns a function that names ids: with the current name of an object that exists, with the last known name of a
 * deleted one.
 */
async function labelerOf(engine: Engine, state: Snapshot, rows: readonly HistoryRow[]): Promise<Labeler> {
  const present = createLabeler(state, state);
  const unknown = possibleIdsOf(rows).filter((text) => state.get(text) === undefined);
  const past = await readNames(engine.database, state.account, unknown);
  return (id) => present(id) ?? past.get(id);
}

type RevisionHead = Awaited<ReturnType<typeof listRevisions>>[number];

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type RollbackInfo = NonNullable<RevisionWithChanges['rollback']>;

function headOf(row: RevisionHead): Omit<RevisionWithChanges, 'changes'> {
  const { rollback, restored, commit, ...counts } = row.summary;
  return {
    revision: row.revision,
    created_at: row.created_at.toISOString(),
    actor: row.actor,
    ...(row.source_id === null ? {} : { source: row.source_id }),
    ...(row.commit_ref === null ? {} : { commit: row.commit_ref }),
    ...(isObject(commit) ? { commit_author: text(commit['author']), commit_subject: text(commit['subject']) } : {}),
    ...(row.plan_id === null ? {} : { plan: row.plan_id }),
    ...(row.plan_digest === null ? {} : { digest: row.plan_digest }),
    request: row.request_id,
    ...(row.http_request === null ? {} : { request_id: row.http_request }),
    counts,
    // A rollback commit writes the member in this form.
    ...(rollback === undefined ? {} : { rollback: rollback as RollbackInfo }),
    ...(restored === undefined ? {} : { restored }),
  };
}
