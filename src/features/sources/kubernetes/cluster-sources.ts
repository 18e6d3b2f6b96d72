import type { Engine } from '../../../commit/engine.ts';
import { createClient } from '../../../kubernetes/client.ts';
import {
  type Connection,
  connectByKubeconfig,
  connectInCluster,
  type ServiceAddress,
} from '../../../kubernetes/connection.ts';
import { reasonOf, Unreachable } from '../../../kubernetes/errors.ts';
import { createOutage } from '../../../kubernetes/outage.ts';
import { apiVersion } from '../../../model/document.ts';
import { pluralOf } from '../../../model/lower/crd/names.ts';
import {
  type KubernetesConfig,
  type NamespaceRule,
  namespaceNamesOf,
  ruleFor,
} from '../../../model/sources/kubernetes.ts';
import { recordedSpec } from '../../../model/sources/spec.ts';
import { findUnreadOutputs, removeOutputs } from '../../config/plans/outputs.ts';
import { defineUnavailable, type SourceDefinition } from '../definition.ts';
import type { SourceLeaseKeeper } from '../leases.ts';
import type { Reporter } from '../loop/report.ts';
import { defaultTiming } from '../loop/schedule.ts';
import type { CalledSource } from '../scheduled-sources.ts';
import type { SourceFeed } from '../source-feed.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { holdLease } from './held-lease.ts';
import { keptReason } from './losses.ts';
import { openNamespace } from './namespace-origin.ts';
import type { OutputStore } from './output-secrets.ts';
import { type ClusterResources, showClusterResources } from './resources/cluster-resources.ts';
import { followOwnResources, type OwnResources } from './resources/own-resources.ts';
import { readSourceRequest, requestedSettings, type SourceRequest } from './resources/source-request.ts';

/** Options for making the namespaces of a cluster into sources. */
export interface ClusterSourcesOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly config: KubernetesConfig;
  /** Identifies this server among those that use the database. */
  readonly owner: string;
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy. Absent: they are not renewed then. */
  readonly leases?: SourceLeaseKeeper | undefined;
  readonly report: Reporter;
  /** Address of the API server of the cluster in which this server runs. Absent: it does not run in a cluster. */
  readonly ownCluster?: ServiceAddress | undefined;
  /** URL at which machines and people reach this service, if it is configured. */
  readonly managementUrl?: string | undefined;
}

/** Follows a cluster while this server has its lease, so that only one server reads it, however many there are. */
export function followCluster(options: ClusterSourcesOptions): SourceFeed {
  const { engine, account, config, owner, leaseSeconds: seconds, leases, report } = options;
  const only = config.clusterWide === false ? namespaceNamesOf(config) : undefined;
  const listeners = new Set<() => void>();
  let reported = '';
  let openings = 0;
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const failed = (error: unknown): void => {
    const message = `cluster ${config.name}: ${reasonOf(error)}; it is tried again`;
    if (message !== reported) report({ level: 'error', message });
    reported = message;
  };
  const held = holdLease<FollowedCluster>({
    ...{ engine, leases, failed },
    request: { account, name: `kubernetes/${config.name}`, owner, seconds },
    async begin() {
      const client = createClient({ connection: await connectionOf(options), fieldManager: 'heddle' });
      const outage = createOutage();
      const cluster = openCluster({
        ...{ client, outage, apiVersion, kinds: kindsOf(engine), onError: failed, instance: owner },
        secrets: config.secrets ?? {},
        readsServices: config.services?.read === true,
        onlyNamespaces: only,
      });
      const own = followOwnResources({
        ...{ client, outage, apiVersion, namespaces: only },
        onError: failed,
        onChange: (namespace) => noteOwn(namespace),
        onStatus: (namespace) => shown.touchLater(namespace),
      });
      const shown = showClusterResources({ engine, account, name: config.name, cluster, client, own, onError: failed });
      const noteOwn = (namespace: string | undefined): void => {
        shown.touch(namespace);
        notify();
      };
      openings += 1;
      const followed = { cluster, own, shown, opening: `${openings}`, isStarted: false };
      cluster.onChange(() => {
        const state = cluster.namespaceState();
        if (state.state === 'failing') failed(new Unreachable(`its namespaces cannot be read: ${state.reason}`));
        notify();
      });
      void Promise.all([cluster.started, own.started]).then(() => {
        followed.isStarted = true;
        notify();
      });
      return followed;
    },
    async end({ cluster, own, shown }) {
      notify();
      await shown.stop();
      await own.stop();
      await cluster.stop();
    },
    lost: () => report({ level: 'warn', message: `cluster ${config.name}: another server may read it now` }),
  });
  return {
    definitions(recorded) {
      const followed = held.current();
      return followed?.isStarted === true ? definitionsOf(options, followed, recorded) : [];
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: held.stop,
  };
}

interface FollowedCluster {
  readonly cluster: Cluster;
  readonly own: OwnResources;
  readonly shown: ClusterResources;
  /**
   * Differs for each opening of the cluster. A source that was opened on a closed cluster would read nothing more, so
   * it must be opened again.
   */
  readonly opening: string;
  /** Whether everything was listed once. Before that, a namespace would seem to declare nothing. */
  isStarted: boolean;
}

function connectionOf({ config, ownCluster }: ClusterSourcesOptions): Promise<Connection> {
  const { kubeconfigFile, context } = config;
  return kubeconfigFile === undefined ? connectInCluster(ownCluster) : connectByKubeconfig(kubeconfigFile, context);
}

function kindsOf({ registry }: Engine) {
  return registry.kinds
    .filter(({ document }) => document.allowed)
    .map(({ name: kind, service }) => ({
      ...{ kind, plural: pluralOf(kind), service },
      childServices: registry
        .inlineChildrenOf(kind)
        .flatMap(({ child, member: list }) => (child.service === undefined ? [] : [{ list, ...child.service }])),
    }));
}

/**
 * Returns the sources of the namespaces that a rule covers, and of those that declared something and are not covered,
 * or do not exist, any more.
 */
function definitionsOf(
  options: ClusterSourcesOptions,
  followed: FollowedCluster,
  recorded: readonly CalledSource[],
): readonly SourceDefinition[] {
  const { account, config } = options;
  const { cluster, opening, shown } = followed;
  const covered = new Map(
    [...cluster.namespaces.values()].flatMap(({ metadata: { name, labels = {} } }) => {
      const rule = ruleFor(config, { name, labels });
      return rule === undefined ? [] : [[name, rule] as const];
    }),
  );
  const ours = recorded.filter(
    ({ account: of, type, spec }) => of === account && type === 'kubernetes' && spec['cluster'] === config.name,
  );
  shown.updateSources(covered, ours);
  const known = new Map(ours.map((source) => [source.id, source]));
  const current = [...covered].map(([namespace, rule]) => {
    const request = requestOf(options, followed, namespace, known);
    return { ...define(options, followed, namespace, { rule, request }), opening };
  });
  const names = new Set(current.map(({ name }) => name));
  const former = ours.filter(({ id }) => !names.has(id));
  return [...current, ...former.map((source) => defineFormer(options, cluster, source))];
}

/**
 * Returns what the resource of a source requests. Without a resource (for example when its definition was deleted),
 * returns the last request.
 */
function requestOf(
  { config }: ClusterSourcesOptions,
  { own }: FollowedCluster,
  namespace: string,
  known: ReadonlyMap<string, CalledSource>,
): SourceRequest {
  const resource = own.resourcesIn('Source', namespace).find(({ metadata }) => metadata.name === config.name);
  const last = known.get(`${config.name}.${namespace}`)?.spec['requested'];
  return readSourceRequest(resource === undefined ? last : resource.spec);
}

function define(
  options: ClusterSourcesOptions,
  { cluster, shown }: FollowedCluster,
  namespace: string,
  { rule, request }: { readonly rule: NamespaceRule; readonly request: SourceRequest },
): SourceDefinition {
  const { account, config, engine, managementUrl } = options;
  const name = `${config.name}.${namespace}`;
  const stated = { ...rule, ...requestedSettings(request, rule), cluster: config.name, namespace };
  return {
    ...{ account, name, type: 'kubernetes', isConfigured: true, delayMs: 0, holdsBack: true },
    spec: recordedSpec('kubernetes', stated, 'server'),
    intervalMs: defaultTiming.intervalMs,
    onStatusRecorded: () => shown.touch(namespace),
    open({ statedFiles }) {
      const now = () => engine.now();
      const outputs: OutputStore = {
        readUnread: () => findUnreadOutputs(engine, account, name),
        markDelivered: (object, unread) => removeOutputs(engine, { account, source: name, object }, unread),
      };
      const about = { cluster, namespace, source: name, apiVersion, kinds: kindsOf(engine), statedFiles, now };
      return openNamespace({ ...about, outputs, managementUrl });
    },
  };
}

/**
 * Defines the source of a former namespace. Reading it only returns the reason why it is not read. Its objects stay
 * until they are released.
 */
function defineFormer({ config }: ClusterSourcesOptions, cluster: Cluster, source: CalledSource): SourceDefinition {
  const namespace = String(source.spec['namespace']);
  const reason = cluster.namespaces.has(namespace)
    ? `no rule of the cluster ${config.name} covers the namespace ${namespace} any more`
    : `the namespace ${namespace} does not exist any more`;
  return defineUnavailable(source, keptReason(reason, source.id));
}
