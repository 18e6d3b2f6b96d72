import type { StoredObject } from '../../model/state/object.ts';
import { isPrunable, protectAnnotation, releaseAnnotation } from '../documents/annotations.ts';
import type { Desired } from '../documents/desired.ts';
import type { Matched } from '../documents/identity.ts';

/** Who decides about the life of an object, and whether it is protected. */
export interface Keeping {
  /** The source with whose document the object goes; absent: it is only released then. */
  readonly owner?: string;
  readonly protected: boolean;
  /** The keys that it had before. */
  readonly aliases?: readonly string[];
}

/** How a new object is kept: its source owns it, unless the document wants it to stay when it goes itself. */
export function keepingOfNew(source: string, desired: Desired): Keeping {
  const released = desired.annotations[releaseAnnotation] === 'release';
  return { ...(released ? {} : { owner: source }), protected: isProtected(desired), ...aliasesOf(desired) };
}

/**
 * How an object is kept that a source states. The owner decides; of an object without one the first of the sources that
 * state it, so that two of them never undo each other's decision.
 */
export function keepingOf(
  source: string,
  { desired, adopted }: Pick<Matched, 'desired' | 'adopted'>,
  existing: StoredObject,
): Keeping {
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

/** Whether an object is kept as it is. */
export function isKept(keeping: Keeping, existing: StoredObject): boolean {
  const { owner, protected: isProtected, aliases = [] } = existing;
  return (
    keeping.owner === owner && keeping.protected === isProtected && (keeping.aliases ?? []).length === aliases.length
  );
}

/** Former keys are only ever added. */
function aliasesOf({ aliases = [] }: { readonly aliases?: readonly string[] }): Pick<Keeping, 'aliases'> {
  return aliases.length === 0 ? {} : { aliases: [...new Set(aliases)] };
}

function ownerAfter(
  source: string,
  { kind, annotations }: Desired,
  { owner, declared, key }: StoredObject,
  adopted: Matched['adopted'],
): string | undefined {
  if (!isPrunable(kind)) return owner;
  const stated = annotations[releaseAnnotation];
  if (stated !== undefined) return stated === 'prune' ? source : undefined;
  // A key without a stating source is that of an object which another source made and released, for this one to take
  // over.
  const isLeft = owner === undefined && declared.length === 0 && key !== undefined && adopted === 'no';
  return isLeft ? source : owner;
}

function isProtected({ annotations }: Desired): boolean {
  return annotations[protectAnnotation] === 'true';
}
