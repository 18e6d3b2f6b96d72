import type { Client } from '../../../kubernetes/client.ts';
import { ignoreNotFound } from '../../../kubernetes/errors.ts';
import type { Outage } from '../../../kubernetes/outage.ts';
import { type Reflector, type ReflectorState, startReflector } from '../../../kubernetes/reflector.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import type { SecretUse } from '../../../model/sources/kubernetes.ts';
import { followNamedNamespaces } from './named-namespaces.ts';
import { type ResourceKind, withoutBookkeeping } from './resource-file.ts';
import { createSecretAccess, createServiceAccess, type SecretAccess, type ServiceAccess } from './secret-access.ts';
import { followResources, type StatedResources } from './stated-resources.ts';
import { createStatusWriter, type StatusWriter } from './status/status-writer.ts';

/** Resources of a cluster, kept up to date. */
export interface Cluster extends Omit<StatedResources, 'stop'> {
  /** Resolves once everything was listed, or could not be listed. */
  readonly started: Promise<void>;
  /** Namespaces that exist, by name. */
  readonly namespaces: ReadonlyMap<string, Resource>;
  /** Returns whether `namespaces` is up to date. */
  namespaceState(): ReflectorState;
  /**
   * Reads a namespace from the API server. Returns `undefined` when it does not exist. Throws `ApiError`,
   * `Unreachable`.
   */
  readNamespace(name: string): Promise<Resource | undefined>;
  readonly secrets: SecretAccess;
  readonly services: ServiceAccess;
  /**
   * Reads the CustomResourceDefinition of a kind from the API server. Returns `undefined` when it does not exist.
   * Throws `ApiError`, `Unreachable`.
   */
  readDefinition(plural: string): Promise<Resource | undefined>;
  /** Whether only some namespaces can be read. The definitions may then be unreadable. */
  readonly isBounded: boolean;
  /** Returns the id of the CustomResourceDefinition of a kind, as it was read last. Empty when it cannot be read. */
  definitionId(plural: string): Promise<string>;
  readonly statuses: StatusWriter;
  /**
   * Calls the listener with the name of a namespace in which something changed, or with `undefined` when all may have
   * changed. Returns a function that removes the listener.
   */
  onChange(listener: (namespace: string | undefined) => void): () => void;
  stop(): Promise<void>;
}

/** Options for following a cluster. */
export interface ClusterOptions {
  readonly client: Client;
  /** API group and version of the resources, such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /** Identifies this server in events. */
  readonly instance: string;
  readonly secrets: SecretUse;
  readonly readsServices: boolean;
  /** Namespaces that may be read. Absent: all of them, and the list of namespaces. */
  readonly onlyNamespaces?: readonly string[] | undefined;
}

const namespacesPath = '/api/v1/namespaces';
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Follows the namespaces of a cluster and the resources in them. */
export function openCluster(options: ClusterOptions): Cluster {
  const { client, apiVersion, kinds, onError, instance, secrets, readsServices, onlyNamespaces } = options;
  const [group = ''] = apiVersion.split('/');
  const listeners = new Set<(namespace: string | undefined) => void>();
  const starting = createGate(kinds.length * (onlyNamespaces?.length ?? 1) + 1);
  const notify = (namespace: string | undefined): void => {
    for (const listener of listeners) listener(namespace);
  };
  const onState = (path: string): void => {
    starting.pass(path);
    notify(undefined);
  };
  const namespaces = followNamespaces(options, { onChange: notify, onState: () => onState(namespacesPath) });
  const resources = followResources({ ...options, namespaces: onlyNamespaces, onState, onChange: notify });

  const definitionIds = new Map<string, string>();
  const readDefinition = async (plural: string): Promise<Resource | undefined> => {
    const found = await ignoreNotFound(client.get(`${definitionsPath}/${plural}.${group}`));
    definitionIds.set(plural, found?.metadata.uid ?? '');
    return found;
  };

  const statuses = createStatusWriter(client, { instance, onError });
  return {
    started: starting.passed,
    statuses,
    namespaces: namespaces.objects,
    namespaceState: () => namespaces.state,
    statedIn: resources.statedIn,
    stateOf: resources.stateOf,
    version: resources.version,
    readNamespace: (name) => ignoreNotFound(client.get(`${namespacesPath}/${name}`)),
    secrets: createSecretAccess(client, secrets),
    services: createServiceAccess(client, readsServices),
    readDefinition,
    isBounded: onlyNamespaces !== undefined,
    async definitionId(plural) {
      const known = definitionIds.get(plural);
      if (known !== undefined) return known;
      const found = await readDefinition(plural).catch(() => undefined);
      return found?.metadata.uid ?? '';
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      statuses.stop();
      await Promise.all([namespaces.stop(), resources.stop()]);
      client.close();
    },
  };
}

function followNamespaces(
  { client, onError, onlyNamespaces, outage }: ClusterOptions,
  { onChange, onState }: { readonly onChange: (name: string | undefined) => void; readonly onState: () => void },
): Reflector {
  const keep = withoutBookkeeping;
  if (onlyNamespaces !== undefined)
    return followNamedNamespaces({ client, names: onlyNamespaces, keep, outage, onChange, onState });
  return startReflector({
    ...{ client, path: namespacesPath, keep, outage, onState, onError },
    onChange: ({ after, before }) => onChange((after ?? before)?.metadata.name),
  });
}

/** Creates a gate that opens once `count` different names have passed it. */
function createGate(count: number) {
  const names = new Set<string>();
  const { promise: passed, resolve } = Promise.withResolvers<void>();
  return {
    passed,
    pass(name: string): void {
      names.add(name);
      if (names.size >= count) resolve();
    },
  };
}
