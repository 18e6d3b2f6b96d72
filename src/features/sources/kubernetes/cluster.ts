import type { Client } from '../../../kubernetes/client.ts';
import { unlessAbsent } from '../../../kubernetes/errors.ts';
import type { Outage } from '../../../kubernetes/outage.ts';
import { type Reflector, type ReflectorState, startReflector } from '../../../kubernetes/reflector.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import type { SecretUse } from '../../../model/sources/kubernetes.ts';
import { followNamed } from './named-namespaces.ts';
import { type ResourceKind, withoutBookkeeping } from './resource-file.ts';
import { createSecretAccess, createServiceAccess, type SecretAccess, type ServiceAccess } from './secret-access.ts';
import { followResources, type StatedResources } from './stated-resources.ts';
import { createStatusWriter, type StatusWriter } from './status/status-writer.ts';

/** What a cluster states, kept up to date. */
export interface Cluster extends Omit<StatedResources, 'stop'> {
  /** Resolves once everything was listed, or could not be. */
  readonly started: Promise<void>;
  /** Those that are there, by name. */
  readonly namespaces: ReadonlyMap<string, Resource>;
  /** Whether the namespaces are those of this moment. */
  namespaceState(): ReflectorState;
  /** A namespace as it is now; `undefined`: there is none. Throws `ApiError`, `Unreachable`. */
  readNamespace(name: string): Promise<Resource | undefined>;
  readonly secrets: SecretAccess;
  readonly services: ServiceAccess;
  /** The CustomResourceDefinition of a kind as it is now; `undefined`: there is none. Throws `ApiError`, `Unreachable`. */
  readDefinition(plural: string): Promise<Resource | undefined>;
  /** Whether it may be that definitions cannot be read, as only some namespaces can. */
  readonly isBounded: boolean;
  /** The id of the CustomResourceDefinition of a kind, as it was read last; empty where it cannot be read. */
  definitionId(plural: string): Promise<string>;
  readonly statuses: StatusWriter;
  /** Calls with the name of a namespace in which something changed; without one when all may have. */
  onChange(listener: (namespace: string | undefined) => void): () => void;
  stop(): Promise<void>;
}

/** What is followed of a cluster. */
export interface ClusterOptions {
  readonly client: Client;
  /** Such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /** Names this server in events. */
  readonly instance: string;
  readonly secrets: SecretUse;
  readonly readsServices: boolean;
  /** The namespaces that may be read; absent: all of them, and which there are. */
  readonly only?: readonly string[] | undefined;
}

const namespacesPath = '/api/v1/namespaces';
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Follows the namespaces of a cluster and the resources in them. */
export function openCluster(options: ClusterOptions): Cluster {
  const { client, apiVersion, kinds, onError, instance, secrets, readsServices, only } = options;
  const [group = ''] = apiVersion.split('/');
  const listeners = new Set<(namespace: string | undefined) => void>();
  const starting = createGate(kinds.length * (only?.length ?? 1) + 1);
  const notify = (namespace: string | undefined): void => {
    for (const listener of listeners) listener(namespace);
  };
  const onState = (path: string): void => {
    starting.pass(path);
    notify(undefined);
  };
  const namespaces = followNamespaces(options, { onChange: notify, onState: () => onState(namespacesPath) });
  const resources = followResources({ ...options, namespaces: only, onState, onChange: notify });

  const definitionIds = new Map<string, string>();
  const readDefinition = async (plural: string): Promise<Resource | undefined> => {
    const found = await unlessAbsent(client.get(`${definitionsPath}/${plural}.${group}`));
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
    readNamespace: (name) => unlessAbsent(client.get(`${namespacesPath}/${name}`)),
    secrets: createSecretAccess(client, secrets),
    services: createServiceAccess(client, readsServices),
    readDefinition,
    isBounded: only !== undefined,
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
  { client, onError, only, outage }: ClusterOptions,
  { onChange, onState }: { readonly onChange: (name: string | undefined) => void; readonly onState: () => void },
): Reflector {
  const keep = withoutBookkeeping;
  if (only !== undefined) return followNamed({ client, names: only, keep, outage, onChange, onState });
  return startReflector({
    ...{ client, path: namespacesPath, keep, outage, onState, onError },
    onChange: ({ after, before }) => onChange((after ?? before)?.metadata.name),
  });
}

/** Opens once so many different names have passed it. */
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
