import { canonicalJson } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Problem } from '../../model/problem.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Change } from '../plan.ts';

/** An object that goes and a new one that states the same under another key. */
interface LikelyRename {
  readonly from: StoredObject;
  readonly to: StoredObject;
  readonly change: Change;
}

/**
 * Warns where a plan deletes an object and creates another one of the same kind and content: without `previousNames` a new
 * `metadata.name` means a new object with another id, which is rarely meant. Children follow their parents and are paired
 * by what they hold.
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
    ...(change.place === undefined ? {} : { file: change.place.file, line: change.place.line }),
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
    content === undefined ? [] : pairs(left.get(content) ?? [], arrivals),
  );
}

type Arrival = Pick<LikelyRename, 'to' | 'change'>;

/** One of each is a pair; of several those that share a display name of their own. */
function pairs(gone: readonly StoredObject[], arrivals: readonly Arrival[]): readonly LikelyRename[] {
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

/** What the source states about a root object, its names apart; `undefined` where keys are not its documents' to choose. */
function statedContent(registry: Registry, source: string, object: StoredObject): string | undefined {
  const kind = registry.get(object.kind);
  const stated = object.declared.find((declaration) => declaration.source === source)?.stated;
  if (kind.parent !== undefined || kind.singleton !== undefined || object.key === undefined || stated === undefined)
    return undefined;
  const { name: _, ...content } = stated;
  return `${object.kind} ${canonicalJson(content)}`;
}
