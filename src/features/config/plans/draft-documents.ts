import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import type { AccountAccess } from '../../../db/database.ts';
import { countRecentDeletes } from '../../../db/sources/recent-deletes.ts';
import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import { type Problem, sortProblems } from '../../../model/problem.ts';
import { environmentOfPush, environmentOfSource } from '../../../model/schema/values.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { type OtherUses, planWithInvites } from '../../../objects/invite-uses.ts';
import type { PendingClaims } from '../../../objects/pending-claims.ts';
import { windowGuard } from '../../../plan/checks/guard.ts';
import { limitPlanSize } from '../../../plan/checks/size.ts';
import { planDocuments } from '../../../plan/documents/documents.ts';
import { checkForeignFiles } from '../../../plan/documents/foreign-files.ts';
import { planHoldingBack } from '../../../plan/documents/hold-back.ts';
import type { DocumentsInput } from '../../../plan/documents/stated-object.ts';
import { pickRequestedOptions } from '../../../plan/options.ts';
import type { Plan, PlanOutcome } from '../../../plan/plan.ts';
import { planRollback } from '../../../plan/rollback/rollback.ts';
import type { ApplyRequest } from './apply-request.ts';

/** Inputs of a plan that are not in the snapshot. */
export interface PlanContext {
  /** Claims of the account's sources that could not be satisfied. */
  readonly claims: PendingClaims;
  /**
   * Time of the plan, in ISO 8601. While there are overrides it comes from the database's clock, because overrides end
   * at the same time for all servers.
   */
  readonly now: string;
  readonly database: AccountAccess;
  /** State to roll back to. */
  readonly past?: Snapshot;
}

/** Plans an apply request on a state, without the review of who gains and loses access. */
export function draftPlan(
  engine: Engine,
  call: Call,
  before: Snapshot,
  request: ApplyRequest,
  context: PlanContext,
): Promise<PlanOutcome> {
  const plan = (alsoUsedBy?: OtherUses) => draftPlanWithUses(engine, call, before, request, { ...context, alsoUsedBy });
  return planWithInvites(context.database, before, plan);
}

async function draftPlanWithUses(
  engine: Engine,
  { actor }: Call,
  before: Snapshot,
  request: ApplyRequest,
  { claims, now, past, alsoUsedBy, database }: PlanContext & { readonly alsoUsedBy: OtherUses | undefined },
): Promise<PlanOutcome> {
  if (past !== undefined && request.rollback !== undefined) {
    const { newId, planEnvironment } = engine;
    const { scope } = request.rollback;
    const back = { snapshot: before, past, scope, now, newId, planEnvironment, actor, alsoUsedBy };
    return limitPlanSize(await runInSlices(planRollback(back)));
  }
  const files = checkForeignFiles({
    foreign: request.foreign ?? [],
    source: request.source,
    kinds: engine.registry.names,
    strict: request.strictFiles === true || before.settingsOf(request.source).strictFiles,
    stated: () => before.declaredBy(request.source),
  });
  const unread = [...request.problems, ...files.problems];
  const context = { now, actor, claimed: claims.list, alsoUsedBy, isManualApply: request.isManualApply === true };
  if (request.holdBack === true) {
    const input = { ...inputOf(engine, before, request), ...context };
    const outcome = limited(await runInSlices(planHoldingBack(input, unread)), files.warnings);
    return guardRecentDeletes(outcome, before, request, { database, now });
  }
  const isRead = unread.length === 0;
  // When some documents could not be read, no object is known to be without a document, so nothing is deleted.
  const sure = isRead ? request : { ...request, prune: false };
  const outcome = await runInSlices(planDocuments({ ...inputOf(engine, before, sure), ...context }));
  if (outcome.ok && isRead)
    return guardRecentDeletes(limited(outcome, files.warnings), before, request, { database, now });
  const found = outcome.ok ? [] : outcome.problems;
  const certain = isRead ? found : found.filter((problem) => isSure(problem, unread));
  // Documents that could not be read may claim anything, so the claims of the others are not recorded.
  const lacks = isRead && !outcome.ok && outcome.claimed !== undefined ? { claimed: outcome.claimed } : {};
  return { ok: false, problems: sortProblems([...unread, ...certain]), ...lacks };
}

/**
 * Trips the guard on deletes for a source that a server runs when this plan and the hour before it together delete too
 * much, so that deleting one by one counts as much as deleting at once.
 */
async function guardRecentDeletes(
  outcome: PlanOutcome,
  before: Snapshot,
  { lease, source }: ApplyRequest,
  { database, now }: Pick<PlanContext, 'database' | 'now'>,
): Promise<PlanOutcome> {
  if (lease === undefined || !outcome.ok || outcome.plan.counts.delete === 0) return outcome;
  const { plan } = outcome;
  if (plan.guards.some(({ guard }) => guard === 'deletes')) return outcome;
  const recent = await countRecentDeletes(database, { account: before.account, source, now });
  const tripped = windowGuard({
    ...{ source, deletes: plan.counts.delete, recentDeletes: recent },
    owned: before.declaredBy(source).filter(({ owner }) => owner === source).length,
    limits: before.settingsOf(source).limits,
  });
  return tripped === undefined ? outcome : { ...outcome, plan: { ...plan, guards: [...plan.guards, tripped] } };
}

function limited(outcome: PlanOutcome, warnings: readonly Problem[]): PlanOutcome {
  return outcome.ok ? limitPlanSize({ ...outcome, plan: withWarnings(outcome.plan, warnings) }) : outcome;
}

function withWarnings(plan: Plan, more: readonly Problem[]): Plan {
  return more.length === 0 ? plan : { ...plan, warnings: sortProblems([...plan.warnings, ...more]) };
}

/**
 * Whether a problem is certain although some documents could not be read. An unknown reference may be in one of these
 * documents, and duplicate documents were reported already.
 */
function isSure({ code, kind, key }: Problem, reported: readonly Problem[]): boolean {
  if (code === 'object_duplicate')
    return !reported.some((other) => other.code === 'document_duplicate' && other.kind === kind && other.key === key);
  return !code.startsWith('reference_');
}

function environmentOf(
  planEnvironment: PlanEnvironment,
  { values, secrets }: ApplyRequest,
  user: { readonly account: string; readonly source: string },
): PlanEnvironment {
  return values === undefined
    ? environmentOfSource(planEnvironment, user, secrets)
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
    ...pickRequestedOptions(request),
    snapshot,
    validator: engine.validator,
    source,
    documents,
    rules: request.rules,
    lost: request.lost,
    newId: engine.newId,
    planEnvironment: environmentOf(engine.planEnvironment, request, { account: snapshot.account, source }),
  };
}
