import type { Committed, Propose } from '../../../commit/commit.ts';
import type { Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { usersOfSubjects, usersWhoSignIn } from '../../../db/accounts/identities.ts';
import { deleteRecordsOfUsers } from '../../../db/accounts/idp-records.ts';
import { listPlans, type PlanHead } from '../../../db/config/plans.ts';
import type { AccountAccess } from '../../../db/database.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { NotFound } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isOfKind, type Stored } from '../../../model/state/stored.ts';
import { usedByInvites } from '../../../objects/invite-uses.ts';
import { errorForProblems } from '../../../objects/objects.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import { finishInSteps } from '../../../plan/finish.ts';
import type { Plan, PlanOutcome } from '../../../plan/plan.ts';
import { storeForApproval } from '../../config/plans/approvals.ts';
import type { ProvisioningChange, ProvisioningIntegration } from './change.ts';
import { type ProvisioningEffect, planProvisioningInSteps } from './plan.ts';
import { removalDigest, removalGuards, removalWindowStart } from './removal-guard.ts';
import type { ProvisioningInput } from './work.ts';

/** Data that an identity provider sends through an integration. */
export interface ProvisioningRequest {
  readonly account: string;
  /** The stored id of the integration. */
  readonly integration: string;
  /** Returns the change for the current state of the account. May throw an error that refuses the request. */
  change(state: Snapshot): ProvisioningChange;
  /**
   * Throws an error that refuses the request because of data that could not be imported. Absent: everything else is
   * imported.
   */
  check?(made: ProvisioningEffect, state: Snapshot): void;
  /** Revision that the caller has seen. */
  readonly revision?: number;
  /** Lease without which nothing is written. */
  readonly lease?: Lease;
  /** Whether nothing is written, and the plan only shows the effect. */
  readonly dryRun?: boolean;
}

/** Result of a provisioning request. */
export interface ProvisioningResult extends Omit<ProvisioningEffect, 'edits'> {
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** Absent when there was nothing to write. */
  readonly revision?: number;
  /** Stored plan that waits for an approval, because the change takes too much away. Nothing was written. */
  readonly waiting?: PlanView & { readonly id: string };
}

/** Returns the actor of the changes that an integration makes. */
export function actorOf(integration: Stored<ProvidingKind>): Actor {
  const { id, name } = integration;
  const what = isOfKind<ProvidingKind>(integration, 'ScimIntegration') ? 'SCIM' : 'directory';
  return {
    type: 'system',
    id,
    name: `${what} integration ${name}`,
  };
}

/** Kinds of integrations through which providers bring users and groups. */
export type ProvidingKind = 'ScimIntegration' | 'DirectoryIntegration';

/** Returns an integration of a state. Throws `NotFound`. */
function requireIntegration(state: Snapshot, id: string): Stored<ProvidingKind> {
  const object = state.get(id);
  if (isOfKind(object, 'ScimIntegration') || isOfKind(object, 'DirectoryIntegration')) return object;
  throw new NotFound(`the integration ${id} does not exist any more`);
}

/** Returns the source name under which plans of an integration are stored. */
export function planSourceOf(integration: string): string {
  return `integration/${integration}`;
}

/**
 * Applies the data of a provider, as one revision or not at all. A change that takes too much away is written only
 * after its plan was approved, when the provider or the next sync sends the same data again.
 */
export async function provision(engine: Engine, request: ProvisioningRequest): Promise<ProvisioningResult> {
  const linked = await findLinkedUsers(engine, request);
  const first = await attempt(engine, request, { linked });
  if (!first.isHalted || request.dryRun === true) return await finishRequest(engine, request, first);
  const known = await recentApprovals(engine, request);
  const approval = known.find(({ state, digest }) => state === 'approved' && digest === first.plan.digest);
  const approvedAt = known
    .flatMap((head) => (head.state === 'applied' ? (head.approvedAt ?? []) : []))
    .sort()
    .at(-1);
  if (approval === undefined && approvedAt === undefined) return await finishRequest(engine, request, first);
  return await finishRequest(engine, request, await attempt(engine, request, { linked, approval, approvedAt }));
}

interface Attempt extends ProvisioningResult {
  readonly isHalted: boolean;
}

interface Allowance {
  readonly linked: ReadonlyMap<string, string>;
  readonly approval?: PlanHead | undefined;
  readonly approvedAt?: string | undefined;
}

async function attempt(engine: Engine, request: ProvisioningRequest, allowance: Allowance): Promise<Attempt> {
  const { account, revision = 0, lease, dryRun = false } = request;
  const { approval } = allowance;
  let last: Proposal | undefined;
  const propose: Propose = async (state, database) => {
    last = await proposeOn(engine, request, allowance, { state, database });
    const { outcome, isHalted } = last;
    return outcome.ok && (isHalted || dryRun) ? { ok: true, plan: emptyPlan(outcome.plan), next: state } : outcome;
  };
  const state = await engine.snapshots.atLeast(account, revision);
  const committed: Committed = dryRun
    ? await planOnly(engine, account, propose)
    : await engine.committer.mutate({
        ...{ account, revision, propose, actor: actorOf(requireIntegration(state, request.integration)) },
        ...(lease === undefined ? {} : { lease }),
        ...(approval === undefined ? {} : { planId: approval.id }),
      });
  if (!committed.ok) throw errorForProblems(committed.problems);
  if (last === undefined || !last.outcome.ok) throw new Error('a mutation ended without having been planned');
  const { made, outcome, isHalted } = last;
  return {
    ...{ ...made, isHalted, plan: outcome.plan, before: committed.before },
    after: committed.revision === undefined ? outcome.next : committed.after,
    ...(committed.revision === undefined ? {} : { revision: committed.revision }),
  };
}

interface Proposal {
  readonly made: ProvisioningEffect;
  readonly outcome: PlanOutcome;
  readonly isHalted: boolean;
}

async function proposeOn(
  engine: Engine,
  request: ProvisioningRequest,
  { linked, approval, approvedAt }: Allowance,
  { state, database }: { readonly state: Snapshot; readonly database: AccountAccess },
): Promise<Proposal> {
  const object = requireIntegration(state, request.integration);
  const now = engine.now();
  const change = request.change(state);
  const invited = await usedByInvites(database, state.account, deletableGroups(state, object.id, change));
  const counted = { countedSince: removalWindowStart(now, approvedAt), isApproved: approval !== undefined };
  const input = { state, integration: settingsOf(object), change, now, newId: engine.newId, linked, ...counted };
  const made = await planWithSignIns(database, { ...input, usedByInvites: invited });
  request.check?.(made, state);
  const { removals } = made;
  const isEmpty = change.isComplete && change.users.length === 0;
  const guards = removalGuards({ state, integration: object.id, removals, isEmpty, ...counted });
  const finished = await runInSlices(
    finishInSteps({
      ...{ snapshot: state, edits: made.edits, now, newId: engine.newId, planEnvironment: engine.planEnvironment },
      actor: actorOf(object),
      locate: ({ kind, name }, { code, path, message }) => ({ code, kind, key: name, path, message }),
    }),
  );
  if (!finished.ok || guards.length === 0) return { made, outcome: finished, isHalted: false };
  const plan = { ...finished.plan, guards, digest: removalDigest(object.id, removals) };
  return { made, outcome: { ...finished, plan }, isHalted: plan.digest !== approval?.digest };
}

/**
 * Plans the change. Plans it again after finding out which of the users whose address would change sign in by
 * themselves.
 */
async function planWithSignIns(database: AccountAccess, input: ProvisioningInput): Promise<ProvisioningEffect> {
  const known = new Set<string>();
  const signsIn = new Set<string>();
  for (;;) {
    const made = await runInSlices(planProvisioningInSteps({ ...input, usersWithSignIn: signsIn }));
    const asked = usersWithNewAddress(made).filter((id) => !known.has(id));
    if (asked.length === 0) return made;
    for (const id of asked) known.add(id);
    for (const id of await usersWhoSignIn(database, input.state.account, asked)) signsIn.add(id);
  }
}

/** Returns the users whose address changes. */
function usersWithNewAddress({ edits }: ProvisioningEffect): readonly string[] {
  return edits.flatMap(({ before, after }) =>
    before !== undefined && after !== undefined && before.spec['email'] !== after.spec['email'] ? [before.id] : [],
  );
}

/** Returns the groups that may be deleted, to which pending invites may refer. */
function deletableGroups(state: Snapshot, by: string, change: ProvisioningChange): readonly string[] {
  if (!change.isComplete && change.goneGroups.length === 0) return [];
  return state.ofKind('Group').flatMap(({ id, derived }) => (derived.provided?.by === by ? [id] : []));
}

function settingsOf(object: Stored<ProvidingKind>): ProvisioningIntegration {
  const { group_prefixes: groups = [], user_group_prefixes: users = [], connector_id: connector = '' } = object.spec;
  return {
    ...{ id: object.id, groupPrefixes: groups, userGroupPrefixes: users },
    ...(connector === '' ? {} : { connector }),
  };
}

async function planOnly(engine: Engine, account: string, propose: Propose): Promise<Committed> {
  const state = await engine.snapshots.fresh(account);
  const outcome = await propose(state, engine.database);
  if (!outcome.ok) return { ok: false, problems: outcome.problems, state };
  return { ok: true, plan: outcome.plan, before: state, after: state };
}

/** Returns the existing users that new users of the provider match, found by how they signed in, by external id. */
async function findLinkedUsers(
  engine: Engine,
  { account, integration, revision = 0, change }: ProvisioningRequest,
): Promise<ReadonlyMap<string, string>> {
  const state = await engine.snapshots.atLeast(account, revision);
  const object = requireIntegration(state, integration);
  const prefix = isOfKind(object, 'ScimIntegration') ? (object.spec.prefix ?? '') : '';
  const { users, keys } = change(state);
  const isNew = ({ key }: { readonly key: string }) => keys === 'external' || state.get(key) === undefined;
  const ids = users.filter(isNew).flatMap(({ key, externalId }) => externalId ?? (keys === 'external' ? key : []));
  const subjects = new Map(ids.flatMap((id) => subjectsOf(prefix, id).map((subject) => [subject, id] as const)));
  const found = await usersOfSubjects(engine.database, account, [...subjects.keys()]);
  return new Map(found.map(({ subject, user }) => [subjects.get(subject) ?? subject, user]));
}

/**
 * Returns the subjects that a person may have in a sign-in: the id of the provider, with or without the prefix of the
 * connection.
 */
function subjectsOf(prefix: string, id: string): readonly string[] {
  return prefix === '' ? [id] : [id, `${prefix}|${id}`, `${prefix}${id}`];
}

const hour = 60 * 60 * 1000;

async function recentApprovals(
  engine: Engine,
  { account, integration }: ProvisioningRequest,
): Promise<readonly PlanHead[]> {
  const filter = { source: planSourceOf(integration), states: ['approved', 'applied'], limit: 20 } as const;
  const heads = await listPlans(engine.database, account, { ...filter, validAt: engine.now() });
  const since = new Date(Date.parse(engine.now()) - hour).toISOString();
  return heads.filter(({ state, approvedAt = '' }) => state === 'approved' || approvedAt > since);
}

async function finishRequest(
  engine: Engine,
  request: ProvisioningRequest,
  { isHalted, ...made }: Attempt,
): Promise<ProvisioningResult> {
  if (request.dryRun === true) return made;
  if (!isHalted) {
    if (made.revision !== undefined) await revokeSessions(engine, request.account, made.removals.users);
    return made;
  }
  const { account, integration } = request;
  const { plan, before, after } = made;
  const call = { account, revision: before.revision, actor: actorOf(requireIntegration(before, integration)) };
  const source = planSourceOf(integration);
  const held = {
    source,
    documents: [],
    problems: [],
    locate: asIs,
    prune: false,
    allowEmpty: false,
    ofProvider: true as const,
  };
  return { ...made, waiting: await storeForApproval(engine, call, held, { plan: { ...plan, source }, before, after }) };
}

function asIs<Value>(value: Value): Value {
  return value;
}

/**
 * Deletes the sessions, grants and tokens of users who are kept out. The server refuses these users already. The
 * deletion ensures that nothing is restored when they are let in again. Errors are only reported.
 */
async function revokeSessions(engine: Engine, account: string, users: readonly string[]): Promise<void> {
  if (users.length === 0) return;
  await deleteRecordsOfUsers(engine.database, users).catch((error) =>
    engine.reportFailure(
      `the sessions and tokens of ${users.length} users of account ${account} who are kept out could not be deleted`,
      error,
    ),
  );
}

function emptyPlan(plan: Plan): Plan {
  return { ...plan, changes: [], claims: [], moves: [], counts: { create: 0, update: 0, delete: 0, claims: 0 } };
}
