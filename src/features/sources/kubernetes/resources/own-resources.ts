import type { Client } from '../../../../kubernetes/client.ts';
import type { Outage } from '../../../../kubernetes/outage.ts';
import { type ReflectorState, type ResourceChange, startReflector } from '../../../../kubernetes/reflector.ts';
import type { Resource } from '../../../../kubernetes/resource.ts';
import { pluralOf } from '../../../../model/lower/crd/names.ts';
import { withoutBookkeeping } from '../resource-file.ts';
import { mayChangeDeclaration, resourcePaths } from '../stated-resources.ts';

/** Kind of a resource that servers create. */
export type OwnKind = 'Source' | 'Plan';

/** The resources of a cluster that servers create, kept up to date. */
export interface OwnResources {
  /** Resolves once both kinds were listed, or could not be listed. */
  readonly started: Promise<void>;
  /** Returns whether the resources of a kind in a namespace are up to date. */
  stateOf(kind: OwnKind, namespace: string): ReflectorState;
  /** Returns the resources of a kind in a namespace. */
  resourcesIn(kind: OwnKind, namespace: string): readonly Resource[];
  /** Returns the namespaces that contain such resources, or contained some before. */
  namespaces(): readonly string[];
  stop(): Promise<void>;
}

/** Options for following the resources that servers create. */
export interface OwnResourcesOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  /** API group and version of the resources, such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  /** Namespaces that may be read. Absent: all of them. */
  readonly namespaces?: readonly string[] | undefined;
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /**
   * Called when a resource of a namespace was created, was deleted, or requests something else. Without a namespace:
   * all may have changed.
   */
  readonly onChange: (namespace: string | undefined) => void;
  /** Called when a resource shows another status, written by this server or by another client. */
  readonly onStatus: (namespace: string) => void;
}

/** Follows the resources that servers create. Their definitions may be missing. */
export function followOwnResources(options: OwnResourcesOptions): OwnResources {
  const { client, apiVersion, namespaces, outage, onError, onChange, onStatus } = options;
  const follow = (kind: OwnKind) => {
    const byNamespace = new Map<string, Map<string, Resource>>();
    const note = ({ before, after }: ResourceChange): void => {
      const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {};
      const others = byNamespace.get(namespace) ?? new Map<string, Resource>();
      byNamespace.set(namespace, others);
      if (after === undefined) others.delete(name);
      else others.set(name, after);
      if (before === undefined || after === undefined || mayChangeDeclaration(before, after)) onChange(namespace);
      else onStatus(namespace);
    };
    const opened = resourcePaths(apiVersion, pluralOf(kind), namespaces).map(({ path, namespace }) => {
      const { promise: started, resolve } = Promise.withResolvers<void>();
      const onState = (): void => {
        resolve();
        onChange(undefined);
      };
      const keep = withoutBookkeeping;
      return {
        started,
        namespace,
        reflector: startReflector({ client, path, outage, onError, onChange: note, keep, onState }),
      };
    });
    return { opened, byNamespace };
  };
  const followed = { Source: follow('Source'), Plan: follow('Plan') };
  const reflectors = [...followed.Source.opened, ...followed.Plan.opened];
  return {
    started: Promise.all(reflectors.map(({ started }) => started)).then(() => undefined),
    // A namespace that cannot be read does not affect the state of the others.
    stateOf: (kind, of) =>
      followed[kind].opened.find(({ namespace = of }) => namespace === of)?.reflector.state ?? { state: 'starting' },
    resourcesIn: (kind, namespace) => [...(followed[kind].byNamespace.get(namespace)?.values() ?? [])],
    namespaces: () => [...new Set(Object.values(followed).flatMap(({ byNamespace }) => [...byNamespace.keys()]))],
    async stop() {
      await Promise.all(reflectors.map(({ reflector }) => reflector.stop()));
    },
  };
}
