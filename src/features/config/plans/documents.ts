import type { Mutation, Propose } from '../../../commit/commit.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import type { SavedPlan } from '../../../db/config/plans.ts';
import type { AccountAccess } from '../../../db/database.ts';
import type { AuditEvent } from '../../../model/declare/kind.ts';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import { type Problem, sortProblems } from '../../../model/problem.ts';
import { environmentOfPush, environmentOfSource } from '../../../model/schema/values.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type AlsoUsedBy, planAmongInvites } from '../../../objects/invited.ts';
import {
  claimsAfter,
  noClaims,
  noteClaims,
  type PendingClaims,
  type Refused,
  readClaims,
} from '../../../objects/pending-claims.ts';
import { planDocuments } from '../../../plan/documents/documents.ts';
import { judgeForeign } from '../../../plan/documents/foreign-files.ts';
import type { DocumentsInput } from '../../../plan/documents/stated-object.ts';
import { limitSize } from '../../../plan/guards/size.ts';
import { requestedOptions } from '../../../plan/options.ts';
import { stuckIn, waitingKeys } from '../../../plan/ownership/contested.ts';
import type { Outcome, Plan } from '../../../plan/plan.ts';
import { planRollback } from '../../../plan/rollback/rollback.ts';
import type { ApplyRequest } from './apply-request.ts';
import { afterCommit } from './bookkeeping.ts';
import { moveDocuments } from './moved-documents.ts';
import { keepOutputs } from './outputs.ts';
import { placeOutcome, placeProblems, placeWarnings } from './places.ts';
import { reviewAccess } from './review-access.ts';
import { isAgreed, settleAgreed } from './rolled-back.ts';
import { refuseByHand, refuseSuspended } from './suspended.ts';

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

/** Plans an apply request, on what the caller has seen or later. Writes nothing. */
export async function planApply(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const before = await engine.snapshots.at(call.account, call.revision);
  const past = await pastOf(engine, call, request);
  const context = await planContextOf(engine, engine.database, call, request, past);
  return { outcome: await placeOutcome(request, await planOn(engine, call, before, request, context)), before };
}

/** The same without a look at who gains and loses access, and whatever tests find. */
export async function planUnreviewed(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
): Promise<{ readonly outcome: Outcome; readonly before: Snapshot }> {
  const before = await engine.snapshots.at(call.account, call.revision);
  const past = await pastOf(engine, call, request);
  const context = await planContextOf(engine, engine.database, call, request, past);
  return { outcome: await placeOutcome(request, await draft(engine, call, before, request, context)), before };
}

/** What a plan takes that is not in the snapshot. */
interface PlanContext {
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
  { rollback, archived }: ApplyRequest,
): Promise<Snapshot | undefined> {
  if (rollback === undefined) return undefined;
  return archived ?? (await engine.past.at(account, rollback.revision));
}

/** Claims are read with each plan: what is committed was planned with those that there are then. */
async function planContextOf(
  engine: Engine,
  database: AccountAccess,
  { account }: Call,
  { rollback }: ApplyRequest,
  past: Snapshot | undefined,
): Promise<PlanContext> {
  const now = await engine.time(database, account);
  if (rollback === undefined) return { now, database, claims: await readClaims(database, account) };
  return { now, database, claims: noClaims, ...(past === undefined ? {} : { past }) };
}

async function planOn(
  engine: Engine,
  call: Call,
  before: Snapshot,
  request: ApplyRequest,
  context: PlanContext,
): Promise<Outcome> {
  const outcome = await draft(engine, call, before, request, context);
  // Whoever applies a plan of somebody else takes over what its guards said.
  const actors = [call.actor, ...(request.plannedBy === undefined ? [] : [request.plannedBy])];
  return await reviewAccess(engine, { before, source: request.source, actors }, outcome);
}

function draft(
  engine: Engine,
  call: Call,
  before: Snapshot,
  request: ApplyRequest,
  context: PlanContext,
): Promise<Outcome> {
  const plan = (alsoUsedBy?: AlsoUsedBy) => draftAmong(engine, call, before, request, { ...context, alsoUsedBy });
  return planAmongInvites(context.database, before, plan);
}

async function draftAmong(
  engine: Engine,
  { actor }: Call,
  before: Snapshot,
  request: ApplyRequest,
  { claims, now, past, alsoUsedBy }: PlanContext & { readonly alsoUsedBy: AlsoUsedBy | undefined },
): Promise<Outcome> {
  if (past !== undefined && request.rollback !== undefined) {
    const { newId, planEnvironment } = engine;
    const { scope } = request.rollback;
    const back = { snapshot: before, past, scope, now, newId, planEnvironment, actor, alsoUsedBy };
    return limitSize(await runInSlices(planRollback(back)));
  }
  const files = judgeForeign({
    foreign: request.foreign ?? [],
    source: request.source,
    kinds: engine.registry.names,
    strict: request.strictFiles === true || before.settingsOf(request.source).strictFiles,
    stated: () => before.declaredBy(request.source),
  });
  const unread = [...request.problems, ...files.problems];
  const isRead = unread.length === 0;
  // Where documents could not be read, nothing is known to be gone.
  const sure = isRead ? request : { ...request, prune: false };
  const outcome = await runInSlices(
    planDocuments({
      ...inputOf(engine, before, sure),
      now,
      actor,
      claimed: claims.list,
      alsoUsedBy,
      isApply: request.byHand === true,
    }),
  );
  if (outcome.ok && isRead) return limitSize({ ...outcome, plan: withWarnings(outcome.plan, files.warnings) });
  const found = outcome.ok ? [] : outcome.problems;
  const certain = isRead ? found : found.filter((problem) => isSure(problem, unread));
  // Documents that could not be read may want anything.
  const lacks = isRead && !outcome.ok && outcome.claimed !== undefined ? { claimed: outcome.claimed } : {};
  return { ok: false, problems: sortProblems([...unread, ...certain]), ...lacks };
}

function withWarnings(plan: Plan, more: readonly Problem[]): Plan {
  return more.length === 0 ? plan : { ...plan, warnings: sortProblems([...plan.warnings, ...more]) };
}

/** Beside documents that could not be read, references may only seem unknown; documents stated twice were told already. */
function isSure({ code, kind, key }: Problem, reported: readonly Problem[]): boolean {
  if (code === 'object_duplicate')
    return !reported.some((other) => other.code === 'document_duplicate' && other.kind === kind && other.key === key);
  return !code.startsWith('reference_');
}

/**
 * Plans and commits what a source wants, as one revision or not at all. Before it deletes anything, other sources are asked
 * what they want: what moves from one to the other is not deleted.
 */
export async function applyDocuments(engine: Engine, call: Call, request: ApplyRequest): Promise<Reconciled> {
  const result = await applyAsking(engine, call, request);
  if (isAgreed(request, result)) await settleAgreed(engine, call, request.source, result.before);
  return result;
}

async function applyAsking(engine: Engine, call: Call, request: ApplyRequest): Promise<Reconciled> {
  const { account } = call;
  const claimRefreshers = [...engine.claimRefreshers].filter((refresher) =>
    refresher.isConcerned(account, request.source),
  );
  if (claimRefreshers.length > 0 && request.rollback === undefined) {
    const result = await applyNoting(engine, call, request, (plan) => plan.counts.delete > 0);
    if (result !== 'stopped') return result;
    for (const refresher of claimRefreshers) await refresher.ask(account, request.source);
  }
  const result = await applyNoting(engine, call, request, () => false);
  if (result === 'stopped') throw new Error('nothing stops this plan');
  return result;
}

/** Applies, unless the plan is one before which to stop, and notes what the source lacks then. */
async function applyNoting(
  engine: Engine,
  call: Call,
  request: ApplyRequest,
  isStop: (plan: Plan) => boolean,
): Promise<Reconciled | 'stopped'> {
  const past = await pastOf(engine, call, request);
  const { result, refused } = await applyAgainst(engine, call, request, past, isStop);
  if (result !== 'stopped' && refused !== undefined && request.rollback === undefined)
    await noteClaims(engine, call.account, request.source, refused);
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
  request: ApplyRequest,
  past: Snapshot | undefined,
  isStop: (plan: Plan) => boolean,
): Promise<Attempt> {
  let halted: Reconciled | 'stopped' | undefined;
  let refused: Refused | undefined;
  let claims = noClaims;
  let kept: SavedPlan | undefined;
  const lapse = request.lease === undefined ? engine.claimLapse : undefined;
  const propose: Propose = async (before, database) => {
    halted = undefined;
    kept = undefined;
    const context = await planContextOf(engine, database, call, request, past);
    claims = context.claims;
    if (request.byHand === true) {
      refuseSuspended(before, request.source);
      refuseByHand(before, request.source, request.override);
    }
    const outcome = await planOn(engine, call, before, request, context);
    const lacks = outcome.ok ? { keys: waitingKeys(outcome.plan), units: [] } : outcome.claimed;
    refused = lacks === undefined ? undefined : { revision: before.revision, lacks, lapse };
    if (!outcome.ok) return outcome;
    if (isStop(outcome.plan)) halted = 'stopped';
    else halted = haltOf(outcome.plan, request, before, outcome.next);
    if (typeof halted === 'object' && halted.state === 'needs_approval')
      for (const { guard } of outcome.plan.guards) engine.observer.report({ what: 'guard', guard });
    // A plan that may not be applied proposes nothing.
    return halted === undefined ? outcome : { ok: true, plan: nothing(outcome.plan), next: before };
  };
  const { commitRef, commitInfo, planId, lease, approve } = request;
  const keep: Mutation['keep'] = (planned) => {
    kept = keepOutputs(engine, call, request.source, planned);
    return kept;
  };
  const committed = await engine.committer.mutate({
    ...call,
    propose,
    // A rollback has an event of its own.
    audit: (plan) => (plan.rollback === undefined ? [appliedEvent(plan, request)] : []),
    ...(approve === undefined ? {} : { approved: approve }),
    ...(commitRef === undefined ? {} : { commitRef }),
    ...(commitInfo === undefined ? {} : { commitInfo }),
    ...(planId === undefined ? {} : { planId }),
    ...(lease === undefined ? {} : { lease }),
    ...(request.keepOutputs === true ? { keep } : {}),
    ...(request.rollback === undefined
      ? { claims: (plan) => ({ at: claims.sequence, put: claimsAfter(engine.registry, plan, claims, engine.now()) }) }
      : {}),
  });
  if (!committed.ok)
    return { result: { state: 'invalid', problems: await placeProblems(request, committed.problems) }, refused };
  if (halted !== undefined) return { result: await placeHalted(request, halted), refused };
  const { revision, before, after } = committed;
  let { plan } = committed;
  const place = async () => {
    plan = await placeWarnings(request, plan);
  };
  if (revision === undefined) await place();
  else await afterCommit(engine, `the places of warnings of source ${request.source}`, place);
  const move = () => moveDocuments(engine, call.account, request.source, plan.moves, after);
  if (revision === undefined) await move();
  else await afterCommit(engine, `the lines of documents of source ${request.source}`, move);
  const applied: Reconciled = {
    ...{ state: 'applied', plan, before, after },
    ...(revision === undefined ? {} : { revision }),
    ...(kept === undefined ? {} : { kept: kept.id }),
  };
  const settled = { revision: before.revision, lacks: { keys: [], units: [], ...stuckIn(plan) } };
  return { result: applied, refused: revision === undefined ? settled : undefined };
}

/** What is recorded of a source whose documents became a revision. */
function appliedEvent(
  { source = '', digest, counts }: Plan,
  { planId, commitRef, override }: ApplyRequest,
): AuditEvent {
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

function haltOf(plan: Plan, request: ApplyRequest, before: Snapshot, after: Snapshot): Reconciled | undefined {
  const { expectDigest = plan.digest, expectBase = before.revision } = request;
  if (expectDigest !== plan.digest || expectBase !== before.revision) return { state: 'stale', plan, before, after };
  if (plan.guards.length > 0 && request.approve !== plan.digest)
    return { state: 'needs_approval', plan, before, after };
  return undefined;
}

async function placeHalted(request: ApplyRequest, halted: Reconciled | 'stopped'): Promise<Reconciled | 'stopped'> {
  // Who is stopped plans again.
  if (halted === 'stopped' || halted.state === 'invalid') return halted;
  return { ...halted, plan: await placeWarnings(request, halted.plan) };
}

function nothing(plan: Plan): Plan {
  return { ...plan, changes: [], claims: [], moves: [], counts: { create: 0, update: 0, delete: 0, claims: 0 } };
}

function environmentOf(
  planEnvironment: PlanEnvironment,
  { values }: ApplyRequest,
  user: { readonly account: string; readonly source: string },
): PlanEnvironment {
  return values === undefined
    ? environmentOfSource(planEnvironment, user)
    : environmentOfPush(planEnvironment, values, user);
}

function inputOf(engine: Engine, snapshot: Snapshot, request: ApplyRequest): Omit<DocumentsInput, 'now'> {
  const { source, documents } = request;
  const since =
    request.since?.revision === snapshot.revision && request.problems.length === 0
      ? { since: request.since.documents }
      : {};
  return {
    ...since,
    ...requestedOptions(request),
    snapshot,
    validator: engine.validator,
    source,
    documents,
    rules: request.rules,
    newId: engine.newId,
    planEnvironment: environmentOf(engine.planEnvironment, request, { account: snapshot.account, source }),
  };
}
