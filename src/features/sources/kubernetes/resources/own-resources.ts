import type { Client } from '../../../../kubernetes/client.ts';
import type { Outage } from '../../../../kubernetes/outage.ts';
import { type ReflectorState, type ResourceChange, startReflector } from '../../../../kubernetes/reflector.ts';
import type { Resource } from '../../../../kubernetes/resource.ts';
import { pluralOf } from '../../../../model/lower/crd/names.ts';
import { withoutBookkeeping } from '../resource-file.ts';
import { isRestated, resourcePaths } from '../stated-resources.ts';

/** A kind of resource that servers make. */
export type OwnKind = 'Source' | 'Plan';

/** The resources of a cluster that servers make, kept up to date. */
export interface OwnResources {
  /** Resolves once both kinds were listed, or could not be. */
  readonly started: Promise<void>;
  /** Whether the resources of a kind in a namespace are those of this moment. */
  stateOf(kind: OwnKind, namespace: string): ReflectorState;
  /** Those of a namespace. */
  in(kind: OwnKind, namespace: string): readonly Resource[];
  /** The namespaces that have some, or had. */
  namespaces(): readonly string[];
  stop(): Promise<void>;
}

/** What is followed, and who hears of it. */
export interface OwnResourcesOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  /** Such as `heddle.dev/v1`. */
  readonly apiVersion: string;
  /** The namespaces that may be read; absent: all of them. */
  readonly namespaces?: readonly string[] | undefined;
  readonly outage?: Outage | undefined;
  readonly onError: (error: unknown) => void;
  /** Something came, went or asks otherwise in a namespace; without one: in all of them maybe. */
  readonly onChange: (namespace: string | undefined) => void;
  /** A resource shows something else: what was written here, or by another client. */
  readonly onStatus: (namespace: string) => void;
}

/** Follows the resources that servers make. Their definitions may be missing. */
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
      if (before === undefined || after === undefined || isRestated(before, after)) onChange(namespace);
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
    // One that cannot be read says nothing about the others.
    stateOf: (kind, of) =>
      followed[kind].opened.find(({ namespace = of }) => namespace === of)?.reflector.state ?? { state: 'starting' },
    in: (kind, namespace) => [...(followed[kind].byNamespace.get(namespace)?.values() ?? [])],
    namespaces: () => [...new Set(Object.values(followed).flatMap(({ byNamespace }) => [...byNamespace.keys()]))],
    async stop() {
      await Promise.all(reflectors.map(({ reflector }) => reflector.stop()));
    },
  };
}
