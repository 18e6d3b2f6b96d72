import type { Client } from '../../../kubernetes/client.ts';
import type { Outage } from '../../../kubernetes/outage.ts';
import {
  type Reflector,
  type ReflectorState,
  type ResourceChange,
  startReflector,
} from '../../../kubernetes/reflector.ts';
import { isEarlier, type Resource } from '../../../kubernetes/resource.ts';
import { type ResourceKind, withoutBookkeeping } from './resource-file.ts';

/** A resource, and its kind. */
export interface StatedResource {
  readonly kind: ResourceKind;
  readonly resource: Resource;
}

/** The resources of a cluster, kept up to date. */
export interface StatedResources {
  /** Returns the resources of a namespace. */
  statedIn(namespace: string): readonly StatedResource[];
  /** Returns whether the resources of a kind in a namespace are up to date. */
  stateOf(plural: string, namespace: string): ReflectorState;
  /**
   * Returns the version of the cluster's store up to which the resources of a namespace, or those of one kind in it,
   * are known. Each change has a later version, unless the store was set back.
   */
  version(namespace: string, plural?: string): string | undefined;
  stop(): Promise<void>;
}

/** Options for following the resources of a cluster. */
export interface ResourcesOptions {
  readonly client: Client;
  /** API group and version of the resources, such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  /** Namespaces that may be read. Absent: all of them. */
  readonly namespaces?: readonly string[] | undefined;
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /** Called when the declarations in a namespace may have changed. */
  readonly onChange: (namespace: string) => void;
  /** Called when the resources at a path can be read, or cannot be read any more. */
  readonly onState: (path: string) => void;
}

/**
 * Follows the resources of a cluster: each kind as a whole or, when only some namespaces may be read, in each of these.
 */
export function followResources(options: ResourcesOptions): StatedResources {
  const { client, apiVersion, kinds, outage, onError } = options;
  const byNamespace = new Map<string, Map<string, StatedResource>>();
  const note = (kind: ResourceKind, { before, after }: ResourceChange): void => {
    const namespace = (after ?? before)?.metadata.namespace ?? '';
    const resourceKey = `${kind.plural}/${(after ?? before)?.metadata.name}`;
    const stated = byNamespace.get(namespace) ?? new Map<string, StatedResource>();
    byNamespace.set(namespace, stated);
    if (after === undefined) stated.delete(resourceKey);
    else stated.set(resourceKey, { kind, resource: after });
    // The status that this server writes, and notes of tools, do not change what a resource declares.
    if (before === undefined || after === undefined || mayChangeDeclaration(before, after)) options.onChange(namespace);
  };
  const follow = (kind: ResourceKind, path: string): Reflector => {
    const onChange = (change: ResourceChange) => note(kind, change);
    const onState = () => options.onState(path);
    return startReflector({ client, path, outage, onChange, onState, onError, keep: withoutBookkeeping });
  };
  const reflectors = kinds.flatMap((kind) =>
    resourcePaths(apiVersion, kind.plural, options.namespaces).map(({ namespace, path }) => ({
      ...{ plural: kind.plural, namespace },
      reflector: follow(kind, path),
    })),
  );
  const of = (namespace: string, plural?: string) =>
    reflectors.filter(
      (one) => (one.namespace ?? namespace) === namespace && (plural === undefined || one.plural === plural),
    );
  return {
    statedIn: (namespace) => [...(byNamespace.get(namespace)?.values() ?? [])],
    stateOf: (plural, namespace) => of(namespace, plural)[0]?.reflector.state ?? { state: 'starting' },
    version: (namespace, plural) => latest(of(namespace, plural).flatMap(({ reflector }) => reflector.version ?? [])),
    async stop() {
      await Promise.all(reflectors.map(({ reflector }) => reflector.stop()));
    },
  };
}

/** Returns the paths at which the resources of a kind are listed: one path, or one for each of the given namespaces. */
export function resourcePaths(
  apiVersion: string,
  plural: string,
  namespaces: readonly string[] | undefined,
): readonly { readonly namespace?: string; readonly path: string }[] {
  if (namespaces === undefined) return [{ path: `/apis/${apiVersion}/${plural}` }];
  return namespaces.map((namespace) => ({
    namespace,
    path: `/apis/${apiVersion}/namespaces/${namespace}/${plural}`,
  }));
}

function latest(versions: readonly string[]): string | undefined {
  return versions.reduce<string | undefined>((last, one) => (isEarlier(one, last) ? last : one), undefined);
}

/**
 * Whether a change may affect what the resource declares. The generation alone is not enough, because it only counts
 * changes of the spec.
 */
export function mayChangeDeclaration({ metadata: before }: Resource, { metadata: after }: Resource): boolean {
  return (
    before.generation !== after.generation ||
    before.uid !== after.uid ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    JSON.stringify([before.labels, before.annotations]) !== JSON.stringify([after.labels, after.annotations])
  );
}
