import type { Resource } from '../../../../kubernetes/resource.ts';
import { isObject } from '../../../../lib/json.ts';
import type { Problem } from '../../../../model/problem.ts';
import type { StoredObject } from '../../../../model/state/object.ts';
import type { Snapshot } from '../../../../model/state/snapshot.ts';
import { driftOf } from '../../../../plan/ownership/drift.ts';
import type { OriginOutcome } from '../../files/origin.ts';
import type { Cluster } from '../cluster.ts';
import type { OutputSecret } from '../output-secrets.ts';
import { pathOf } from '../resource-file.ts';
import type { StatedResource } from '../stated-resources.ts';
import {
  isOnlyMissing,
  isStatusOutdated,
  missingGraceMs,
  type ResourceStatus,
  resourceStatus,
} from './resource-status.ts';

/** Options for reporting on the resources of a namespace. */
export interface StatusReportOptions {
  readonly cluster: Pick<Cluster, 'statedIn' | 'statuses'>;
  readonly namespace: string;
  readonly source: string;
  readonly apiVersion: string;
  /** Returns the current time, in ISO 8601. */
  readonly now: () => string;
}

/** Writes the result of a reconcile to the status of each resource in a namespace. */
export interface StatusReport {
  /** Reports a result. `read` contains the generations to which the result applies. */
  concluded(outcome: OriginOutcome, outputs: OutputSecrets, read: ReadonlySet<string>): void;
  stop(): void;
}

/** Secrets with generated values, by file of the resource. */
type OutputSecrets = ReadonlyMap<string, OutputSecret>;

/** Creates a report. When something is missing, the statuses are written again after `missingGraceMs`. */
export function createStatusReport(options: StatusReportOptions): StatusReport {
  let again: NodeJS.Timeout | undefined;
  const concluded: StatusReport['concluded'] = (outcome, outputs, read) => {
    clearTimeout(again);
    const write = () => report(options, outcome, outputs, read);
    if (write()) again = setTimeout(write, missingGraceMs);
  };
  return { concluded, stop: () => clearTimeout(again) };
}

/** Writes the statuses. Returns whether something that is missing may still appear. */
function report(
  { cluster, namespace, source, apiVersion, now }: StatusReportOptions,
  outcome: OriginOutcome,
  outputs: OutputSecrets,
  read: ReadonlySet<string>,
): boolean {
  const { state } = outcome;
  const objects = objectsByFile(state, source);
  const drifted = new Map<string, number>();
  for (const { object } of driftOf(state, now(), source)) drifted.set(object.id, (drifted.get(object.id) ?? 0) + 1);
  const problemsOf = problemsByFile(outcome);
  let isExpecting = false;
  for (const stated of cluster.statedIn(namespace)) {
    const { kind, resource } = stated;
    const { name, uid, resourceVersion: version, generation = 0, deletionTimestamp } = resource.metadata;
    if (deletionTimestamp !== undefined || !read.has(generationOf(resource))) continue;
    const file = pathOf({ namespace, plural: kind.plural, name });
    const output = outputs.get(file);
    const problems = [...(problemsOf.get(file) ?? []), ...(output?.problem === undefined ? [] : [output.problem])];
    const shown = statusOf(stated);
    const isWaiting = outcome.what === 'waiting' && problems.length === 0;
    // Unchanged resources keep their status. That another resource waits or has a problem is shown on that resource,
    // and on the source.
    if (outcome.what !== 'applied' && problems.length === 0 && !(isWaiting && isStatusOutdated(generation, shown)))
      continue;
    const object = objects.get(file);
    const status = resourceStatus(
      {
        ...{ source, generation, problems },
        object: object === undefined ? undefined : { id: object.id, revision: object.updatedRevision },
        waiting: isWaiting ? { planId: outcome.planId, message: outcome.message } : undefined,
        outputSecret: output === undefined || output.problem !== undefined ? undefined : output.name,
        drifted: object === undefined ? 0 : (drifted.get(object.id) ?? 0),
      },
      shown,
      now(),
    );
    isExpecting ||= isOnlyMissing(problems);
    cluster.statuses.put({ apiVersion, ...kind, namespace, name, uid, version, shown }, status);
  }
  return isExpecting;
}

/** Returns the objects that a source declares, by the file that declares them. */
export function objectsByFile(state: Snapshot, source: string): ReadonlyMap<string, StoredObject> {
  const objects = new Map<string, StoredObject>();
  for (const object of state.declaredBy(source))
    for (const by of object.declared) if (by.source === source) objects.set(by.file, object);
  return objects;
}

function problemsByFile(outcome: OriginOutcome): ReadonlyMap<string, readonly Problem[]> {
  if (outcome.what !== 'refused') return new Map(outcome.heldBack.map(({ file, problems }) => [file, problems]));
  return Map.groupBy(outcome.problems, ({ file = '' }) => file);
}

/** Returns the status of a resource, or `undefined` when it does not have the form that servers write. */
export function statusOf({ resource: { status } }: StatedResource): ResourceStatus | undefined {
  return isObject(status) && Array.isArray(status['conditions']) ? (status as unknown as ResourceStatus) : undefined;
}

/** Returns a text that identifies one generation of one resource. */
export function generationOf({ metadata: { uid, generation = 0 } }: Resource): string {
  return `${uid}/${generation}`;
}
