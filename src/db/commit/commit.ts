import type { CompiledQuery } from 'kysely';
import type { JsonObject } from '../../lib/json.ts';
import { mapInSteps } from '../../lib/steps.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Plan } from '../../plan/plan.ts';
import { eventRow } from '../audit-entry.ts';
import { describeWriter, lockHead, statement } from '../builder.ts';
import { appliedPlanRow } from '../config/plans.ts';
import type { AccountAccess } from '../database.ts';
import type { Lease } from '../leases/leases.ts';
import { statusRow } from '../peers/peer-status.ts';
import { conflictOfRepetition } from '../repeated-requests.ts';
import { commitStatement } from './commit-statement.ts';
import { changeRowsInSteps, type RevisionInput } from './history.ts';
import { countRows, rowChangesInSteps } from './rows.ts';
import type { Leaving } from './turns.ts';

/** One or several plans of one account, each computed on what its predecessor leaves. */
export interface CommitInput {
  readonly base: Snapshot;
  readonly next: Snapshot;
  readonly revisions: readonly RevisionInput[];
}

/**
 * What became of a commit: written, or nothing because the account has moved on, because it is another one's turn, or because
 * these leases are lost.
 */
export type CommitResult = 'written' | 'moved' | 'turn' | { readonly lost: readonly string[] };

/**
 * Writes the plans in one statement, or nothing when the account has moved on from `base`: the head row is advanced by
 * compare-and-swap and everything else hangs on it. During the turn of another contender nothing is written either, if it
 * was compiled for one; otherwise turns do not matter. With `leaving` it leaves the line of those who take turns, if
 * it is written.
 */
export async function commit(
  database: AccountAccess,
  compiled: CompiledCommit,
  leaving: Leaving = [],
): Promise<CommitResult> {
  const answer = await send(database, compiled, leaving).catch((error) => Promise.reject(conflictOfRepetition(error)));
  const lost = answer.flatMap(({ lost }) => lost ?? []);
  if (lost.length > 0) return { lost };
  const refusal = refusalIn(answer);
  if (refusal !== undefined) return refusal;
  database.wrote(compiled.rows);
  return 'written';
}

/**
 * With leases the head row is locked by a statement before: when the leases are looked at, every earlier sending of this
 * commit is over, and every later one finds the same or newer ones. So what it says of them is final, also for a sending
 * whose answer was lost.
 */
async function send(
  database: AccountAccess,
  { account, by, isFenced, statement }: CompiledCommit,
  leaving: Leaving,
): Promise<readonly CommitRow[]> {
  const options = { write: true, by };
  if (!isFenced) return (await database.inAccount(account, [statement, ...leaving], options))[0];
  return (await database.inAccount(account, [lockHead(account), statement, ...leaving], options))[1];
}

function leasesOf({ revisions }: CommitInput): readonly Lease[] {
  return [...new Set(revisions.flatMap(({ lease }) => lease ?? []))];
}

/** Why a commit that wrote nothing did so, leases aside. */
export function refusalIn(answer: readonly Partial<CommitRow>[]): 'moved' | 'turn' | undefined {
  if (answer.length === 0) return 'moved';
  return answer.some(({ turn }) => typeof turn === 'string') ? 'turn' : undefined;
}

/** On whose behalf a commit is written: for a batch the name of the first. */
function writerOf({ revisions }: CommitInput): string {
  const [first] = revisions;
  return first === undefined ? '' : describeWriter(first);
}

/** What the statement of a commit answers: nothing when the account has moved on. `turn` is whose it is. */
interface CommitRow {
  readonly last_event: number | null;
  readonly lost: string | null;
  readonly turn: string | null;
}

/** A commit that is ready to be sent. */
export interface CompiledCommit {
  readonly account: string;
  /** On whose behalf it is. */
  readonly by: string;
  /** It is written only while leases are held. */
  readonly isFenced: boolean;
  readonly statement: CompiledQuery<CommitRow>;
  /** How many rows it writes. */
  readonly rows: number;
}

/** Makes the statement of a commit. Yields now and then: of a plan of 20,000 documents it takes a second. */
export function* compileCommit(input: CommitInput, contender?: string): Generator<undefined, CompiledCommit> {
  const { base, next, revisions } = input;
  const touched = new Set(revisions.flatMap(({ plan }) => subjectIds(plan)));
  const rows = yield* rowChangesInSteps(base, next, touched);
  const events: JsonObject[] = [];
  const history: JsonObject[] = [];
  for (const revision of revisions) {
    for (const row of yield* eventRows(revision)) events.push(row);
    for (const row of yield* changeRowsInSteps(revision)) history.push(row);
  }
  const numbers = next.numbers() === base.numbers() ? null : JSON.stringify(next.numbers());
  const head = [base.account, base.revision, next.revision, events.length, numbers] as const;
  const claims = claimRows(next, revisions);
  const leases = leasesOf(input);
  const parts = {
    gone_refs: rows.deleteReferences,
    gone_keys: rows.deleteKeys,
    gone_declared: rows.dropDeclared,
    gone_objects: rows.deleteObjects,
    gone_tokens: rows.deleteHolders,
    gone_directory: rows.deleteHolders,
    gone_identities: rows.deleteHolders,
    gone_people: rows.deleteHolders,
    gone_invites: rows.deleteHolders,
    gone_credentials: revisions.some(({ forgets }) => forgets === true) ? rows.deleteHolders : [],
    gone_logins: rows.deleteHolders,
    gone_overrides: rows.dropOverrides,
    gone_entries: rows.deleteEntries,
    gone_deliveries: rows.deleteDeliveries,
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
    new_statuses: revisions.flatMap(({ statuses = [] }) => statuses.map(statusRow)),
    new_plans: revisions.flatMap(({ kept }) => (kept === undefined ? [] : [appliedPlanRow(kept)])),
  };
  const conditions = { leases, claimedAt: claimedAt(revisions), contender };
  const { text, parameters } = yield* commitStatement(head, parts, conditions);
  return {
    ...{ account: base.account, by: writerOf(input), isFenced: leases.length > 0 },
    statement: statement(text, parameters),
    rows: countRows(rows) + history.length + events.length,
  };
}

/** The sources that a plan suspends, or whose rollback it settles. */
function sourceRows(base: Snapshot, next: Snapshot, at: string): readonly JsonObject[] {
  if (base.settings() === next.settings()) return [];
  return [...next.settings()].flatMap(([id, { suspended, rolledBack }]) => {
    const old = base.settingsOf(id);
    if (old.suspended === suspended && old.rolledBack === rolledBack) return [];
    return [{ id, suspended, rolled_back: rolledBack ?? null, created_at: at }];
  });
}

/** The claims that a commit leaves, by source, with what else may change of the rows of these sources. */
function claimRows(next: Snapshot, revisions: readonly RevisionInput[]): ReadonlyMap<string, JsonObject> {
  const updates = revisions.flatMap(({ claims }) => claims?.put ?? []);
  return new Map(
    updates.map(({ source, claims, at }) => {
      const { suspended, rolledBack } = next.settingsOf(source);
      return [source, { id: source, suspended, rolled_back: rolledBack ?? null, wanted: claims, created_at: at }];
    }),
  );
}

/** The claims that the plans of a commit were made with. */
function claimedAt(revisions: readonly RevisionInput[]): readonly number[] {
  return [...new Set(revisions.flatMap(({ claims }) => claims?.at ?? []))];
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
  kept,
  at,
}: RevisionInput): JsonObject {
  return {
    revision,
    created_at: at,
    actor: { ...actor },
    source_id: plan.source ?? null,
    commit_ref: commitRef ?? null,
    plan_id: kept?.id ?? planId ?? null,
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

/** Which stored plans a revision uses up. The caller who applied one got its outputs. */
function usedPlans({ revision, plan, planId, approved }: RevisionInput): readonly JsonObject[] {
  if (planId === undefined && approved === undefined) return [];
  const delivered = planId !== undefined && plan.outputs.size > 0;
  return [{ revision, id: planId ?? null, source_id: plan.source ?? null, digest: approved ?? null, delivered }];
}

function eventRows(input: RevisionInput): Generator<undefined, readonly JsonObject[]> {
  const { revision, actor, at, events, httpRequest } = input;
  return mapInSteps(events, (event) => eventRow({ actor, event, at }, revision, httpRequest));
}

/** The ids of all objects that a plan changes or claims. */
function subjectIds(plan: Plan): readonly string[] {
  return [...plan.changes, ...plan.claims].flatMap(({ before, after }) => {
    const id = after?.id ?? before?.id;
    return id === undefined ? [] : [id];
  });
}
