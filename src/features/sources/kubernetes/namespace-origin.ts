import { reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { SourceFile } from '../../../model/document.ts';
import type { Fetched, Origin } from '../files/origin.ts';
import { digestOfContent, everyFile } from '../files/selection.ts';
import type { Cluster, Stated } from './cluster.ts';
import { createReminder } from './reminder.ts';
import { fileOf, isTerminating, pluralOfPath, type ResourceKind } from './resource-file.ts';
import { readSecretKeys } from './secrets.ts';
import { createSettler, plainSettle } from './settle.ts';
import { createStatusReport } from './status/status-report.ts';

/** A namespace of a cluster as a source of documents. */
export interface NamespaceOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** The source that it is. */
  readonly source: string;
  readonly apiVersion: string;
  readonly kinds: readonly ResourceKind[];
  /** The files that state objects of the source until now. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
  /** ISO 8601. */
  readonly now: () => string;
  readonly settle?: typeof plainSettle;
}

/**
 * Opens a namespace. Resources that are not there any more were deleted only when the namespace and the definition of their
 * kind are still there, and are the same as when the source was applied last: both take their resources with them.
 */
export function openNamespace(options: NamespaceOptions): Origin {
  const { cluster, namespace, settle = plainSettle } = options;
  const report = createStatusReport(options);
  let changed: (() => void) | undefined;
  // Secrets are not watched: one that is missing is looked for until it is there.
  const reminder = createReminder(() => changed?.());
  return {
    async fetch(last) {
      const { fetched, stated } = await readNamespace(options, last?.uids);
      if (!fetched.ok) return fetched;
      try {
        const secrets = await readSecretKeys(options, stated);
        reminder.note(changed !== undefined && [...secrets.values()].some((found) => 'reason' in found));
        return { ...fetched, secrets };
      } catch (error) {
        return { ok: false, reason: `Secrets that resources name cannot be read: ${reasonOf(error)}` };
      }
    },
    peek: async () => (await readNamespace(options, undefined)).fetched,
    concluded: report.concluded,
    watch(notify) {
      changed = notify;
      const settler = createSettler(notify, settle);
      const unlisten = cluster.onChange((where) => {
        if (where === undefined || where === namespace) settler.touch();
      });
      return async () => {
        unlisten();
        changed = undefined;
        settler.stop();
        reminder.stop();
        report.stop();
      };
    },
  };
}

/** What is there, and the resources that say so. */
interface ReadNamespace {
  readonly fetched: Fetched;
  readonly stated: readonly Stated[];
}

async function readNamespace(options: NamespaceOptions, last: string | undefined): Promise<ReadNamespace> {
  const { cluster, namespace, apiVersion } = options;
  const fault = namespaceFault(options, cluster.namespaces.get(namespace));
  if (fault !== undefined) return unavailable(fault);
  const stated = cluster.statedIn(namespace).filter(({ resource }) => !isTerminating(resource));
  const files = stated.map(({ kind, resource }) => fileOf(resource, kind, apiVersion)).sort(byPath);
  const former = await options.statedFiles();
  const unread = unreadFault(
    options,
    new Set([...stated.map(({ kind }) => kind.plural), ...pluralsOf(former, namespace)]),
  );
  if (unread !== undefined) return unavailable(unread);
  const there = new Set(files.map(({ path }) => path));
  const missing = pluralsOf(
    [...former].filter((path) => !there.has(path)),
    namespace,
  );
  const lost = missing.size === 0 ? undefined : await lossFault(options, missing, last);
  if (lost !== undefined) return unavailable(lost);
  const uids = await uidsOf(options, new Set(stated.map(({ kind }) => kind.plural)));
  // What took the place of what was deleted is looked at again, so that it is known from then on.
  const digest = sha256(
    `${uids} ${digestOfContent(
      files.map((file) => ({ file, relative: file.path })),
      everyFile,
    )}`,
  );
  return { fetched: { ok: true, files, digest, uids, selection: everyFile, warnings: [] }, stated };
}

function unavailable(reason: string): ReadNamespace {
  return { fetched: { ok: false, reason }, stated: [] };
}

function byPath(a: SourceFile, b: SourceFile): number {
  return a.path < b.path ? -1 : 1;
}

/** The kinds of files, by their plurals. */
function pluralsOf(paths: Iterable<string>, namespace: string): ReadonlySet<string> {
  return new Set([...paths].flatMap((path) => pluralOfPath(path, namespace) ?? []));
}

function namespaceFault({ namespace, source }: NamespaceOptions, found: Resource | undefined): string | undefined {
  if (found !== undefined && !isTerminating(found)) return undefined;
  const what = found === undefined ? 'is not there any more' : 'is being deleted';
  return keptReason(`the namespace ${namespace} ${what}`, source);
}

/** Why a namespace states nothing now, and what becomes of the objects that it stated. */
export function keptReason(why: string, source: string): string {
  return `${why}; the objects that it stated stay until it is read again, or \`heddle detach ${source}\` lets them go`;
}

/** Why a kind that matters cannot be read; a kind that states nothing and never did may be missing. */
function unreadFault({ cluster, kinds }: NamespaceOptions, plurals: ReadonlySet<string>): string | undefined {
  for (const { kind, plural } of kinds) {
    const state = cluster.stateOf(plural);
    if (!plurals.has(plural) || state.state === 'synced') continue;
    const reason = state.state === 'failing' ? state.reason : 'they were not listed yet';
    return `resources of the kind ${kind} cannot be read: ${reason}`;
  }
  return undefined;
}

/** Names the namespace and the definitions of what is in it: others of the same names have other ids. */
async function uidsOf({ cluster, namespace }: NamespaceOptions, plurals: ReadonlySet<string>): Promise<string> {
  const parts = [`namespace=${cluster.namespaces.get(namespace)?.metadata.uid ?? ''}`];
  for (const plural of [...plurals].sort()) parts.push(`${plural}=${await cluster.definitionId(plural)}`);
  return parts.join(' ');
}

/** Reads what `uidsOf` wrote. */
function readUids(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(' ').map((part): [string, string] => [part.replace(/=.*/, ''), part.replace(/^[^=]*=/, '')]),
  );
}

/**
 * Why resources that are missing were not deleted one by one, as far as that can be seen; read after the resources, so that
 * what took them is seen. `last` is where the source was applied from last.
 */
async function lossFault(
  options: NamespaceOptions,
  missing: ReadonlySet<string>,
  last: string | undefined,
): Promise<string | undefined> {
  const { cluster, namespace, source, kinds } = options;
  const former = readUids(last ?? '');
  const isOther = (name: string, { metadata: { uid } }: Resource) => (former.get(name) ?? uid) !== uid;
  const way = `state them again, or let their objects go with \`heddle detach ${source}\``;
  try {
    const found = await cluster.readNamespace(namespace);
    const fault = namespaceFault(options, found);
    if (fault !== undefined) return fault;
    if (found !== undefined && isOther('namespace', found))
      return `the namespace ${namespace} was deleted and made again, and resources that are missing went with the former one; ${way}`;
    for (const { kind, plural } of kinds.filter(({ plural }) => missing.has(plural))) {
      const definition = await cluster.readDefinition(plural);
      if (definition === undefined || isTerminating(definition))
        return `the CustomResourceDefinition of ${kind} ${definition === undefined ? 'is not there' : 'is being deleted'}, and its resources with it; install it again`;
      if (isOther(plural, definition))
        return `the CustomResourceDefinition of ${kind} was deleted and made again, and resources that are missing went with the former one; ${way}`;
    }
    return undefined;
  } catch (error) {
    return `whether resources that are missing were deleted cannot be seen: ${reasonOf(error)}`;
  }
}
