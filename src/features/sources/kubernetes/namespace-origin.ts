import { reasonOf } from '../../../kubernetes/errors.ts';
import type { ReflectorState } from '../../../kubernetes/reflector.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { SourceFile } from '../../../model/document.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Fetched, Origin, OriginOutcome } from '../files/origin.ts';
import { digestOfContent, everyFile } from '../files/selection.ts';
import type { Cluster } from './cluster.ts';
import { createDebouncer, defaultSettleTimes } from './debouncer.ts';
import { type LastApplied, lossFault, namespaceFault, uidsOf } from './losses.ts';
import { createNamedReads } from './named-reads.ts';
import {
  lostOutputs,
  type OutputStore,
  outputSecretOf,
  type StatedObject,
  writeOutputSecrets,
} from './output-secrets.ts';
import { createReminder } from './reminder.ts';
import { fileOf, isTerminating, pathOf, pluralOfPath, type ResourceKind } from './resource-file.ts';
import { readSecretKeys } from './secrets.ts';
import { type ResolvedResources, resolveServices } from './services.ts';
import type { StatedResource } from './stated-resources.ts';
import { isStatusOutdated } from './status/resource-status.ts';
import { createStatusReport, generationOf, objectsByFile, statusOf } from './status/status-report.ts';

/** Options for a namespace of a cluster as a source of documents. */
export interface NamespaceOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Name of the source that reads the namespace. */
  readonly source: string;
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  /** Returns the paths of the files that currently declare objects of the source. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
  /** Returns the current time, in ISO 8601. */
  readonly now: () => string;
  readonly outputs: OutputStore;
  readonly managementUrl?: string | undefined;
  readonly settleTimes?: typeof defaultSettleTimes;
}

/**
 * Opens a namespace as an origin. Missing resources count as deleted only when the namespace and the definition of
 * their kind still exist and are the same as when the source was applied last: deleting either of them deletes the
 * resources too.
 */
export function openNamespace(options: NamespaceOptions): Origin {
  const { cluster, namespace, settleTimes = defaultSettleTimes } = options;
  const report = createStatusReport(options);
  let changed: (() => void) | undefined;
  // Repeats the reading until the missing Secrets and Services exist.
  const reminder = createReminder(() => changed?.());
  const outputReminder = createReminder(() => changed?.());
  const named = createNamedReads({ cluster, onChange: () => changed?.() });
  let last: OriginOutcome | undefined;
  /**
   * Generations that were read last. The result of a reconcile does not concern resources that were created or changed
   * after the reading.
   */
  let read: ReadonlySet<string> = new Set();
  let lost: ReadonlySet<string> | undefined;
  const concluded = async (outcome: OriginOutcome): Promise<void> => {
    last = outcome;
    const objects = objectsIn(options, outcome.state);
    const outputs = await writeOutputSecrets(options, objects);
    lost = lostOutputs(objects, outputs);
    const isOpen = [...outputs.values()].some(({ problem }) => problem?.code === 'output_secret_unwritten');
    outputReminder.note(changed !== undefined && (isOpen || lost !== undefined));
    report.concluded(outcome, outputs, read);
  };
  return {
    async fetch(last) {
      const reading = named.begin();
      const inCluster = { cluster: reading, namespace };
      const { fetched, stated } = await readNamespace(options, last, (found) => resolveServices(inCluster, found));
      if (!fetched.ok) return fetched;
      read = new Set(stated.map(({ resource }) => generationOf(resource)));
      try {
        const keys = await readSecretKeys(inCluster, stated);
        if (changed !== undefined) named.follow(reading);
        const isOpen = fetched.problems !== undefined || [...keys.values()].some((found) => 'reason' in found);
        reminder.note(changed !== undefined && isOpen);
        return {
          ...fetched,
          ...(lost === undefined ? {} : { lost }),
          secrets: { keys, mayWrite: cluster.secrets.mayWrite },
        };
      } catch (error) {
        return { ok: false, reason: `Secrets that resources name cannot be read: ${reasonOf(error)}` };
      }
    },
    peek: async () => (await readNamespace(options, undefined, leaveUnresolved)).fetched,
    concluded,
    async unchanged(state) {
      const stated = cluster.statedIn(namespace);
      const isNamed = stated.some((one) => outputSecretOf(one) !== undefined);
      // A resource that was changed and changed back has the same content, but a newer generation.
      const isUnreported = stated.some((one) => isStatusOutdated(one.resource.metadata.generation ?? 0, statusOf(one)));
      if (last !== undefined && (isNamed || isUnreported)) await concluded({ ...last, state });
    },
    watch(notify) {
      changed = notify;
      const settler = createDebouncer(notify, settleTimes);
      const unlisten = cluster.onChange((where) => {
        if (where === undefined || where === namespace) settler.touch();
      });
      return async () => {
        unlisten();
        changed = undefined;
        settler.stop();
        reminder.stop();
        outputReminder.stop();
        named.stop();
        report.stop();
      };
    },
  };
}

/** Returns the resources of a namespace for which objects exist. */
function objectsIn({ cluster, namespace, source }: NamespaceOptions, state: Snapshot): readonly StatedObject[] {
  const objects = objectsByFile(state, source);
  return cluster.statedIn(namespace).flatMap((stated): readonly StatedObject[] => {
    const { kind, resource } = stated;
    const file = pathOf({ namespace, plural: kind.plural, name: resource.metadata.name });
    const object = objects.get(file);
    if (object === undefined || isTerminating(resource)) return [];
    const { outputs = [], renewal } = state.registry.get(object.kind);
    return [{ ...stated, file, object, outputs, expires: renewal?.expires(object) }];
  });
}

/** Content of a namespace, and the resources that declare it. */
interface NamespaceContent {
  readonly fetched: Fetched;
  readonly stated: readonly StatedResource[];
}

/** Leaves Services unresolved: a reading that only finds out what is declared needs no addresses. */
const leaveUnresolved = async (stated: readonly StatedResource[]): Promise<ResolvedResources> => ({
  stated,
  problems: [],
});

async function readNamespace(
  options: NamespaceOptions,
  last: LastApplied | undefined,
  resolve: (stated: readonly StatedResource[]) => Promise<ResolvedResources>,
): Promise<NamespaceContent> {
  const { cluster, namespace, apiVersion } = options;
  const fault = namespaceFault(options, cluster.namespaces.get(namespace));
  if (fault !== undefined) return unavailable(fault);
  const found = cluster.statedIn(namespace).filter(({ resource }) => !isTerminating(resource));
  const resolved = await resolve(found).catch((error: unknown) => reasonOf(error));
  if (typeof resolved === 'string') return unavailable(`Services that resources name cannot be read: ${resolved}`);
  const { stated, problems } = resolved;
  const files = stated.map(({ kind, resource }) => fileOf(resource, kind, apiVersion)).sort(byPath);
  const former = await options.statedFiles();
  const unread = unreadFault(
    options,
    new Set([...stated.map(({ kind }) => kind.plural), ...pluralsOf(former, namespace)]),
  );
  if (unread !== undefined) return unavailable(unread);
  const there = new Set(files.map(({ path }) => path));
  const missing = [...former].filter((path) => !there.has(path));
  const lost = missing.length === 0 ? undefined : await lossFault(options, missing, last ?? {});
  if (lost !== undefined) return { fetched: lost, stated: [] };
  const version = cluster.version(namespace);
  const uids = await uidsOf(options, new Set(stated.map(({ kind }) => kind.plural)));
  // The ids are part of the digest. So when a namespace or definition was deleted and created again, its content is
  // reconciled and the new ids are recorded.
  const digest = sha256(
    `${uids} ${digestOfContent(
      files.map((file) => ({ file, relative: file.path })),
      everyFile,
    )}`,
  );
  const content = {
    files,
    digest,
    uids,
    ...(version === undefined ? {} : { version }),
    ...(problems.length === 0 ? {} : { problems }),
  };
  return { fetched: { ok: true, ...content, selection: everyFile, warnings: [] }, stated };
}

function unavailable(reason: string): NamespaceContent {
  return { fetched: { ok: false, reason }, stated: [] };
}

function byPath(a: SourceFile, b: SourceFile): number {
  return a.path < b.path ? -1 : 1;
}

/** Returns the kinds of files, as plurals. */
function pluralsOf(paths: Iterable<string>, namespace: string): ReadonlySet<string> {
  return new Set([...paths].flatMap((path) => pluralOfPath(path, namespace) ?? []));
}

/**
 * Returns why a relevant kind cannot be read, otherwise `undefined`. `plurals` contains the kinds that the source
 * declares now or declared before.
 */
function unreadFault(
  { cluster, kinds, namespace }: NamespaceOptions,
  plurals: ReadonlySet<string>,
): string | undefined {
  // Kinds that declare something are reported before kinds that might.
  const ordered = [...kinds].sort((a, b) => Number(plurals.has(b.plural)) - Number(plurals.has(a.plural)));
  for (const { kind, plural } of ordered) {
    const state = cluster.stateOf(plural, namespace);
    if (state.state === 'synced' || (!plurals.has(plural) && isRefused(state))) continue;
    const reason = state.state === 'failing' ? state.reason : 'they were not listed yet';
    return `resources of the kind ${kind} cannot be read: ${reason}`;
  }
  return undefined;
}

/** Whether a kind is not installed, or may not be read. This is acceptable for a kind that never declared anything. */
function isRefused(state: ReflectorState): boolean {
  return state.state === 'failing' && (state.status === 403 || state.status === 404);
}
