import type { Actor } from '../model/actor.ts';
import type { Document, ForeignFile } from '../model/document.ts';
import type { FileRules } from '../model/file-rules.ts';
import type { AuditEvent } from '../model/kind.ts';
import type { Means } from '../model/means.ts';
import type { CommitInfo } from '../model/object.ts';
import { type Problem, sortProblems } from '../model/problem.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { meansOfPush, meansOfSource, type PushedValues } from '../model/values.ts';
import { stuckIn, waitingKeys } from '../plan/contested.ts';
import { planDocuments } from '../plan/documents.ts';
import { judgeForeign } from '../plan/foreign-files.ts';
import { type RequestedOptions, requestedOptions } from '../plan/options.ts';
import type { Outcome, Plan } from '../plan/plan.ts';
import { planRollback } from '../plan/rollback.ts';
import { limitSize } from '../plan/size.ts';
import type { DocumentsInput } from '../plan/stated-object.ts';
import type { AccountAccess } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import type { SavedPlan } from '../store/plans.ts';
import { afterCommit } from './bookkeeping.ts';
import type { Mutation, Propose } from './commit.ts';
import type { Call, Engine } from './engine.ts';
import { type AlsoUsedBy, planAmongInvites } from './invited.ts';
import { moveDocuments } from './moved-documents.ts';
import { keepOutputs } from './outputs.ts';
import { type Locator, placeOutcome, placeProblems, placeWarnings } from './places.ts';
import { reviewAccess } from './review-access.ts';
import { isAgreed, type RollbackRequest, settleAgreed } from './rolled-back.ts';
import { runInSlices } from './slices.ts';
import { refuseByHand, refuseSuspended } from './suspended.ts';
import { claimsAfter, noClaims, noteClaims, type PendingClaims, type Refused, readClaims } from './wanted.ts';

/** What a source wants. */
export interface Desire extends RequestedOptions, Locator {
  readonly source: string;
  readonly documents: readonly Document[];
  /** What reading found wrong; with any of these nothing is applied, but the rest is checked all the same. */
  readonly problems: readonly Problem[];
  /** Files that are none of ours, and whether they are refused, all of them; unless said otherwise as the source is set. */
  readonly foreign?: readonly ForeignFile[];
  readonly strictFiles?: boolean;
  /** By which rules the files were chosen. */
  readonly rules?: readonly FileRules[];
  /** What was applied last, and the revision it left: while nothing else changed, only the difference is planned. */
  readonly since?: { readonly documents: readonly Document[]; readonly revision: number };
  /** The digest of a plan with tripped guards that somebody approved; it allows this plan and no other. */
  readonly approve?: string;
  /** Refuses any other plan than this one. */
  readonly expectDigest?: string;
  /** Refuses to plan on any other revision than this one. */
  readonly expectBase?: number;
  readonly commitRef?: string;
  readonly commitInfo?: CommitInfo;
  readonly planId?: string;
  /** Who made that plan. */
  readonly plannedBy?: Actor;
  /** The values that came along when somebody pushed the documents; absent for a source that the server reads. */
  readonly values?: PushedValues;
  /** Nobody waits for the values that are shown once: they are kept with the plan until somebody reads them. */
  readonly keepOutputs?: boolean;
  /** Nothing is written without this lease; throws `LeaseLost`. */
  readonly lease?: Lease;
  /** Somebody applies it by hand, which is refused while the source is suspended. */
  readonly byHand?: true;
  /** Why it is applied by hand although a server runs the source. */
  readonly override?: string;
  /** A former state is wanted, and no documents. */
  readonly rollback?: RollbackRequest;
  /** The state of an archive, for a rollback to it; absent: the history knows the revision. */
  readonly archived?: Snapshot;
}

/** What became of it. Nothing is written unless it is `applied`. */
export type Reconciled =
  | {
      readonly state: 'applied';
      readonly plan: Plan;
      readonly revision?: number;
      readonly before: Snapshot;
      readonly after: Snapshot;
      /** The plan that keeps values to be read once. */
      readonly kept?: string;
    }
  | { readonly state: 'needs_approval'; readonly plan: Plan; readonly before: Snapshot; readonly after: Snapshot }
  | { readonly state: 'stale'; readonly plan: Plan; readonly before: Snapshot; readonly after: Snapshot }
  | { readonly state: 'invalid'; readonly problems: readonly Problem[] };

/** Plans what a source wants, on what the caller has seen or later. Writes nothing. */
export async function planDesire(
  engine: Engine,
  call: Call,
  desire: Desire,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const before = await engine.snapshots.at(call.account, call.revision);
  const past = await pastOf(engine, call, desire);
  const around = await surroundingsOf(engine, engine.database, call, desire, past);
  return { outcome: await placeOutcome(desire, await planOn(engine, call, before, desire, around)), before };
}

/** The same without a look at who gains and loses access, and whatever tests find. */
export async function planUnreviewed(
  engine: Engine,
  call: Call,
  desire: Desire,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const before = await engine.snapshots.at(call.account, call.revision);
  const past = await pastOf(engine, call, desire);
  const around = await surroundingsOf(engine, engine.database, call, desire, past);
  return { outcome: await placeOutcome(desire, await draft(engine, call, before, desire, around)), before };
}

/** What a plan takes that is not in the snapshot. */
interface Surroundings {
  /** What the sources of the account claim and could not have. */
  readonly claims: PendingClaims;
  /** By the database's clock: overrides end for all servers at the same time. */
  readonly now: string;
  readonly database: AccountAccess;
  /** The state that a rollback goes back to. */
  readonly past?: Snapshot;
}

/** Read before and not with each plan: while the account is held for a plan, the database has no connection to spare. */
async function pastOf(
  engine: Engine,
  { account }: Call,
  { rollback, archived }: Desire,
): Promise<Snapshot | undefined> {
  if (rollback === undefined) return undefined;
  return archived ?? (await engine.past.at(account, rollback.revision));
}

/** Claims are read with each plan: what is committed was planned with those that there are then. */
async function surroundingsOf(
  engine: Engine,
  database: AccountAccess,
  { account }: Call,
  { rollback }: Desire,
  past: Snapshot | undefined,
): Promise<Surroundings> {
  const now = await engine.time(database, account);
  if (rollback === undefined) return { now, database, claims: await readClaims(database, account) };
  return { now, database, claims: noClaims, ...(past === undefined ? {} : { past }) };
}

async function planOn(
  engine: Engine,
  call: Call,
  before: Snapshot,
  desire: Desire,
  around: Surroundings,
): Promise<Outcome> {
  const outcome = await draft(engine, call, before, desire, around);
  // Whoever applies a plan of somebody else takes over what its guards said.
  const actors = [call.actor, ...(desire.plannedBy === undefined ? [] : [desire.plannedBy])];
  return await reviewAccess(engine, { before, source: desire.source, actors }, outcome);
}

function draft(engine: Engine, call: Call, before: Snapshot, desire: Desire, around: Surroundings): Promise<Outcome> {
  const plan = (alsoUsedBy?: AlsoUsedBy) => draftAmong(engine, call, before, desire, { ...around, alsoUsedBy });
  return planAmongInvites(around.database, before, plan);
}

async function draftAmong(
  engine: Engine,
  { actor }: Call,
  before: Snapshot,
  desire: Desire,
  { claims, now, past, alsoUsedBy }: Surroundings & { readonly alsoUsedBy: AlsoUsedBy | undefined },
): Promise<Outcome> {
  if (past !== undefined && desire.rollback !== undefined) {
    const { newId, means } = engine;
    const { scope } = desire.rollback;
    const back = { snapshot: before, past, scope, now, newId, means, actor, alsoUsedBy };
    return limitSize(await runInSlices(planRollback(back)));
  }
  const files = judgeForeign({
    foreign: desire.foreign ?? [],
    source: desire.source,
    kinds: engine.registry.names,
    strict: desire.strictFiles === true || before.settingsOf(desire.source).strictFiles,
    stated: () => before.declaredBy(desire.source),
  });
  const unread = [...desire.problems, ...files.problems];
  const isRead = unread.length === 0;
  // Where documents could not be read, nothing is known to be gone.
  const sure = isRead ? desire : { ...desire, prune: false };
  const outcome = await runInSlices(
    planDocuments({
      ...inputOf(engine, before, sure),
      now,
      actor,
      wanted: claims.list,
      alsoUsedBy,
      isApply: desire.byHand === true,
    }),
  );
  if (outcome.ok && isRead) return limitSize({ ...outcome, plan: withWarnings(outcome.plan, files.warnings) });
  const found = outcome.ok ? [] : outcome.problems;
  const certain = isRead ? found : found.filter((problem) => isSure(problem, unread));
  // Documents that could not be read may want anything.
  const lacks = isRead && !outcome.ok && outcome.wanted !== undefined ? { wanted: outcome.wanted } : {};
  return { ok: false, problems: sortProblems([...unread, ...certain]), ...lacks };
}

function withWarnings(plan: Plan, more: readonly Problem[]): Plan {
  return more.length === 0 ? plan : { ...plan, warnings: sortProblems([...plan.warnings, ...more]) };
}

/** Beside documents that could not be read, references may only seem unknown; documents stated twice were told already. */
function isSure({ code, kind, key }: Problem, told: readonly Problem[]): boolean {
  if (code === 'object_duplicate')
    return !told.some((other) => other.code === 'document_duplicate' && other.kind === kind && other.key === key);
  return !code.startsWith('reference_');
}

/**
 * Plans and commits what a source wants, as one revision or not at all. Before it deletes anything, other sources are asked
 * what they want: what moves from one to the other is not deleted.
 */
export async function applyDesire(engine: Engine, call: Call, desire: Desire): Promise<Reconciled> {
  const result = await applyAsking(engine, call, desire);
  if (isAgreed(desire, result)) await settleAgreed(engine, call, desire.source, result.before);
  return result;
}

async function applyAsking(engine: Engine, call: Call, desire: Desire): Promise<Reconciled> {
  const { account } = call;
  const wanters = [...engine.wanters].filter((wanter) => wanter.isConcerned(account, desire.source));
  if (wanters.length > 0 && desire.rollback === undefined) {
    const result = await applyNoting(engine, call, desire, (plan) => plan.counts.delete > 0);
    if (result !== 'stopped') return result;
    for (const wanter of wanters) await wanter.ask(account, desire.source);
  }
  const result = await applyNoting(engine, call, desire, () => false);
  if (result === 'stopped') throw new Error('nothing stops this plan');
  return result;
}

/** Applies, unless the plan is one before which to stop, and notes what the source lacks then. */
async function applyNoting(
  engine: Engine,
  call: Call,
  desire: Desire,
  isStop: (plan: Plan) => boolean,
): Promise<Reconciled | 'stopped'> {
  const past = await pastOf(engine, call, desire);
  const { result, refused } = await applyAgainst(engine, call, desire, past, isStop);
  if (result !== 'stopped' && refused !== undefined && desire.rollback === undefined)
    await noteClaims(engine, call.account, desire.source, refused);
  return result;
}

/** What became of it, and what the source lacks now; `undefined` when that is not known, or was written with the commit. */
interface Attempt {
  readonly result: Reconciled | 'stopped';
  readonly refused: Refused | undefined;
}

async function applyAgainst(
  engine: Engine,
  call: Call,
  desire: Desire,
  past: Snapshot | undefined,
  isStop: (plan: Plan) => boolean,
): Promise<Attempt> {
  let halted: Reconciled | 'stopped' | undefined;
  let refused: Refused | undefined;
  let claims = noClaims;
  let kept: SavedPlan | undefined;
  const lapse = desire.lease === undefined ? engine.claimLapse : undefined;
  const propose: Propose = async (before, database) => {
    halted = undefined;
    kept = undefined;
    const around = await surroundingsOf(engine, database, call, desire, past);
    claims = around.claims;
    if (desire.byHand === true) {
      refuseSuspended(before, desire.source);
      refuseByHand(before, desire.source, desire.override);
    }
    const outcome = await planOn(engine, call, before, desire, around);
    const lacks = outcome.ok ? { keys: waitingKeys(outcome.plan), units: [] } : outcome.wanted;
    refused = lacks === undefined ? undefined : { revision: before.revision, lacks, lapse };
    if (!outcome.ok) return outcome;
    if (isStop(outcome.plan)) halted = 'stopped';
    else halted = haltOf(outcome.plan, desire, before, outcome.next);
    if (typeof halted === 'object' && halted.state === 'needs_approval')
      for (const { guard } of outcome.plan.guards) engine.observer.tell({ what: 'guard', guard });
    // A plan that may not be applied proposes nothing.
    return halted === undefined ? outcome : { ok: true, plan: nothing(outcome.plan), next: before };
  };
  const { commitRef, commitInfo, planId, lease, approve } = desire;
  const keep: Mutation['keep'] = (planned) => {
    kept = keepOutputs(engine, call, desire.source, planned);
    return kept;
  };
  const committed = await engine.committer.mutate({
    ...call,
    propose,
    // A rollback has an event of its own.
    audit: (plan) => (plan.rollback === undefined ? [appliedEvent(plan, desire)] : []),
    ...(approve === undefined ? {} : { approved: approve }),
    ...(commitRef === undefined ? {} : { commitRef }),
    ...(commitInfo === undefined ? {} : { commitInfo }),
    ...(planId === undefined ? {} : { planId }),
    ...(lease === undefined ? {} : { lease }),
    ...(desire.keepOutputs === true ? { keep } : {}),
    ...(desire.rollback === undefined
      ? { claims: (plan) => ({ at: claims.sequence, put: claimsAfter(engine.registry, plan, claims, engine.now()) }) }
      : {}),
  });
  if (!committed.ok)
    return { result: { state: 'invalid', problems: await placeProblems(desire, committed.problems) }, refused };
  if (halted !== undefined) return { result: await placeHalted(desire, halted), refused };
  const { revision, before, after } = committed;
  let { plan } = committed;
  const place = async () => {
    plan = await placeWarnings(desire, plan);
  };
  if (revision === undefined) await place();
  else await afterCommit(engine, `the places of warnings of source ${desire.source}`, place);
  const move = () => moveDocuments(engine, call.account, desire.source, plan.moves, after);
  if (revision === undefined) await move();
  else await afterCommit(engine, `the lines of documents of source ${desire.source}`, move);
  const applied: Reconciled = {
    ...{ state: 'applied', plan, before, after },
    ...(revision === undefined ? {} : { revision }),
    ...(kept === undefined ? {} : { kept: kept.id }),
  };
  const settled = { revision: before.revision, lacks: { keys: [], units: [], ...stuckIn(plan) } };
  return { result: applied, refused: revision === undefined ? settled : undefined };
}

/** What is recorded of a source whose documents became a revision. */
function appliedEvent({ source = '', digest, counts }: Plan, { planId, commitRef, override }: Desire): AuditEvent {
  const { create, update, delete: gone } = counts;
  return {
    code: 'config.applied',
    ...(planId === undefined ? {} : { target: planId }),
    meta: {
      ...{ source, digest, created: String(create), updated: String(update), deleted: String(gone) },
      ...(planId === undefined ? {} : { plan: planId }),
      ...(commitRef === undefined ? {} : { commit: commitRef }),
      ...(override === undefined ? {} : { override }),
    },
  };
}

function haltOf(plan: Plan, desire: Desire, before: Snapshot, after: Snapshot): Reconciled | undefined {
  const { expectDigest = plan.digest, expectBase = before.revision } = desire;
  if (expectDigest !== plan.digest || expectBase !== before.revision) return { state: 'stale', plan, before, after };
  if (plan.guards.length > 0 && desire.approve !== plan.digest) return { state: 'needs_approval', plan, before, after };
  return undefined;
}

async function placeHalted(desire: Desire, halted: Reconciled | 'stopped'): Promise<Reconciled | 'stopped'> {
  // Who is stopped plans again.
  if (halted === 'stopped' || halted.state === 'invalid') return halted;
  return { ...halted, plan: await placeWarnings(desire, halted.plan) };
}

function nothing(plan: Plan): Plan {
  return { ...plan, changes: [], claims: [], moves: [], counts: { create: 0, update: 0, delete: 0, claims: 0 } };
}

function meansOf(means: Means, { values }: Desire, user: { readonly account: string; readonly source: string }): Means {
  return values === undefined ? meansOfSource(means, user) : meansOfPush(means, values, user);
}

function inputOf(engine: Engine, snapshot: Snapshot, desire: Desire): Omit<DocumentsInput, 'now'> {
  const { source, documents } = desire;
  const since =
    desire.since?.revision === snapshot.revision && desire.problems.length === 0
      ? { since: desire.since.documents }
      : {};
  return {
    ...since,
    ...requestedOptions(desire),
    snapshot,
    validator: engine.validator,
    source,
    documents,
    rules: desire.rules,
    newId: engine.newId,
    means: meansOf(engine.means, desire, { account: snapshot.account, source }),
  };
}
