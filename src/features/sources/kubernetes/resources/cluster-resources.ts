import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../../../../commit/engine.ts';
import { listPlans, type PlanHead } from '../../../../db/config/plans.ts';
import { findSources, type SourceRecord } from '../../../../db/sources/sources.ts';
import type { Client } from '../../../../kubernetes/client.ts';
import type { NamespaceRule } from '../../../../model/sources/kubernetes.ts';
import { readStatus } from '../../../../model/sources/status.ts';
import type { CalledSource } from '../../scheduled-sources.ts';
import type { Cluster } from '../cluster.ts';
import { createAlarms } from './alarms.ts';
import type { OwnResources } from './own-resources.ts';
import { createPlanWriter } from './plan-writer.ts';
import { createSourceWriter } from './source-writer.ts';

/** Options for showing the sources and plans of a cluster as resources in it. */
export interface ClusterResourcesOptions {
  readonly engine: Engine;
  readonly account: string;
  /**
   * Name of the cluster. It is the prefix of the names of its sources, and the name of the resource in each namespace.
   */
  readonly name: string;
  readonly cluster: Pick<Cluster, 'statedIn' | 'statuses' | 'namespaces'>;
  readonly client: Pick<Client, 'create' | 'delete'>;
  readonly own: OwnResources;
  readonly onError: (error: unknown) => void;
}

/** A namespace, and all facts about its source at one moment. */
export interface NamespaceFacts {
  readonly namespace: string;
  readonly source: string;
  /** Rule that covers the namespace. `undefined`: no rule does. */
  readonly rule: NamespaceRule | undefined;
  readonly record: SourceRecord | undefined;
  /** Plan that waits for an approval, in its current state. */
  readonly plan: PlanHead | undefined;
}

/**
 * Shows the sources of a cluster and their waiting plans as resources, and carries out what these resources request.
 */
export interface ClusterResources {
  /** Sets which namespaces are covered, and what is recorded and requested of the sources. */
  updateSources(covered: ReadonlyMap<string, NamespaceRule>, recorded: readonly CalledSource[]): void;
  /** Updates the resources of a namespace after a change. Without a namespace: all may have changed. */
  touch(namespace: string | undefined): void;
  /**
   * Like `touch`, but after a delay: servers that show different things in one resource must not overwrite each other
   * in a fast loop.
   */
  touchLater(namespace: string): void;
  /** Stops, and waits for running updates. */
  stop(): Promise<void>;
}

/** Time to wait for more changes, and time after which a failed or delayed update is started. Both in milliseconds. */
const [settleMs, retryMs] = [100, 10_000];

/** Maximum number of namespaces that are updated together. */
const maxNamespacesPerUpdate = 200;

/** Keeps the resources of a cluster in line with the database. */
export function showClusterResources(options: ClusterResourcesOptions): ClusterResources {
  const { name, own, onError } = options;
  const sourceWriter = createSourceWriter(options);
  const touched = new Set<string>();
  const ending = new AbortController();
  let covered: ReadonlyMap<string, NamespaceRule> = new Map();
  let seen: ReadonlyMap<string, string> | undefined;
  let running: Promise<void> | undefined;
  const touch = (namespace: string | undefined): void => {
    for (const one of namespace === undefined ? [...covered.keys(), ...own.namespaces()] : [namespace])
      touched.add(one);
    // Until it is known which namespaces are covered, none would seem to be covered, and their resources would be
    // deleted.
    if (touched.size > 0 && seen !== undefined && !ending.signal.aborted) running ??= run();
  };
  const alarms = createAlarms(touch);
  const planWriter = createPlanWriter({ ...options, alarms });
  /**
   * Retries the namespaces that failed. A failure in one namespace (for example a missing right) does not affect the
   * others.
   */
  const failed = (namespaces: readonly string[], error: unknown): void => {
    onError(error);
    for (const namespace of namespaces) alarms.set(namespace, retryMs);
  };
  const settle = async (facts: NamespaceFacts): Promise<void> => {
    try {
      await sourceWriter.update(facts, await planWriter.update(facts));
    } catch (error) {
      failed([facts.namespace], error);
    }
  };
  const pass = async (): Promise<void> => {
    const namespaces = [...touched].slice(0, maxNamespacesPerUpdate);
    for (const namespace of namespaces) touched.delete(namespace);
    try {
      const found = await readFacts(options, namespaces, covered);
      await Promise.all(found.map(settle));
    } catch (error) {
      failed(namespaces, error);
    }
  };
  const run = async (): Promise<void> => {
    while (touched.size > 0 && !ending.signal.aborted) {
      await delay(settleMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await pass();
    }
    running = undefined;
  };

  return {
    touch,
    touchLater: (namespace) => (ending.signal.aborted ? undefined : alarms.set(namespace, retryMs)),
    updateSources(now, recorded) {
      const next = new Map([...now.keys()].map((namespace) => [namespace, 'covered']));
      for (const { id, generation, suspended, requested, approved } of recorded) {
        const namespace = id.slice(name.length + 1);
        if (id.startsWith(`${name}.`) && next.has(namespace))
          next.set(namespace, JSON.stringify([generation, suspended, requested, approved]));
      }
      // At the start, all namespaces are updated once, to find resources that are left in namespaces that no rule
      // covers any more.
      const isFirst = seen === undefined;
      const former = seen ?? new Map<string, string>();
      [covered, seen] = [now, next];
      if (isFirst) touch(undefined);
      for (const namespace of new Set([...former.keys(), ...next.keys()]))
        if (former.get(namespace) !== next.get(namespace)) touch(namespace);
    },
    async stop() {
      ending.abort();
      alarms.stop();
      await running;
    },
  };
}

async function readFacts(
  { engine, account, name }: ClusterResourcesOptions,
  namespaces: readonly string[],
  covered: ReadonlyMap<string, NamespaceRule>,
): Promise<readonly NamespaceFacts[]> {
  const sourceOf = (namespace: string) => `${name}.${namespace}`;
  const found = await findSources(engine.database, account, namespaces.map(sourceOf));
  const records = new Map(found.map((record) => [record.id, record]));
  const ids = found.flatMap(({ status }) => readStatus(status).planId ?? []);
  const heads = ids.length === 0 ? [] : await listPlans(engine.database, account, { ids, limit: ids.length });
  const plans = new Map(heads.map((head) => [head.id, head]));
  return namespaces.map((namespace) => {
    const source = sourceOf(namespace);
    const record = records.get(source);
    const { state, planId } = readStatus(record?.status ?? {});
    const plan = state === 'needs_approval' && planId !== undefined ? plans.get(planId) : undefined;
    return { namespace, source, rule: covered.get(namespace), record, plan };
  });
}
