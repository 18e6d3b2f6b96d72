import { ApiError } from '../../../../kubernetes/errors.ts';
import { createPacer } from '../../../../kubernetes/pacer.ts';
import type { Resource } from '../../../../kubernetes/resource.ts';
import { asObject, asObjectOrEmpty, equalJson, isObject, type Json } from '../../../../lib/json.ts';
import { apiVersion } from '../../../../model/document.ts';
import { isSourceSuspended } from '../../../../model/sources/settings.ts';
import { requestSourceRun } from '../../scheduled-sources.ts';
import { isTerminating } from '../resource-file.ts';
import type { ClusterResourcesOptions, NamespaceFacts } from './cluster-resources.ts';
import { readSourceRequest, refusalOf } from './source-request.ts';
import { type SourceFault, type SourceResourceStatus, sourceResourceStatus } from './source-status.ts';

/** Keeps the resource of each source up to date. */
export interface SourceWriter {
  /** Updates the source resources of a namespace. `planFault` is why the waiting plan is not shown. */
  update(facts: NamespaceFacts, planFault: string | undefined): Promise<void>;
}

/** Label of resources that a server created, and not a person. */
export const managedByLabel = { 'app.kubernetes.io/managed-by': 'heddle' } as const;

/** Maximum number of requests in flight, and maximum number that start per second. */
export const requestPace = { atOnce: 16, perSecond: 50 };

/**
 * Creates the writer of source resources. It creates a resource where there is none, and deletes its own resources
 * where no rule covers the namespace.
 */
export function createSourceWriter(options: ClusterResourcesOptions): SourceWriter {
  const { name, client, own } = options;
  const requests: ReconcileRequests = new Map();
  const pacer = createPacer(requestPace);
  return {
    async update(facts, planFault) {
      const { namespace, rule } = facts;
      const found = own.resourcesIn('Source', namespace);
      const resource = found.find(({ metadata }) => metadata.name === name);
      for (const other of found) if (other !== resource && rule !== undefined) reportWrongName(options, facts, other);
      if (resource === undefined) {
        if (rule !== undefined) await pacer.run(() => create(options, facts)).catch(ignoreStatus(409));
      } else if (rule === undefined && isUnusedOwn(resource) && options.cluster.namespaces.has(namespace)) {
        await pacer.run(() => client.delete(`${pathOf(namespace)}/${name}`)).catch(ignoreStatus(404));
      } else await show(options, facts, { resource, requests, planFault });
    },
  };
}

/** Requested reconciles by namespace: the value in the resource, and the time at which the request was passed on. */
type ReconcileRequests = Map<string, { readonly value: string; readonly at: string }>;

function pathOf(namespace: string): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/sources`;
}

async function create(
  { name, cluster, client, own }: ClusterResourcesOptions,
  { namespace, record }: NamespaceFacts,
): Promise<void> {
  const home = cluster.namespaces.get(namespace);
  if (own.stateOf('Source', namespace).state !== 'synced' || home === undefined || isTerminating(home)) return;
  // The recorded request is kept: a resource that was deleted (perhaps with its definition) did not withdraw it.
  const spec = asObject(record?.spec['requested'] ?? {});
  const metadata = { name, namespace, labels: managedByLabel };
  await client.create(pathOf(namespace), { apiVersion, kind: 'Source', metadata, spec });
}

async function show(
  options: ClusterResourcesOptions,
  facts: NamespaceFacts,
  {
    resource,
    requests,
    planFault,
  }: { readonly resource: Resource; readonly requests: ReconcileRequests; readonly planFault: string | undefined },
): Promise<void> {
  const { engine, name, cluster } = options;
  const { namespace, source, rule, record } = facts;
  const shown = statusOf(resource);
  const { generation = 0, uid } = resource.metadata;
  const isInEffect = equalJson(readSourceRequest(resource.spec), readSourceRequest(record?.spec['requested']));
  const handled = await handleReconcileRequest(options, facts, {
    spec: resource.spec,
    requests,
    last: shown?.lastHandledReconcileAt,
  });
  const status = sourceResourceStatus(
    {
      ...{ source, record, planFault, handled },
      suspended: record !== undefined && isSourceSuspended(record),
      resources: cluster.statedIn(namespace).length,
      generation: isInEffect || rule === undefined ? generation : (shown?.observedGeneration ?? 0),
      fault: faultOf(name, facts, resource),
    },
    shown,
    engine.now(),
  );
  put(options, { namespace, name, uid, shown }, status);
}

/**
 * Requests a reconcile when `reconcileRequestedAt` in the resource has a new value. Returns the last value that was
 * handled.
 */
async function handleReconcileRequest(
  { engine, account }: ClusterResourcesOptions,
  { namespace, source, rule, record }: NamespaceFacts,
  {
    spec,
    requests,
    last,
  }: { readonly spec: Json | undefined; readonly requests: ReconcileRequests; readonly last: string | undefined },
): Promise<string | undefined> {
  const value = asObjectOrEmpty(spec)['reconcileRequestedAt'];
  if (typeof value !== 'string' || value === '' || value === last) return last;
  const asked = requests.get(namespace);
  if (asked?.value === value) {
    if ((record?.handled_at?.toISOString() ?? '') < asked.at) return last;
    requests.delete(namespace);
    return value;
  }
  // A suspended source is reconciled after it is resumed. Until then the request waits.
  if (rule === undefined || record === undefined || isSourceSuspended(record)) return last;
  requests.set(namespace, { value, at: await requestSourceRun(engine, { account }, source) });
  return last;
}

/**
 * Reports in a resource with another name that its requests have no effect. Only writes this when the resource has no
 * status yet: a server that uses this name may write a better one.
 */
function reportWrongName(
  options: ClusterResourcesOptions,
  { namespace, source }: NamespaceFacts,
  resource: Resource,
): void {
  const { name: other, uid, generation = 0, labels } = resource.metadata;
  if (statusOf(resource) !== undefined || labels?.[managedByKey] === managedByLabel[managedByKey]) return;
  const message = `the source of this namespace is the resource ${options.name}; move the settings of this resource there, and delete this one`;
  const facts = {
    source,
    generation,
    suspended: false,
    resources: 0,
    record: undefined,
    planFault: undefined,
    handled: undefined,
  };
  const fault: SourceFault = { reason: 'NameUnknown', message };
  const status = sourceResourceStatus({ ...facts, fault }, undefined, options.engine.now());
  put(options, { namespace, name: other, uid, shown: undefined }, status);
}

const managedByKey = 'app.kubernetes.io/managed-by';

/** Whether a server created the resource and its spec requests nothing. */
function isUnusedOwn({ metadata: { labels }, spec }: Resource): boolean {
  return labels?.[managedByKey] === managedByLabel[managedByKey] && Object.keys(asObjectOrEmpty(spec)).length === 0;
}

function faultOf(name: string, { namespace, rule }: NamespaceFacts, { spec }: Resource): SourceFault | undefined {
  if (rule === undefined) {
    const message = `no rule of the cluster ${name} covers the namespace ${namespace}, so nothing in it is read`;
    return { reason: 'NotCovered', message };
  }
  const message = refusalOf(readSourceRequest(spec), rule);
  return message === undefined ? undefined : { reason: 'NotAllowed', message };
}

function put(
  { cluster }: Pick<ClusterResourcesOptions, 'cluster'>,
  target: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly shown: SourceResourceStatus | undefined;
  },
  status: SourceResourceStatus,
): void {
  const reported = ['Ready', 'Suspended'];
  cluster.statuses.put({ apiVersion, kind: 'Source', plural: 'sources', ...target, reported }, status);
}

/** Returns the status of a resource, or `undefined` when it does not have the form that servers write. */
function statusOf({ status }: Resource): SourceResourceStatus | undefined {
  // Only servers write this status.
  return isObject(status) && Array.isArray(status['conditions'])
    ? (status as Json as unknown as SourceResourceStatus)
    : undefined;
}

/**
 * Returns an error handler that ignores an `ApiError` with this HTTP status, which means that another client was
 * faster. It throws all other errors again.
 */
export function ignoreStatus(status: number): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiError && error.status === status)) throw error;
  };
}
