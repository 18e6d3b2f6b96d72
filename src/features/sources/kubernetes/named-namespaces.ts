import { setTimeout as delay } from 'node:timers/promises';
import { defaultBackoff, pauseMs } from '../../../kubernetes/backoff.ts';
import type { Client } from '../../../kubernetes/client.ts';
import { ApiError, reasonOf } from '../../../kubernetes/errors.ts';
import { createOutage, type Outage } from '../../../kubernetes/outage.ts';
import type { Reflector, ReflectorState } from '../../../kubernetes/reflector.ts';
import type { Resource } from '../../../kubernetes/resource.ts';

/** Options for following namespaces that are read one by one. */
export interface NamedNamespacesOptions {
  readonly client: Pick<Client, 'get'>;
  readonly names: readonly string[];
  /** Returns the part of a namespace that is kept in memory. */
  readonly keep: (namespace: Resource) => Resource;
  readonly outage?: Outage | undefined;
  readonly onChange: (name: string) => void;
  readonly onState: (state: ReflectorState) => void;
}

/**
 * Interval between two readings, in milliseconds. A server that may not list namespaces may not watch a single one
 * either.
 */
const pollIntervalMs = 30_000;

/**
 * Reads the given namespaces repeatedly, for a server that has no rights beyond them. A namespace that cannot be read
 * keeps its last state.
 */
export function followNamedNamespaces(options: NamedNamespacesOptions): Reflector {
  const { client, names, keep, outage = createOutage(), onChange, onState } = options;
  const objects = new Map<string, Resource>();
  const ending = new AbortController();
  let state: ReflectorState = { state: 'starting' };
  let failures = 0;
  const look = async (name: string): Promise<ReflectorState | undefined> => {
    try {
      const found = keep(await client.get(`/api/v1/namespaces/${name}`));
      const before = objects.get(name)?.metadata.resourceVersion;
      objects.set(name, found);
      if (before !== found.metadata.resourceVersion) onChange(name);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        if (objects.delete(name)) onChange(name);
        return undefined;
      }
      const status = error instanceof ApiError ? error.status : undefined;
      return { state: 'failing', reason: `namespace ${name}: ${reasonOf(error)}`, status };
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const faults = await Promise.all(names.map(look));
      const next = faults.find((fault) => fault !== undefined) ?? { state: 'synced' as const };
      failures = next.state === 'synced' ? 0 : failures + 1;
      const isNew = JSON.stringify(next) !== JSON.stringify(state);
      const isRecovered = state.state === 'failing' && next.state === 'synced';
      state = next;
      if (isNew && !ending.signal.aborted) onState(next);
      if (isRecovered) outage.end();
      const pause = failures === 0 ? pollIntervalMs : Math.min(pollIntervalMs, pauseMs(defaultBackoff, failures));
      const isUnanswered = next.state === 'failing' && next.status === undefined;
      const signal = isUnanswered ? AbortSignal.any([ending.signal, outage.ended]) : ending.signal;
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    objects,
    get state() {
      return state;
    },
    version: undefined,
    async stop() {
      ending.abort();
      await running;
    },
  };
}
