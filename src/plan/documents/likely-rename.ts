import { canonicalJson } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Change } from '../plan.ts';

/** A deleted object, and a created object with the same content under another key. */
interface LikelyRename {
  readonly from: StoredObject;
  readonly to: StoredObject;
  readonly change: Change;
}

/**
 * Returns warnings for a plan that deletes an object and creates one of the same kind and content. Without
 * `previousNames`, a new `metadata.name` means a new object with another id, which is rarely intended. Only root
 * objects are compared: children follow their parents and are paired by their content.
 */
export function likelyRenameWarnings(
  registry: Registry,
  source: string,
  changes: readonly Change[],
): readonly Problem[] {
  return likelyRenames(registry, source, changes).map(({ from, to, change }) => ({
    code: 'rename_likely',
    message:
      `${to.kind} \`${to.key}\` is created and \`${from.key}\`, which stated the same, is deleted; if it is the same object under another key, ` +
      `write \`previousNames: [${from.key}]\` into the metadata of \`${to.key}\`, and it keeps its id and what refers to it`,
    kind: to.kind,
    ...(to.key === undefined ? {} : { key: to.key }),
    path: '/metadata/name',
    ...(change.position === undefined ? {} : { file: change.position.file, line: change.position.line }),
  }));
}

function likelyRenames(registry: Registry, source: string, changes: readonly Change[]): readonly LikelyRename[] {
  const gone = changes.flatMap(({ action, before }) => (action === 'delete' && before !== undefined ? [before] : []));
  const contentOf = (object: StoredObject) => statedContent(registry, source, object);
  const left = Map.groupBy(gone, contentOf);
  if (gone.length === 0) return [];
  const created = changes.flatMap((change) => {
    const { action, after: to, replaces } = change;
    return action === 'create' && to !== undefined && replaces === undefined ? [{ to, change }] : [];
  });
  const come = Map.groupBy(created, ({ to }) => contentOf(to));
  return [...come].flatMap(([content, arrivals]) =>
    content === undefined ? [] : pairRenames(left.get(content) ?? [], arrivals),
  );
}

type CreatedObject = Pick<LikelyRename, 'to' | 'change'>;

/**
 * Pairs deleted and created objects with equal content: one of each is a pair; of several, those that share a unique
 * display name.
 */
function pairRenames(gone: readonly StoredObject[], arrivals: readonly CreatedObject[]): readonly LikelyRename[] {
  const [from] = gone;
  const [arrival] = arrivals;
  if (gone.length === 1 && arrivals.length === 1 && from !== undefined && arrival !== undefined)
    return [{ from, ...arrival }];
  return arrivals.flatMap((candidate) => {
    const named = gone.filter(({ name, key }) => name === candidate.to.name && name !== key);
    const [only] = named;
    const rivals = arrivals.filter(({ to }) => to.name === candidate.to.name);
    return only !== undefined && named.length === 1 && rivals.length === 1 ? [{ from: only, ...candidate }] : [];
  });
}

/**
 * Returns the content that the source states about a root object, without its names. `undefined` for children,
 * singletons and objects without a key, whose keys documents do not choose.
 */
function statedContent(registry: Registry, source: string, object: StoredObject): string | undefined {
  const kind = registry.get(object.kind);
  const stated = object.declared.find((declaration) => declaration.source === source)?.stated;
  if (kind.parent !== undefined || kind.singleton !== undefined || object.key === undefined || stated === undefined)
    return undefined;
  const { name: _, ...content } = stated;
  return `${object.kind} ${canonicalJson(content)}`;
}
