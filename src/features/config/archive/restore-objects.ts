import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import type { ArchiveHeader } from '../../../db/archive/format.ts';
import type { PackedArchive } from '../../../db/archive/packed.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { forEachInSteps } from '../../../lib/steps.ts';
import { Conflict, InvalidInput } from '../../../model/errors.ts';
import { entriesOf } from '../../../model/schema/field-search.ts';
import { writtenFormMembers } from '../../../model/schema/written-form.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isNeverRolledBack } from '../../../plan/rollback/scope.ts';
import type { ApplyRequest } from '../plans/apply-request.ts';
import { applyDocuments, planApply } from '../plans/documents.ts';
import { findRevisionEffect } from '../plans/recover.ts';
import { refusalFor } from '../plans/refusal.ts';
import { checkArchive } from './read.ts';
import type { RestoreReport } from './restore-account.ts';

/**
 * Restores the objects of the caller's account to their state in one of its archives, as one revision: a rollback whose
 * former state comes from the archive instead of the history. It has only the caller's rights, so it does nothing that
 * the caller could not do with other calls. People, credentials, tokens, identities, domains, tenants and the history
 * stay unchanged.
 */
export async function restoreObjects(
  engine: Engine,
  call: Call,
  archive: PackedArchive,
  replace: string | undefined,
): Promise<RestoreReport> {
  const { header, state } = await checkArchive(engine, archive);
  requireConfirmation(call.account, header, replace);
  const { revision } = header;
  const archived = await runInSlices(restorable(state));
  const request: ApplyRequest = {
    ...{ source: '', documents: [], problems: [], locate: (problems) => problems },
    ...{ rollback: { revision, scope: 'all' }, archived },
  };
  const { outcome, before: seen } = await planApply(engine, call, request);
  if (!outcome.ok) throw refusalFor(seen, call, request, outcome.problems);
  const { digest } = outcome.plan;
  // The caller named the account to replace, which confirms that much may be deleted; this approves the guards.
  const result = await applyDocuments(engine, call, { ...request, expectDigest: digest, approve: digest });
  if (result.state === 'invalid') throw refusalFor(seen, call, request, result.problems);
  if (result.state !== 'applied')
    throw new Conflict('stale', 'the account changed while the archive was read; nothing was written, try again');
  const { plan, before } = result;
  const came = { revision: result.revision ?? before.revision, rows: plan.changes.length };
  return { ...reportOf(header, archived), ...came };
}

/**
 * Returns what an earlier attempt, which wrote this revision, restored from the archive. Used when the answer of that
 * attempt was lost. Returns `undefined` when the history does not contain enough.
 */
export async function findRestored(
  engine: Engine,
  call: Call,
  archive: PackedArchive,
  revision: number,
): Promise<RestoreReport | undefined> {
  const done = await findRevisionEffect(engine, call, revision);
  if (done === undefined) return undefined;
  const { header, state } = await checkArchive(engine, archive);
  const archived = await runInSlices(restorable(state));
  return { ...reportOf(header, archived), revision, rows: done.changes.length };
}

function reportOf(
  { account, revision, createdAt }: ArchiveHeader,
  archived: Snapshot,
): Pick<RestoreReport, 'account' | 'restored' | 'createdAt' | 'history' | 'objects'> {
  return { account, restored: revision, createdAt, history: false, objects: archived.size };
}

function requireConfirmation(account: string, header: ArchiveHeader, replace: string | undefined): void {
  if (header.account !== account)
    throw new Conflict(
      'taken',
      `the archive belongs to another account, ${header.account}, but this is ${account}; the operator can restore whole accounts on the server with \`heddle operator restore\``,
    );
  if (replace === account) return;
  if (replace !== undefined)
    throw new InvalidInput(`\`replace\` names ${replace.slice(0, 100)}, but this is the account ${account}`);
  throw new Conflict(
    'taken',
    `all changes that owners made in the account ${account} after revision ${header.revision} (${header.createdAt}) would be undone. Use \`--replace ${account}\` if you want that`,
  );
}

/**
 * Returns the objects as owners declared them, without the facts that the server found out about them: an owner may not
 * import these. Objects that a rollback leaves alone are left out.
 */
function* restorable(state: Snapshot): Generator<undefined, Snapshot> {
  const { registry } = state;
  const put: StoredObject[] = [];
  yield* forEachInSteps(state.objects(), ({ sortKeys: _, ...object }) => {
    // The order of lists is not restored: restored objects are listed after the others.
    if (!isNeverRolledBack(registry.get(object.kind), object))
      put.push({ ...object, derived: declaredValues(state, object) });
  });
  return yield* state.withInSteps({ put, remove: [] });
}

/**
 * Keeps of the derived values only the entry ids, the written form, and the values that the server chose where the
 * declaration leaves the choice to it (`serverChosen`).
 */
function declaredValues({ registry }: Snapshot, { kind, derived }: StoredObject): JsonObject {
  const chosen = entriesOf(registry.get(kind).spec).flatMap(([name, field]) =>
    field.serverChosen === undefined ? [] : [name],
  );
  const kept = new Set(['entry_ids', ...writtenFormMembers, ...chosen]);
  return Object.fromEntries(Object.entries(derived).filter(([name]) => kept.has(name)));
}
