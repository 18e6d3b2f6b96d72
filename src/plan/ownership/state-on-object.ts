import type { Json, JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import type { SourceSettings } from '../../model/sources/settings.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import { membershipAnnotation } from '../documents/annotations.ts';
import type { DesiredObject } from '../documents/desired.ts';
import type { ClaimedUnit } from './claims-of-others.ts';
import { exclusiveFields, withoutSourceOrigins } from './membership.ts';
import { remainingOverrides } from './overrides.ts';
import { type StateOptions, type StateResult, stateUnits } from './state-units.ts';

/** Settings with which the source of a plan states units. */
export interface StatingContext extends Pick<StateOptions, 'force' | 'now'> {
  readonly source: string;
  readonly settings: SourceSettings;
  readonly claimed: NonNullable<StateOptions['claimed']>;
  digest(kind: Kind, object: string, path: string, value: Json): string;
}

/** Effect of a document on the units of a stored object. */
export interface UnitEffect extends StateResult {
  /** The new declaration of the source. */
  readonly declaration: Declaration;
  /** Units that the source claims and cannot have, because of a conflict. */
  readonly claimedUnits: readonly ClaimedUnit[];
}

/**
 * Applies the stated values of a document to a stored object. A source that only seeds states nothing about an object
 * that exists.
 */
export function stateOnObject(
  how: StatingContext,
  desired: DesiredObject,
  object: StoredObject,
  stated: JsonObject,
): UnitEffect {
  const declaration = declarationOf(how, desired, stated);
  const others = object.declared.filter(({ source }) => source !== how.source);
  if (how.settings.conflictMode === 'seed')
    return { ...keepValues(desired, object, others), declaration, claimedUnits: [] };
  const digest = (path: string, value: Json) => how.digest(desired.kind, object.id, path, value);
  const result = stateUnits(desired.kind.spec, object, how.source, stated, {
    mode: how.settings.conflictMode,
    exclusive: declaration.exclusive === true,
    force: how.force === true,
    claimed: how.claimed,
    digest,
    ...(how.now === undefined ? {} : { now: how.now }),
  });
  const { kind, key, position } = desired;
  const claimedUnits = result.conflicts.map(({ path, value }) => ({
    ...{ kind: kind.name, key, path, digest: digest(path, value) },
    ...{ file: position.file, line: position.line },
  }));
  return { ...result, declaration, claimedUnits };
}

/** Returns the declaration of a source that states these values. */
export function declarationOf(
  { source, settings }: Pick<StatingContext, 'source' | 'settings'>,
  { kind, annotations, position }: DesiredObject,
  stated: JsonObject,
): Declaration {
  const owned = settings.conflictMode === 'seed' ? {} : stated;
  const membership = annotations[membershipAnnotation] ?? settings.membership;
  const isExclusive =
    membership === 'exclusive' && exclusiveFields(kind.spec, { exclusive: true, stated: owned }).length > 0;
  const { file, line } = position;
  return { source, stated: owned, file, line, ...(isExclusive ? { exclusive: true } : {}) };
}

/** Keeps all values, regardless of their owners. */
function keepValues({ kind }: DesiredObject, object: StoredObject, others: readonly Declaration[]): StateResult {
  return {
    ...{ resets: [], conflicts: [], left: [], claimed: [], evicted: [], others },
    content: withoutSourceOrigins(kind.spec, object, others),
    overrides: remainingOverrides(kind.spec, object, others),
  };
}
