import { randomUUID } from 'node:crypto';
import { defaultBackoff, pauseMs } from '../../../../kubernetes/backoff.ts';
import type { Client } from '../../../../kubernetes/client.ts';
import { ApiError } from '../../../../kubernetes/errors.ts';
import { createPacer } from '../../../../kubernetes/pacer.ts';
import { equalJson, type Json, type JsonObject } from '../../../../lib/json.ts';

/** A condition of a resource, in the Kubernetes format. */
export interface WrittenCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Reason as one word, for programs. */
  readonly reason: string;
  readonly message: string;
  /** Time at which `status` changed last, in ISO 8601. */
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** A status with conditions. */
export interface WrittenStatus {
  readonly conditions: readonly WrittenCondition[];
}

/** A resource whose status is written. */
export interface StatusTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Status that the resource shows now. */
  readonly shown: WrittenStatus | undefined;
  /**
   * Version of the resource that shows `shown`. Absent: statuses that were written a moment ago are not taken into
   * account.
   */
  readonly version?: string;
  /** Types of the conditions whose changes become events. Default: `Ready`. */
  readonly reported?: readonly string[];
}

/** Writes the statuses of resources, and creates events for what changed. */
export interface StatusWriter {
  /**
   * Writes a status unless the resource shows it already. If several wait for one resource, only the last one is
   * written.
   */
  put(target: StatusTarget, status: WrittenStatus): void;
  /** Stops writing. Statuses that wait are dropped. */
  stop(): void;
}

/** Maximum number of writes in flight, and maximum number that start per second, for one cluster. */
const pace = { atOnce: 16, perSecond: 50 };

/** A status to write, and the number of failed attempts. */
interface PendingWrite {
  readonly target: StatusTarget;
  readonly status: WrittenStatus;
  readonly failures: number;
}

/**
 * Creates a writer. Failed writes are reported and tried again. Writes to one resource are made one after the other.
 */
export function createStatusWriter(
  client: Pick<Client, 'apply' | 'create'>,
  { instance, onError }: { readonly instance: string; readonly onError: (error: unknown) => void },
): StatusWriter {
  const pacer = createPacer(pace);
  const waiting = new Map<string, PendingWrite>();
  const running = new Set<string>();
  const putOff = new Map<string, NodeJS.Timeout>();
  const written = createRecentWrites();
  let isStopped = false;
  const begin = (name: string): void => {
    if (running.has(name)) return;
    running.add(name);
    void pacer
      .run(() => write(name))
      .finally(() => {
        running.delete(name);
        if (waiting.has(name)) begin(name);
      });
  };
  const write = async (name: string): Promise<void> => {
    const next = waiting.get(name);
    if (next === undefined || isStopped) return;
    waiting.delete(name);
    written.note(name, next);
    try {
      await client.apply(`${pathOf(next.target)}/status`, statusObject(next.target, next.status));
    } catch (error) {
      written.forget(name);
      if (!isGone(error)) again(name, next, error);
      return;
    }
    await noteEvents(next).catch(onError);
  };
  const noteEvents = async ({ target, status }: PendingWrite): Promise<void> => {
    for (const event of eventsOf(target, status, instance))
      await client.create(`/apis/events.k8s.io/v1/namespaces/${target.namespace}/events`, event);
  };
  const again = (name: string, failed: PendingWrite, error: unknown): void => {
    if (isStopped) return;
    onError(error);
    const retry = (): void => {
      putOff.delete(name);
      waiting.set(name, { ...failed, failures: failed.failures + 1 });
      begin(name);
    };
    // A status that has been added since is newer and replaces this one.
    if (!waiting.has(name)) putOff.set(name, setTimeout(retry, pauseMs(defaultBackoff, failed.failures, error)));
  };
  const forget = (name: string): void => {
    clearTimeout(putOff.get(name));
    putOff.delete(name);
    waiting.delete(name);
  };
  return {
    put(target, status) {
      const name = pathOf(target);
      forget(name);
      if (isStopped || equalJson(asJson(target.shown), asJson(status)) || written.has(name, target, status)) return;
      waiting.set(name, { target, status, failures: 0 });
      begin(name);
    },
    stop() {
      isStopped = true;
      for (const name of [...putOff.keys(), ...waiting.keys()]) forget(name);
    },
  };
}

/** Statuses that were written a moment ago, and that the known resources may not show yet. */
interface RecentWrites {
  note(name: string, write: PendingWrite): void;
  forget(name: string): void;
  /** Whether this status was written to the version of the resource that is still the latest known one. */
  has(name: string, target: StatusTarget, status: WrittenStatus): boolean;
}

function createRecentWrites(): RecentWrites {
  const latest = new Map<string, PendingWrite>();
  return {
    note(name, write) {
      latest.delete(name);
      latest.set(name, write);
      const [oldest] = latest.keys();
      if (latest.size > maxRecentWrites && oldest !== undefined) latest.delete(oldest);
    },
    forget: (name) => latest.delete(name),
    has(name, { uid, version }, status) {
      const last = latest.get(name);
      if (last === undefined || version === undefined) return false;
      const isLatest = last.target.uid === uid && last.target.version === version;
      return isLatest && equalJson(withoutTimes(last.status), withoutTimes(status));
    },
  };
}

/** Maximum number of remembered writes: those of 20 seconds. By then, followed resources show what was written. */
const maxRecentWrites = 1000;

/** Returns the status without the transition times of its conditions, because these depend on the status before. */
function withoutTimes(status: WrittenStatus): Json {
  const conditions = status.conditions.map(({ lastTransitionTime: _, ...condition }) => condition);
  return JSON.parse(JSON.stringify({ ...status, conditions }));
}

/** Whether the resource has been deleted before its status was written. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

function pathOf({ apiVersion, namespace, plural, name }: StatusTarget): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;
}

function statusObject({ apiVersion, kind, name, namespace }: StatusTarget, status: WrittenStatus): JsonObject {
  return { apiVersion, kind, metadata: { name, namespace }, status: asJson(status) };
}

/** Returns an event for each reported condition whose status or reason changed. */
function eventsOf(target: StatusTarget, status: WrittenStatus, instance: string): readonly JsonObject[] {
  const { reported = ['Ready'], shown } = target;
  return status.conditions.flatMap((after) => {
    const before = shown?.conditions.find(({ type }) => type === after.type);
    if (!reported.includes(after.type) || (before?.status === after.status && before.reason === after.reason))
      return [];
    // It is no event that a new condition other than `Ready` is false, because that is normal.
    const isEvent = after.type === 'Ready' || after.status === 'True' || before !== undefined;
    return isEvent ? [eventOf(target, after, instance)] : [];
  });
}

function eventOf(target: StatusTarget, after: WrittenCondition, instance: string): JsonObject {
  const { apiVersion, kind, namespace, name, uid } = target;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name}.${randomUUID().slice(0, 13)}`, namespace },
    eventTime: new Date().toISOString().replace('Z', '000Z'),
    reportingController: 'heddle.dev/heddle',
    reportingInstance: instance,
    action: 'Reconcile',
    reason: after.reason,
    regarding: { apiVersion, kind, namespace, name, uid },
    note: after.message.slice(0, 1024),
    type: after.type !== 'Ready' || after.status === 'True' ? 'Normal' : 'Warning',
  };
}

/** Converts a status to JSON, which is possible because it is plain data. */
function asJson(status: WrittenStatus | undefined): Json {
  return status === undefined ? null : JSON.parse(JSON.stringify(status));
}
