import type { StoredObject } from '../../model/state/object.ts';
import { isPrunable, protectAnnotation, releaseAnnotation } from '../documents/annotations.ts';
import type { DesiredObject } from '../documents/desired.ts';
import type { MatchedObject } from '../documents/identity.ts';

/** Life-cycle owner, protection and former keys of an object. */
export interface Ownership {
  /** Source whose document deletes the object when it is removed. Absent: the object is only released then. */
  readonly owner?: string;
  readonly protected: boolean;
  /** Former keys. */
  readonly aliases?: readonly string[];
}

/**
 * Returns the keeping of a new object: its source owns it, unless the release annotation of the document is `release`.
 */
export function ownershipOfNew(source: string, desired: DesiredObject): Ownership {
  const released = desired.annotations[releaseAnnotation] === 'release';
  return { ...(released ? {} : { owner: source }), protected: isProtected(desired), ...aliasesOf(desired) };
}

/**
 * Returns the keeping of an object that a source states. The owner decides. For an object without an owner, the first
 * of the sources that state it decides, so that two sources never undo each other's decision.
 */
export function ownershipOf(
  source: string,
  { desired, adopted }: Pick<MatchedObject, 'desired' | 'adopted'>,
  existing: StoredObject,
): Ownership {
  const { owner, declared } = existing;
  const decider = owner ?? [source, ...declared.map((declaration) => declaration.source)].sort()[0];
  if (decider !== source)
    return { ...(owner === undefined ? {} : { owner }), protected: existing.protected, ...aliasesOf(existing) };
  const next = ownerAfter(source, desired, existing, adopted);
  return {
    ...(next === undefined ? {} : { owner: next }),
    protected: isProtected(desired),
    ...aliasesOf({
      aliases: [...(existing.aliases ?? []), ...(desired.aliases ?? [])].filter((alias) => alias !== desired.key),
    }),
  };
}

/** Whether the keeping of an object stays unchanged. */
export function isOwnershipUnchanged(keeping: Ownership, existing: StoredObject): boolean {
  const { owner, protected: isProtected, aliases = [] } = existing;
  return (
    keeping.owner === owner && keeping.protected === isProtected && (keeping.aliases ?? []).length === aliases.length
  );
}

/**
 * Returns the `aliases` member without duplicates. Former keys are never removed here, so comparing their number is
 * enough.
 */
function aliasesOf({ aliases = [] }: { readonly aliases?: readonly string[] }): Pick<Ownership, 'aliases'> {
  return aliases.length === 0 ? {} : { aliases: [...new Set(aliases)] };
}

function ownerAfter(
  source: string,
  { kind, annotations }: DesiredObject,
  { owner, declared, key }: StoredObject,
  adopted: MatchedObject['adopted'],
): string | undefined {
  if (!isPrunable(kind)) return owner;
  const stated = annotations[releaseAnnotation];
  if (stated !== undefined) return stated === 'prune' ? source : undefined;
  // A key without a stating source means that another source created and released the object, so this source may own
  // it.
  const isLeft = owner === undefined && declared.length === 0 && key !== undefined && adopted === 'no';
  return isLeft ? source : owner;
}

function isProtected({ annotations }: DesiredObject): boolean {
  return annotations[protectAnnotation] === 'true';
}
