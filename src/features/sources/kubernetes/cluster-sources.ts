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
import { type KubernetesConfig, type NamespaceRule, namesOf, ruleFor } from '../../../model/sources/kubernetes.ts';
import { recordedSpec } from '../../../model/sources/spec.ts';
import { settleOutputs, unreadOutputs } from '../../config/plans/outputs.ts';
import type { SourceDefinition } from '../definition.ts';
import type { SourceLeaseKeeper } from '../leases.ts';
import type { Reporter } from '../loop/report.ts';
import { plainTiming } from '../loop/schedule.ts';
import type { CalledSource } from '../scheduled-sources.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { holdLease } from './held-lease.ts';
import { keptReason } from './losses.ts';
import { openNamespace } from './namespace-origin.ts';
import type { OutputStore } from './output-secrets.ts';
import { type ClusterResources, showClusterResources } from './resources/cluster-resources.ts';
import { followOwnResources, type OwnResources } from './resources/own-resources.ts';
import { readSourceRequest, requestedSettings, type SourceRequest } from './resources/source-request.ts';

/** Sources that come and go while a server runs. */
export interface SourceFeed {
  /** Those of this moment; `recorded` are the sources of all accounts. */
  definitions(recorded: readonly CalledSource[]): readonly SourceDefinition[];
  /** Calls when there may be others. */
  onChange(listener: () => void): () => void;
  /** Ends it, when none of its sources runs any more. */
  stop(): Promise<void>;
}

/** How the namespaces of a cluster become sources. */
export interface ClusterSourcesOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly config: KubernetesConfig;
  /** Names this server among those of the database. */
  readonly owner: string;
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: SourceLeaseKeeper | undefined;
  readonly report: Reporter;
  /** Where the API server is of the cluster that this server runs in; absent: it runs in none. */
  readonly ownCluster?: ServiceAddress | undefined;
  /** Where machines and people reach the service, if that is known. */
  readonly managementUrl?: string | undefined;
}

/** Follows a cluster while this server has its lease: one server reads it, however many there are. */
export function followCluster(options: ClusterSourcesOptions): SourceFeed {
  const { engine, account, config, owner, leaseSeconds: seconds, leases, report } = options;
  const only = config.clusterWide === false ? namesOf(config) : undefined;
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
  const held = holdLease<Followed>({
    ...{ engine, leases, failed },
    request: { account, name: `kubernetes/${config.name}`, owner, seconds },
    async begin() {
      const client = createClient({ connection: await connectionOf(options), fieldManager: 'heddle' });
      const outage = createOutage();
      const cluster = openCluster({
        ...{ client, outage, apiVersion, kinds: kindsOf(engine), onError: failed, instance: owner },
        secrets: config.secrets ?? {},
        readsServices: config.services?.read === true,
        only,
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

interface Followed {
  readonly cluster: Cluster;
  readonly own: OwnResources;
  readonly shown: ClusterResources;
  /** Differs from those before: a source that was opened on a cluster which is closed reads nothing more. */
  readonly opening: string;
  /** Everything was listed once: before that a namespace would seem to state nothing. */
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
        .inlineOf(kind)
        .flatMap(({ child, member: list }) => (child.service === undefined ? [] : [{ list, ...child.service }])),
    }));
}

/** The namespaces that a rule covers, and those that stated something and are not covered, or not there, any more. */
function definitionsOf(
  options: ClusterSourcesOptions,
  followed: Followed,
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
  shown.see(covered, ours);
  const known = new Map(ours.map((source) => [source.id, source]));
  const current = [...covered].map(([namespace, rule]) => {
    const request = requestOf(options, followed, namespace, known);
    return { ...define(options, followed, namespace, { rule, request }), opening };
  });
  const names = new Set(current.map(({ name }) => name));
  const former = ours.filter(({ id }) => !names.has(id));
  return [...current, ...former.map((source) => defineFormer(options, cluster, source))];
}

/** What the resource of a source asks for; without a resource, as when its definition is gone, what it asked for last. */
function requestOf(
  { config }: ClusterSourcesOptions,
  { own }: Followed,
  namespace: string,
  known: ReadonlyMap<string, CalledSource>,
): SourceRequest {
  const resource = own.in('Source', namespace).find(({ metadata }) => metadata.name === config.name);
  const last = known.get(`${config.name}.${namespace}`)?.spec['requested'];
  return readSourceRequest(resource === undefined ? last : resource.spec);
}

function define(
  options: ClusterSourcesOptions,
  { cluster, shown }: Followed,
  namespace: string,
  { rule, request }: { readonly rule: NamespaceRule; readonly request: SourceRequest },
): SourceDefinition {
  const { account, config, engine, managementUrl } = options;
  const name = `${config.name}.${namespace}`;
  const stated = { ...rule, ...requestedSettings(request, rule), cluster: config.name, namespace };
  return {
    ...{ account, name, type: 'kubernetes', isConfigured: true, delayMs: 0, holdsBack: true },
    spec: recordedSpec('kubernetes', stated, 'server'),
    intervalMs: plainTiming.intervalMs,
    noted: () => shown.touch(namespace),
    open({ statedFiles }) {
      const now = () => engine.now();
      const outputs: OutputStore = {
        unread: () => unreadOutputs(engine, account, name),
        settle: (object, unread) => settleOutputs(engine, { account, source: name, object }, unread),
      };
      const about = { cluster, namespace, source: name, apiVersion, kinds: kindsOf(engine), statedFiles, now };
      return openNamespace({ ...about, outputs, managementUrl });
    },
  };
}

/** It says why nothing is read there; its objects stay until they are let go. */
function defineFormer(
  { account, config }: ClusterSourcesOptions,
  cluster: Cluster,
  { id: name, spec }: CalledSource,
): SourceDefinition {
  const namespace = String(spec['namespace']);
  const reason = cluster.namespaces.has(namespace)
    ? `no rule of the cluster ${config.name} covers the namespace ${namespace} any more`
    : `the namespace ${namespace} is not there any more`;
  const fetch = async () => ({ ok: false as const, reason: keptReason(reason, name) });
  return {
    ...{ account, name, type: 'kubernetes', spec, isConfigured: false, delayMs: 0, opening: reason },
    intervalMs: plainTiming.intervalMs,
    open: () => ({ fetch, peek: fetch, watch: () => async () => undefined }),
  };
}
