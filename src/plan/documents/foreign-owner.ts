import type { Problem } from '../../model/problem.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { problemOf } from './desired.ts';
import { isListedInScope } from './scope.ts';
import type { MatchedDocument } from './stated-object.ts';

/** Input for checking the owners of the objects that a push states. */
export interface OwnerInput {
  readonly account: Snapshot;
  readonly source: string;
  readonly targets: readonly MatchedDocument[];
}

/** Code of problems about objects of another source. They are warnings in a plan and refused when it is applied. */
export const foreignOwnerCode = 'source_foreign';

/**
 * Returns the objects that a push states for the first time and that a source run by a server owns. Pushed documents
 * would keep the server from deleting them, usually by accident. Objects listed in the scope of the pushing source are
 * meant to be shared and pass.
 */
export function foreignOwnerProblems({ account, source, targets }: OwnerInput): readonly Problem[] {
  if (account.settingsOf(source).isServerRun) return [];
  return targets.flatMap((target) => {
    const owner = ownerOf(account, source, target);
    if (owner === undefined) return [];
    const { kind, key } = target.desired;
    const object = account.get(target.existing?.id ?? '');
    const declaration = object?.declared.find((one) => one.source === owner);
    const where = declaration === undefined ? '' : ` at ${declaration.file}:${declaration.line}`;
    const message = `${kind.name} ${key} belongs to the source ${owner}, which a server runs${where}; pushing it is refused: change it there, leave it out here, or take it over with --force-ownership`;
    return [{ ...problemOf(target.desired, { code: foreignOwnerCode, path: '', message }), source: owner }];
  });
}

/** Returns the source run by a server that owns the object; `undefined` when the push may state it. */
function ownerOf(account: Snapshot, source: string, { existing }: MatchedDocument): string | undefined {
  const object = account.get(existing?.id ?? '');
  if (object?.owner === undefined || object.owner === source || !account.settingsOf(object.owner).isServerRun)
    return undefined;
  const states = object.declared.some((declaration) => declaration.source === source);
  return states || isListedInScope(account, source, object) ? undefined : object.owner;
}
