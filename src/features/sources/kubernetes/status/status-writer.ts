import { randomUUID } from 'node:crypto';
import type { Client } from '../../../../kubernetes/client.ts';
import { ApiError } from '../../../../kubernetes/errors.ts';
import { createPacer } from '../../../../kubernetes/pacer.ts';
import { equalJson, type Json, type JsonObject } from '../../../../lib/json.ts';

/** A condition of a resource, in the form of Kubernetes. */
export interface WrittenCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word for programs. */
  readonly reason: string;
  readonly message: string;
  /** ISO 8601. */
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
  /** The status that it shows. */
  readonly shown: WrittenStatus | undefined;
  /** The conditions whose changes are events; Ready unless said otherwise. */
  readonly reported?: readonly string[];
}

/** Writes statuses of resources, and notes as events what changed. */
export interface StatusWriter {
  /** Writes a status unless the resource shows it already; of several for one resource the last one counts. */
  put(target: StatusTarget, status: WrittenStatus): void;
}

/** So many writes are under way at once, and so many begin a second, in one cluster. */
const pace = { atOnce: 16, perSecond: 50 };

/** Creates a writer. What cannot be written is reported, and written with the next status of the resource. */
export function createStatusWriter(
  client: Pick<Client, 'apply' | 'create'>,
  { instance, onError }: { readonly instance: string; readonly onError: (error: unknown) => void },
): StatusWriter {
  const pacer = createPacer(pace);
  const waiting = new Map<string, { readonly target: StatusTarget; readonly status: WrittenStatus }>();
  const write = async (name: string): Promise<void> => {
    const next = waiting.get(name);
    waiting.delete(name);
    if (next === undefined) return;
    const { target, status } = next;
    try {
      await client.apply(`${pathOf(target)}/status`, statusObject(target, status));
      for (const event of eventsOf(target, status, instance))
        await client.create(`/apis/events.k8s.io/v1/namespaces/${target.namespace}/events`, event);
    } catch (error) {
      // It was deleted meanwhile.
      if (!(error instanceof ApiError && error.status === 404)) onError(error);
    }
  };
  return {
    put(target, status) {
      const name = pathOf(target);
      if (equalJson(asJson(target.shown), asJson(status))) {
        waiting.delete(name);
        return;
      }
      const isQueued = waiting.has(name);
      waiting.set(name, { target, status });
      if (!isQueued) void pacer.run(() => write(name));
    },
  };
}

function pathOf({ apiVersion, namespace, plural, name }: StatusTarget): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;
}

function statusObject({ apiVersion, kind, name, namespace }: StatusTarget, status: WrittenStatus): JsonObject {
  return { apiVersion, kind, metadata: { name, namespace }, status: asJson(status) };
}

/** An event for each condition that begins or ends to hold, or does so for another reason. */
function eventsOf(target: StatusTarget, status: WrittenStatus, instance: string): readonly JsonObject[] {
  const { reported = ['Ready'], shown } = target;
  return status.conditions.flatMap((after) => {
    const before = shown?.conditions.find(({ type }) => type === after.type);
    if (!reported.includes(after.type) || (before?.status === after.status && before.reason === after.reason))
      return [];
    // That what is not normally so is not so is no event by itself.
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

/** A status is plain data. */
function asJson(status: WrittenStatus | undefined): Json {
  return status === undefined ? null : JSON.parse(JSON.stringify(status));
}
