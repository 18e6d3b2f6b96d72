import { ApiError, reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { isEarlier } from '../../../kubernetes/resource.ts';
import type { Fetched } from '../files/origin.ts';
import type { Cluster } from './cluster.ts';
import { isTerminating, nameOfPath, pluralOfPath, type ResourceKind } from './resource-file.ts';

/** Options for finding out why resources of a namespace are missing. */
export interface LossOptions {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Name of the source that reads the namespace. */
  readonly source: string;
  readonly kinds: readonly ResourceKind[];
}

/** Ids and version with which a source was applied last. */
export interface LastApplied {
  readonly uids?: string | undefined;
  readonly version?: string | undefined;
}

type Unavailable = Extract<Fetched, { readonly ok: false }>;

/**
 * Recorded as the version when the store was found to be set back. By the next look, the store's version may have
 * passed the last applied version again, so that comparing them would show nothing.
 */
const setBackVersion = 'lost';

/**
 * Returns why missing resources were not deleted one by one, as far as that can be seen, otherwise `undefined`. Must be
 * called after the resources were read, so that it sees what removed them. `missing` contains the paths of their files.
 */
export async function lossFault(
  options: LossOptions,
  missing: readonly string[],
  last: LastApplied,
): Promise<Unavailable | undefined> {
  const { cluster, namespace, source, kinds } = options;
  const unavailable = (reason: string): Unavailable => ({ ok: false, reason });
  const former = readUids(last.uids ?? '');
  const named = namesOf(missing, options);
  const way = `state them again, or release all objects of the source with \`heddle detach ${source}\``;
  try {
    const found = await cluster.readNamespace(namespace);
    const fault = namespaceFault(options, found);
    if (fault !== undefined) return unavailable(fault);
    if (found !== undefined && isRecreated(former, 'namespace', found))
      return unavailable(
        `the namespace ${namespace} was deleted and created again, and the missing resources were deleted with the former one: ${named}; ${way}`,
      );
    const plurals = new Set(missing.map((path) => pluralOfPath(path, namespace)));
    for (const kind of kinds.filter(({ plural }) => plurals.has(plural))) {
      const fault = await definitionFault(options, kind, former);
      if (fault !== undefined) return unavailable(`${fault.why}${fault.isOver ? `: ${named}; ${way}` : ''}`);
      if (last.version === setBackVersion || isEarlier(cluster.version(namespace, kind.plural), last.version))
        return {
          ...unavailable(
            `the cluster was restored to an earlier state, for example from a backup, and lacks resources that were stated since: ${named}; ${way}`,
          ),
          version: setBackVersion,
        };
    }
    return undefined;
  } catch (error) {
    return unavailable(`it cannot be determined whether the missing resources were deleted: ${reasonOf(error)}`);
  }
}

/**
 * Whether a resource has the name of one that existed when the source was applied last, but another id. An id that
 * could not be read then counts as the same.
 */
function isRecreated(former: ReadonlyMap<string, string>, name: string, { metadata: { uid } }: Resource): boolean {
  return (former.get(name) || uid) !== uid;
}

/**
 * Returns why the definition of a kind shows that its resources were not deleted one by one. `isOver`: the definition
 * exists again.
 */
async function definitionFault(
  { cluster, namespace }: LossOptions,
  { kind, plural }: ResourceKind,
  former: ReadonlyMap<string, string>,
): Promise<{ readonly why: string; readonly isOver: boolean } | undefined> {
  const of = `the CustomResourceDefinition of ${kind}`;
  try {
    const found = await cluster.readDefinition(plural);
    if (found === undefined)
      return { why: `${of} does not exist, and neither do its resources; install it again`, isOver: false };
    if (isTerminating(found))
      return { why: `${of} is being deleted, and its resources with it; install it again`, isOver: false };
    if (!isRecreated(former, plural, found)) return undefined;
    const why = `${of} was deleted and created again, and the missing resources were deleted with the former one`;
    return { why, isOver: true };
  } catch (error) {
    if (!(cluster.isBounded && error instanceof ApiError && error.status === 403)) throw error;
    // Deleting a definition deletes all of its resources. If one is left, the definition was not deleted.
    if (cluster.statedIn(namespace).some((stated) => stated.kind.plural === plural)) return undefined;
    const why = `no resource of the kind ${kind} is left, and without the right to get customresourcedefinitions it is unknown whether ${of} was deleted`;
    return { why, isOver: true };
  }
}

/** Maximum number of resources that are named in a message. */
const maxNames = 3;

function namesOf(paths: readonly string[], { namespace, kinds }: LossOptions): string {
  const names = paths.slice(0, maxNames).map((path) => nameOfPath(path, namespace, kinds));
  const more = paths.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}

/** Returns why a namespace declares nothing, or `undefined` when it exists and is not being deleted. */
export function namespaceFault(
  { namespace, source }: Pick<LossOptions, 'namespace' | 'source'>,
  found: Resource | undefined,
): string | undefined {
  if (found !== undefined && !isTerminating(found)) return undefined;
  const what = found === undefined ? 'does not exist any more' : 'is being deleted';
  return keptReason(`the namespace ${namespace} ${what}`, source);
}

/** Returns the reason why a namespace declares nothing now, and what happens to the objects that it declared. */
export function keptReason(why: string, source: string): string {
  return `${why}; the objects that it stated stay until it is read again, or until \`heddle detach ${source}\` releases them`;
}

/**
 * Returns the ids of the namespace and of the definitions of its resources, as one text. If one of them is deleted and
 * created again under the same name, its id differs.
 */
export async function uidsOf(
  { cluster, namespace }: Pick<LossOptions, 'cluster' | 'namespace'>,
  plurals: ReadonlySet<string>,
): Promise<string> {
  const parts = [`namespace=${cluster.namespaces.get(namespace)?.metadata.uid ?? ''}`];
  for (const plural of [...plurals].sort()) parts.push(`${plural}=${await cluster.definitionId(plural)}`);
  return parts.join(' ');
}

/** Parses the text that `uidsOf` returns. */
function readUids(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(' ').map((part): [string, string] => [part.replace(/=.*/, ''), part.replace(/^[^=]*=/, '')]),
  );
}
