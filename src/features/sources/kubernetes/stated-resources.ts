import type { Client } from '../../../kubernetes/client.ts';
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
  readonly onError: (error: unknown) => void;
  /** Something is stated otherwise in a namespace. */
  readonly onChange: (namespace: string) => void;
  /** What is at a path can be read, or cannot be any more. */
  readonly onState: (path: string) => void;
}

/** Follows the resources of all namespaces of a cluster. */
export function followResources(options: ResourcesOptions): StatedResources {
  const { client, apiVersion, kinds, onError } = options;
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
  const follow = (kind: ResourceKind): Reflector => {
    const path = `/apis/${apiVersion}/${kind.plural}`;
    const onChange = (change: ResourceChange) => note(kind, change);
    const onState = () => options.onState(path);
    return startReflector({ client, path, onChange, onState, onError, keep: withoutBookkeeping });
  };
  const reflectors = new Map(kinds.map((kind) => [kind.plural, follow(kind)]));
  return {
    statedIn: (namespace) => [...(byNamespace.get(namespace)?.values() ?? [])],
    stateOf: (plural) => reflectors.get(plural)?.state ?? { state: 'starting' },
    version: (_, plural) =>
      latest([...reflectors].flatMap(([of, { version }]) => ((plural ?? of) === of ? (version ?? []) : []))),
    async stop() {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()));
    },
  };
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
