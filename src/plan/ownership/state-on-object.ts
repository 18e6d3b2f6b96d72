import type { Json, JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import type { SourceSettings } from '../../model/sources/settings.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import { membershipAnnotation } from '../documents/annotations.ts';
import type { Desired } from '../documents/desired.ts';
import type { ClaimedUnit } from './claims-of-others.ts';
import { exclusiveFields, withoutSourceOrigins } from './membership.ts';
import { statedOverrides } from './overrides.ts';
import { type Stated, type StateOptions, stateUnits } from './state-units.ts';

/** How the source of a plan states units. */
export interface Stating extends Pick<StateOptions, 'force' | 'now'> {
  readonly source: string;
  readonly settings: SourceSettings;
  readonly claimed: NonNullable<StateOptions['claimed']>;
  digest(kind: Kind, object: string, path: string, value: Json): string;
}

/** What a document does to the units of a stored object. */
export interface UnitPart extends Stated {
  /** What the source declares from now on. */
  readonly declaration: Declaration;
  /** What it claims and cannot have. */
  readonly claimedUnits: readonly ClaimedUnit[];
}

/** States what a document says about a stored object. A source that only seeds states nothing about what is there. */
export function stateOnObject(how: Stating, desired: Desired, object: StoredObject, stated: JsonObject): UnitPart {
  const declaration = declarationOf(how, desired, stated);
  const others = object.declared.filter(({ source }) => source !== how.source);
  if (how.settings.conflictMode === 'seed') return { ...letBe(desired, object, others), declaration, claimedUnits: [] };
  const digest = (path: string, value: Json) => how.digest(desired.kind, object.id, path, value);
  const result = stateUnits(desired.kind.spec, object, how.source, stated, {
    mode: how.settings.conflictMode,
    exclusive: declaration.exclusive === true,
    force: how.force === true,
    claimed: how.claimed,
    digest,
    ...(how.now === undefined ? {} : { now: how.now }),
  });
  const { kind, key, place } = desired;
  const claimedUnits = result.conflicts.map(({ path, value }) => ({
    ...{ kind: kind.name, key, path, digest: digest(path, value) },
    ...{ file: place.file, line: place.line },
  }));
  return { ...result, declaration, claimedUnits };
}

/** What a source declares that states this. */
export function declarationOf(
  { source, settings }: Pick<Stating, 'source' | 'settings'>,
  { kind, annotations, place }: Desired,
  stated: JsonObject,
): Declaration {
  const owned = settings.conflictMode === 'seed' ? {} : stated;
  const membership = annotations[membershipAnnotation] ?? settings.membership;
  const isExclusive =
    membership === 'exclusive' && exclusiveFields(kind.spec, { exclusive: true, stated: owned }).length > 0;
  const { file, line } = place;
  return { source, stated: owned, file, line, ...(isExclusive ? { exclusive: true } : {}) };
}

/** Values stay, whatever their origin. */
function letBe({ kind }: Desired, object: StoredObject, others: readonly Declaration[]): Stated {
  return {
    ...{ resets: [], conflicts: [], left: [], claimed: [], evicted: [], others },
    content: withoutSourceOrigins(kind.spec, object, others),
    overrides: statedOverrides(kind.spec, object, others),
  };
}
