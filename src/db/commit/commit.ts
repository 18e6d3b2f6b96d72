import type { CompiledQuery } from 'kysely';
import type { JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Plan } from '../../plan/plan.ts';
import type { CallerToken } from '../accounts/tokens.ts';
import { eventRow } from '../audit-entry.ts';
import { describeWriter, lockHead, statement } from '../builder.ts';
import { appliedPlanRow } from '../config/plans.ts';
import type { AccountAccess } from '../database.ts';
import type { Lease } from '../leases/leases.ts';
import { peerStatusRow } from '../peers/peer-status.ts';
import { toRepetitionConflict } from '../repeated-requests.ts';
import { commitStatement } from './commit-statement.ts';
import { changeRowsInSteps, type RevisionInput } from './history.ts';
import { type CreatedObjects, countRows, createdIn, rowChangesInSteps } from './rows.ts';
import type { LeaveStatements } from './turns.ts';

/** One or several plans of one account, each computed on the state after the previous plan. */
export interface CommitInput {
  readonly base: Snapshot;
  readonly next: Snapshot;
  readonly revisions: readonly RevisionInput[];
}

/**
 * Result of a commit. `written`, or nothing was written: the revision of the account changed (`moved`), it is the turn
 * of another contender (`turn`), or leases or tokens are lost (`lost`, with the names of the leases and the
 * `lostTokenName` of the tokens).
 */
export type CommitResult = 'written' | 'moved' | 'turn' | { readonly lost: readonly string[] };

/**
 * Writes the plans in one statement, or nothing when the account is no longer at the revision of `base`: the head row
 * is advanced by compare-and-swap, and every other clause depends on it. If the commit was compiled for a contender,
 * nothing is written during the turn of another contender either. With `leaving`, the contender leaves the line when
 * the commit is written.
 */
export async function commit(
  database: AccountAccess,
  compiled: CompiledCommit,
  leaving: LeaveStatements = [],
): Promise<CommitResult> {
  const answer = await send(database, compiled, leaving).catch((error) => Promise.reject(toRepetitionConflict(error)));
  const lost = answer.flatMap(({ lost }) => lost ?? []);
  if (lost.length > 0) return { lost };
  const refusal = refusalIn(answer);
  if (refusal !== undefined) return refusal;
  database.countWrittenRows(compiled.rows);
  return 'written';
}

/**
 * With leases, a first statement locks the head row. When the next statement reads the leases, every earlier attempt to
 * send this commit has ended, and every later attempt finds the same or newer leases. Its result about leases is
 * therefore final, even for an attempt whose answer was lost. The same holds for tokens when a commit is sent again; its
 * first attempt has no other to wait for, and is ended before the commit is sent again.
 */
async function send(
  database: AccountAccess,
  { account, by, isFenced, statement }: CompiledCommit,
  leaving: LeaveStatements,
): Promise<readonly CommitRow[]> {
  const options = { write: true, by };
  if (!isFenced) return (await database.inAccount(account, [statement, ...leaving], options))[0];
  return (await database.inAccount(account, [lockHead(account), statement, ...leaving], options))[1];
}

function leasesOf({ revisions }: CommitInput): readonly Lease[] {
  return [...new Set(revisions.flatMap(({ lease }) => lease ?? []))];
}

function tokensOf({ revisions }: CommitInput): readonly CallerToken[] {
  const tokens = revisions.flatMap(({ token }) => token ?? []);
  return [...new Map(tokens.map((token) => [token.hash, token])).values()];
}

/** Returns why a commit wrote nothing, apart from lost leases and tokens. Returns `undefined` when it was written. */
export function refusalIn(answer: readonly Partial<CommitRow>[]): 'moved' | 'turn' | undefined {
  if (answer.length === 0) return 'moved';
  return answer.some(({ turn }) => typeof turn === 'string') ? 'turn' : undefined;
}

/** Returns the name of the writer of a commit. For a batch, the writer of its first revision. */
function writerOf({ revisions }: CommitInput): string {
  const [first] = revisions;
  return first === undefined ? '' : describeWriter(first);
}

/**
 * Row that the statement of a commit returns. There is no row when the revision of the account changed. `turn` is the
 * contender whose turn it is.
 */
interface CommitRow {
  readonly last_event: number | null;
  readonly lost: string | null;
  readonly turn: string | null;
}

/** A compiled commit, ready to send. */
export interface CompiledCommit {
  readonly account: string;
  /** Name of the writer. */
  readonly by: string;
  /** Whether the head row is locked before leases and tokens are checked. */
  readonly isFenced: boolean;
  readonly statement: CompiledQuery<CommitRow>;
  /** Number of rows that it writes. */
  readonly rows: number;
}

/**
 * Returns the objects with credentials that rollbacks create again. The password of a deleted user may be kept, and must
 * not become valid again with the id.
 */
function restoredCredentialHolders({ next, revisions }: CommitInput): readonly JsonObject[] {
  return revisions
    .filter(({ plan }) => plan.rollback !== undefined)
    .flatMap(({ plan }) => plan.changes)
    .flatMap(({ before, after }) => (before === undefined && after !== undefined ? [after] : []))
    .filter(({ kind }) => next.registry.get(kind).credential === 'beside')
    .map(({ id }) => ({ id }));
}

/**
 * Compiles the statement of a commit. Without a contender, an earlier attempt to send the commit may be running. With
 * `isFirst`, the result may be `moved` when a token is lost. Yields regularly, because a plan of 20,000 documents takes
 * a second.
 */
export function* compileCommit(
  input: CommitInput,
  contender?: string,
  isFirst = false,
): Generator<undefined, CompiledCommit> {
  const { base, next, revisions } = input;
  const touched = new Set(revisions.flatMap(({ plan }) => subjectIds(plan)));
  const created = yield* createdIn(base, next, revisions);
  const rows = yield* rowChangesInSteps(base, next, touched, created);
  const events: JsonObject[] = [];
  const [creating, history]: [JsonObject[], JsonObject[]] = [[], []];
  for (const revision of revisions) {
    for (const row of yield* eventRows(revision)) events.push(row);
    for (const row of yield* changeRowsInSteps(revision)) (isCreating(row, created) ? creating : history).push(row);
  }
  const numbers = next.numbers() === base.numbers() ? null : JSON.stringify(next.numbers());
  const head = [base.account, base.revision, next.revision, events.length, numbers] as const;
  const claims = claimRows(next, revisions);
  const [leases, tokens] = [leasesOf(input), tokensOf(input)];
  const restored = restoredCredentialHolders(input);
  const parts = {
    gone_refs: rows.deleteReferences,
    gone_keys: rows.deleteKeys,
    gone_declared: rows.dropDeclared,
    gone_objects: rows.deleteObjects,
    gone_tokens: rows.deleteCredentialHolders,
    gone_directory: rows.deleteCredentialHolders,
    gone_identities: rows.deleteCredentialHolders,
    gone_people: rows.deleteCredentialHolders,
    gone_invites: rows.deleteCredentialHolders,
    gone_credentials: [
      ...(revisions.some(({ deletesIdpUsers }) => deletesIdpUsers === true) ? rows.deleteCredentialHolders : []),
      ...restored,
    ],
    gone_logins: rows.deleteCredentialHolders,
    gone_overrides: rows.dropOverrides,
    gone_entries: rows.deleteEntries,
    gone_deliveries: rows.deleteDeliveries,
    created: creating,
    new_objects: rows.insertObjects,
    changed_objects: rows.updateObjects,
    changed_sources: sourceRows(base, next, revisions[0]?.at ?? '').filter(({ id }) => !claims.has(String(id))),
    changed_claims: [...claims.values()],
    new_keys: rows.insertKeys,
    new_refs: rows.insertReferences,
    changed_refs: rows.moveReferences,
    new_declared: rows.putDeclared,
    new_overrides: rows.putOverrides,
    new_entries: rows.insertEntries,
    new_deliveries: rows.insertDeliveries,
    new_revisions: revisions.map(revisionRow),
    used_plans: revisions.flatMap(usedPlans),
    kept_values: revisions.flatMap(({ once }) => (once === undefined ? [] : [{ ...once }])),
    new_changes: history,
    new_events: events,
    new_statuses: revisions.flatMap(({ statuses = [] }) => statuses.map(peerStatusRow)),
    new_plans: revisions.flatMap(({ planToStore }) => (planToStore === undefined ? [] : [appliedPlanRow(planToStore)])),
  };
  const required = isFirst && tokens.length === 1 ? { silentToken: tokens[0] } : { tokens };
  const conditions = { leases, ...required, claimedAt: claimSequencesOf(revisions), contender };
  const { text, parameters } = yield* commitStatement(head, parts, conditions);
  return {
    ...{ account: base.account, by: writerOf(input) },
    isFenced: leases.length > 0 || (tokens.length > 0 && contender === undefined),
    statement: statement(text, parameters),
    rows: countRows(rows) + countCreatedRows(next, created) + history.length + events.length,
  };
}

/** Returns the number of rows of `created` objects: their changes, the objects, and their declarations. */
function countCreatedRows(next: Snapshot, created: CreatedObjects): number {
  return [...created.keys()].reduce((sum, id) => sum + 2 + (next.get(id)?.declared.length ?? 0), 0);
}

/** Whether a row of `changes` is the one that creates an object of `created`. */
function isCreating({ action, object_id, revision }: JsonObject, created: CreatedObjects): boolean {
  return action === 'create' && created.get(String(object_id)) === revision;
}

/** Returns the rows of sources whose suspension or rollback the plans change. */
function sourceRows(base: Snapshot, next: Snapshot, at: string): readonly JsonObject[] {
  if (base.settings() === next.settings()) return [];
  return [...next.settings()].flatMap(([id, { suspended, rolledBack }]) => {
    const old = base.settingsOf(id);
    if (old.suspended === suspended && old.rolledBack === rolledBack) return [];
    return [{ id, suspended, rolled_back: rolledBack ?? null, created_at: at }];
  });
}

/**
 * Returns the rows of sources whose claims the commit changes, by source id. They include the other columns of these
 * rows that a commit may change.
 */
function claimRows(next: Snapshot, revisions: readonly RevisionInput[]): ReadonlyMap<string, JsonObject> {
  const updates = revisions.flatMap(({ claims }) => claims?.updates ?? []);
  return new Map(
    updates.map(({ source, claims, at }) => {
      const { suspended, rolledBack } = next.settingsOf(source);
      return [source, { id: source, suspended, rolled_back: rolledBack ?? null, wanted: claims, created_at: at }];
    }),
  );
}

/** Returns the claim sequence numbers with which the plans of a commit were made. */
function claimSequencesOf(revisions: readonly RevisionInput[]): readonly number[] {
  return [...new Set(revisions.flatMap(({ claims }) => claims?.claimSequence ?? []))];
}

function revisionRow({
  revision,
  plan,
  actor,
  requestId,
  httpRequest,
  commitRef,
  commitInfo,
  planId,
  planToStore,
  at,
}: RevisionInput): JsonObject {
  return {
    revision,
    created_at: at,
    actor: { ...actor },
    source_id: plan.source ?? null,
    commit_ref: commitRef ?? null,
    plan_id: planToStore?.id ?? planId ?? null,
    plan_digest: plan.digest,
    request_id: requestId,
    http_request: httpRequest ?? null,
    summary: {
      ...plan.counts,
      ...rollbackOf(plan),
      ...(commitInfo === undefined ? {} : { commit: { ...commitInfo } }),
    },
  };
}

function rollbackOf({ rollback }: Plan): JsonObject {
  return rollback === undefined ? {} : { rollback: { ...rollback } };
}

/**
 * Returns the stored plans that a revision uses up. `delivered`: the caller who applied the plan received its outputs.
 */
function usedPlans({ revision, plan, planId, approved }: RevisionInput): readonly JsonObject[] {
  if (planId === undefined && approved === undefined) return [];
  const delivered = planId !== undefined && plan.outputs.size > 0;
  return [{ revision, id: planId ?? null, source_id: plan.source ?? null, digest: approved ?? null, delivered }];
}

function eventRows(input: RevisionInput): Generator<undefined, readonly JsonObject[]> {
  const { revision, actor, at, events, httpRequest } = input;
  return mapInSteps(events, (event) => eventRow({ actor, event, at }, revision, httpRequest));
}

/** Returns the ids of all objects that a plan changes or claims. */
function subjectIds(plan: Plan): readonly string[] {
  return [...plan.changes, ...plan.claims].flatMap(({ before, after }) => {
    const id = after?.id ?? before?.id;
    return id === undefined ? [] : [id];
  });
}
