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

/** A resource of a namespace, and what it is. */
export interface Stated {
  readonly kind: ResourceKind;
  readonly resource: Resource;
}

/** The resources of a cluster, kept up to date. */
export interface StatedResources {
  /** Those of a namespace. */
  statedIn(namespace: string): readonly Stated[];
  /** Whether those of a kind in a namespace are those of this moment. */
  stateOf(plural: string, namespace: string): ReflectorState;
  /**
   * The version of the cluster's store up to which the resources of a namespace are known, or those of one kind: each change
   * has a later one, unless the store was set back.
   */
  version(namespace: string, plural?: string): string | undefined;
  stop(): Promise<void>;
}

/** What is followed of a cluster. */
export interface ResourcesOptions {
  readonly client: Client;
  /** Such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  /** The namespaces that may be read; absent: all of them. */
  readonly namespaces?: readonly string[] | undefined;
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /** Something is stated otherwise in a namespace. */
  readonly onChange: (namespace: string) => void;
  /** What is at a path can be read, or cannot be any more. */
  readonly onState: (path: string) => void;
}

/** Follows the resources of a cluster, each kind at once or, where only some namespaces may be read, in each of those. */
export function followResources(options: ResourcesOptions): StatedResources {
  const { client, apiVersion, kinds, outage, onError } = options;
  const byNamespace = new Map<string, Map<string, Stated>>();
  const note = (kind: ResourceKind, { before, after }: ResourceChange): void => {
    const namespace = (after ?? before)?.metadata.namespace ?? '';
    const place = `${kind.plural}/${(after ?? before)?.metadata.name}`;
    const stated = byNamespace.get(namespace) ?? new Map<string, Stated>();
    byNamespace.set(namespace, stated);
    if (after === undefined) stated.delete(place);
    else stated.set(place, { kind, resource: after });
    // What we write ourselves, and what tools note, states nothing else.
    if (before === undefined || after === undefined || isRestated(before, after)) options.onChange(namespace);
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

/** Where the resources of a kind are listed: once, or in each of some namespaces. */
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

/** Whether a change may be one of what the resource states: a generation counts changes of the spec alone. */
export function isRestated({ metadata: before }: Resource, { metadata: after }: Resource): boolean {
  return (
    before.generation !== after.generation ||
    before.uid !== after.uid ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    JSON.stringify([before.labels, before.annotations]) !== JSON.stringify([after.labels, after.annotations])
  );
}
