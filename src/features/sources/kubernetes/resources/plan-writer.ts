import type { PlanHead } from '../../../../db/config/plans.ts';
import { readPlan } from '../../../../db/config/plans.ts';
import { reasonOf } from '../../../../kubernetes/errors.ts';
import { createPacer } from '../../../../kubernetes/pacer.ts';
import type { Resource } from '../../../../kubernetes/resource.ts';
import { asObjectOrEmpty, isObject, type Json } from '../../../../lib/json.ts';
import type { Actor } from '../../../../model/declare/actor.ts';
import { apiVersion } from '../../../../model/document.ts';
import { Conflict, NotFound } from '../../../../model/errors.ts';
import { isSourceSuspended } from '../../../../model/sources/settings.ts';
import { approvePlan } from '../../../config/plans/approvals.ts';
import { requestSourceRun } from '../../scheduled-sources.ts';
import type { Alarms } from './alarms.ts';
import type { ClusterResourcesOptions, NamespaceFacts } from './cluster-resources.ts';
import {
  type Approval,
  type PlanContent,
  type PlanResourceStatus,
  planContent,
  planResourceStatus,
} from './plan-status.ts';
import { ignoreStatus, managedByLabel, requestPace } from './source-writer.ts';

/** Keeps the resources of waiting plans up to date. */
export interface PlanWriter {
  /**
   * Updates the plan resources of a namespace. Returns why the waiting plan cannot be shown, or `undefined` when it is
   * shown or none waits.
   */
  update(facts: NamespaceFacts): Promise<string | undefined>;
}

interface PlanWriterOptions extends ClusterResourcesOptions {
  readonly alarms: Alarms;
}

/** Time after which showing a plan is tried again, in milliseconds. */
const retryMs = 30_000;

/**
 * Creates the writer of plan resources. It creates a resource when a plan waits, and deletes it when the plan does not
 * wait any more.
 */
export function createPlanWriter(options: PlanWriterOptions): PlanWriter {
  const { engine, client, own, alarms } = options;
  const labels = labelsOf(options);
  const pacer = createPacer(requestPace);
  const contents: Contents = new Map();
  const renewed: Renewed = new Map();
  return {
    async update(facts) {
      const { namespace, rule, plan } = facts;
      const isShown = plan !== undefined && rule !== undefined && isOpen(plan, engine.now());
      const present = own.resourcesIn('Plan', namespace).filter((resource) => hasLabels(resource, labels));
      for (const { metadata } of present) {
        if (isShown && metadata.name === plan.id) continue;
        await pacer.run(() => client.delete(`${pathOf(namespace)}/${metadata.name}`)).catch(ignoreStatus(404));
      }
      if (plan !== undefined && rule !== undefined) await requestNewPlan(options, facts, { plan, alarms, renewed });
      if (!isShown) {
        contents.delete(namespace);
        return undefined;
      }
      const resource = present.find(({ metadata }) => metadata.name === plan.id);
      if (resource !== undefined) {
        await show(options, facts, { plan, resource, contents });
        return undefined;
      }
      const fault = await pacer.run(() => create(options, facts, plan));
      if (fault !== undefined) alarms.set(namespace, retryMs);
      return fault;
    },
  };
}

/**
 * Content of the waiting plan, by namespace. It is not read from the resource, because other clients can change what
 * that shows.
 */
type Contents = Map<string, { readonly id: string; readonly content: PlanContent }>;

/** Id of the plan that expired and was requested again, by namespace. */
type Renewed = Map<string, string>;

/**
 * Returns labels that distinguish the plans of one source from those that other installations, or other clusters of
 * theirs, show in the same namespace.
 */
function labelsOf({ name, account }: ClusterResourcesOptions): Readonly<Record<string, string>> {
  return { ...managedByLabel, 'heddle.dev/cluster': name, 'heddle.dev/account': account };
}

function hasLabels({ metadata: { labels = {} } }: Resource, expected: Readonly<Record<string, string>>): boolean {
  return Object.entries(expected).every(([name, value]) => labels[name] === value);
}

function pathOf(namespace: string): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/plans`;
}

/** Creates the resource of a plan. Returns why it could not be created, otherwise `undefined`. */
async function create(
  options: ClusterResourcesOptions,
  { namespace }: NamespaceFacts,
  { id }: PlanHead,
): Promise<string | undefined> {
  const { client, own, name } = options;
  const state = own.stateOf('Plan', namespace);
  const fault = (reason: string) =>
    `the waiting plan ${id} is not shown as a resource, because ${reason}; look at it with \`heddle plans ${id}\`, and approve it with \`heddle approve ${id}\``;
  if (state.state === 'starting') return fault('plans were not listed yet');
  if (state.state === 'failing')
    return fault(
      state.status === 404
        ? 'the CustomResourceDefinition of Plan does not exist'
        : `plans cannot be read: ${state.reason}`,
    );
  const owner = own.resourcesIn('Source', namespace).find(({ metadata }) => metadata.name === name);
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion, kind: 'Source', name, uid: owner.metadata.uid, controller: true }];
  const metadata = { name: id, namespace, labels: labelsOf(options), ownerReferences };
  try {
    await client.create(pathOf(namespace), { apiVersion, kind: 'Plan', metadata, spec: {} }).catch(ignoreStatus(409));
    return undefined;
  } catch (error) {
    return fault(`it cannot be created: ${reasonOf(error)}`);
  }
}

async function show(
  options: ClusterResourcesOptions,
  facts: NamespaceFacts,
  { plan, resource, contents }: { readonly plan: PlanHead; readonly resource: Resource; readonly contents: Contents },
): Promise<void> {
  const { engine, cluster } = options;
  const { namespace } = facts;
  const shown = statusOf(resource);
  const known = contents.get(namespace);
  const content = known?.id === plan.id ? known.content : await readContent(options, facts, plan);
  if (content === undefined) return;
  contents.set(namespace, { id: plan.id, content });
  const approval = await resolveApproval(options, facts, plan, resource);
  const { generation = 0, uid } = resource.metadata;
  const status = planResourceStatus(content, approval, { generation, before: shown, now: engine.now() });
  const target = { apiVersion, kind: 'Plan', plural: 'plans', namespace, name: plan.id, uid, shown };
  cluster.statuses.put({ ...target, reported: ['Approved'] }, status);
}

async function readContent(
  { engine, account }: ClusterResourcesOptions,
  { source }: NamespaceFacts,
  { id, createdAt, expiresAt }: PlanHead,
): Promise<PlanContent | undefined> {
  const saved = await readPlan(engine.database, account, id);
  return saved === undefined ? undefined : planContent(id, source, { ...saved.view, createdAt, expiresAt });
}

/** Requests a reconcile when the plan has expired, so that there is a plan to approve again. */
async function requestNewPlan(
  { engine, account }: ClusterResourcesOptions,
  { namespace, source, record }: NamespaceFacts,
  { plan, alarms, renewed }: { readonly plan: PlanHead; readonly alarms: Alarms; readonly renewed: Renewed },
): Promise<void> {
  const left = Date.parse(plan.expiresAt) - Date.parse(engine.now());
  if (left > 0) alarms.set(namespace, left + 1000);
  if (left > 0 || renewed.get(namespace) === plan.id || record === undefined || isSourceSuspended(record)) return;
  renewed.set(namespace, plan.id);
  await requestSourceRun(engine, { account }, source);
}

function isOpen({ state, expiresAt }: PlanHead, now: string): boolean {
  return (state === 'needs_approval' || state === 'approved') && expiresAt > now;
}

/** Returns whether a plan is approved. Approves it when the spec of its resource contains its digest. */
async function resolveApproval(
  { engine, account }: ClusterResourcesOptions,
  { namespace, source, rule, record }: NamespaceFacts,
  { id, digest, state, approvedBy, approvedAt }: PlanHead,
  { spec }: Resource,
): Promise<Approval> {
  const { approvedDigest, approvedBy: by } = asObjectOrEmpty(spec);
  const waits =
    record !== undefined && isSourceSuspended(record) ? 'when its source is resumed' : 'at the next reconcile';
  const approved = (name: string, at?: string): Approval => ({
    ...{ status: 'True', reason: 'Approved', message: `approved by ${name}, and applied ${waits}` },
    ...{ by: name, at },
  });
  const refused = (reason: Approval['reason'], message: string): Approval => ({ status: 'False', reason, message });
  if (state === 'approved') return approved(approvedBy?.name ?? '', approvedAt);
  if (typeof approvedDigest !== 'string')
    return refused('NeedsApproval', `it waits until spec.approvedDigest is its digest ${digest}`);
  if (approvedDigest !== digest)
    return refused(
      'DigestDiffers',
      `spec.approvedDigest ${approvedDigest} is not the digest of this plan and approves nothing; read the plan, and approve its digest ${digest}`,
    );
  if (rule?.approveInCluster === false)
    return refused(
      'NotAllowed',
      `the settings of the server do not let plans of this namespace be approved in the cluster; approve it with \`heddle approve ${id}\``,
    );
  const named = typeof by === 'string' ? by : `a user with the right to change plans in the namespace ${namespace}`;
  const actor: Actor = { type: 'source', id: source, name: named };
  try {
    const { revision } = await engine.snapshots.fresh(account);
    await approvePlan(engine, { account, actor, revision }, id, digest);
    return approved(named, engine.now());
  } catch (error) {
    if (error instanceof Conflict || error instanceof NotFound) return refused('Refused', error.message);
    throw error;
  }
}

/** Returns the status of a resource, or `undefined` when it does not have the form that servers write. */
function statusOf({ status }: Resource): PlanResourceStatus | undefined {
  // Only servers write this status.
  return isObject(status) && Array.isArray(status['conditions'])
    ? (status as Json as unknown as PlanResourceStatus)
    : undefined;
}
