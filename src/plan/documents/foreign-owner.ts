import type { Problem } from '../../model/problem.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { problemOf } from './desired.ts';
import { isListed } from './scope.ts';
import type { Target } from './stated-object.ts';

/** What is asked about the objects that a push states. */
export interface OwnerInput {
  readonly account: Snapshot;
  readonly source: string;
  readonly targets: readonly Target[];
}

/** The code of findings about such objects: a warning of a plan, and a refusal when it is applied. */
export const foreignOwnerCode = 'source_foreign';

/**
 * Objects that a source which a server runs owns, and a push states for the first time: pushed documents would keep the
 * server from deleting them, mostly by accident. What the scope of the pushing source lists is meant to be shared.
 */
export function foreignOwnerProblems({ account, source, targets }: OwnerInput): readonly Problem[] {
  if (account.settingsOf(source).isRun) return [];
  return targets.flatMap((target) => {
    const owner = ownerOf(account, source, target);
    if (owner === undefined) return [];
    const { kind, key } = target.desired;
    const object = account.get(target.existing?.id ?? '');
    const place = object?.declared.find((declaration) => declaration.source === owner);
    const where = place === undefined ? '' : ` at ${place.file}:${place.line}`;
    const message = `${kind.name} ${key} belongs to the source ${owner}, which a server runs${where}; pushing it is refused: change it there, leave it out here, or take it over with --force-ownership`;
    return [{ ...problemOf(target.desired, { code: foreignOwnerCode, path: '', message }), source: owner }];
  });
}

/** The source that a server runs and that owns what a push states. */
function ownerOf(account: Snapshot, source: string, { existing }: Target): string | undefined {
  const object = account.get(existing?.id ?? '');
  if (object?.owner === undefined || object.owner === source || !account.settingsOf(object.owner).isRun)
    return undefined;
  const states = object.declared.some((declaration) => declaration.source === source);
  return states || isListed(account, source, object) ? undefined : object.owner;
}
