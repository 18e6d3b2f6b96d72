import { overrideIndex } from '../../model/state/facets.ts';
import { completeSpec } from '../../model/state/members.ts';
import type { Override, StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { type UnitChange, unitsOf } from '../../model/state/units.ts';
import type { RunningOverride } from '../../operations/config/overrides.ts';
import { createLabeler, viewUnits } from '../view/view.ts';
import { isLive } from './overrides.ts';

/** Returns the objects that have overrides, including expired overrides that have not been removed yet. */
export function overriddenObjects(snapshot: Snapshot): readonly StoredObject[] {
  return snapshot.registry.names.flatMap((kind) => snapshot.lookUp(kind, overrideIndex, ''));
}

/**
 * Returns the overrides of an account that are in effect at a time, ordered by kind and name: of all objects, or of the
 * objects that one source states.
 */
export function runningOverrides(snapshot: Snapshot, now: string, source?: string): readonly RunningOverride[] {
  return overriddenObjects(snapshot)
    .filter(({ declared }) => source === undefined || declared.some((by) => by.source === source))
    .flatMap((object) => overridesOf(snapshot, object, now))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Returns the overrides of one object that are in effect at a time, ordered by path. */
export function overridesOf(snapshot: Snapshot, object: StoredObject, now: string): readonly RunningOverride[] {
  return (object.overrides ?? [])
    .filter((override) => isLive(override, now))
    .map((override) => viewOverride(snapshot, object, override));
}

function viewOverride(snapshot: Snapshot, object: StoredObject, override: Override): RunningOverride {
  const { spec: fields } = snapshot.registry.get(object.kind);
  const { path, by, reason, since, until } = override;
  const value = unitsOf(fields, completeSpec(object)).get(path);
  const owner = object.declared.find(({ stated }) => unitsOf(fields, stated).has(path));
  const stated = owner === undefined ? undefined : unitsOf(fields, owner.stated).get(path);
  const unit: UnitChange = {
    path,
    ...(stated === undefined ? {} : { before: stated }),
    ...(value === undefined ? {} : { after: value }),
  };
  const [shown] = viewUnits(fields, [unit], createLabeler(snapshot, snapshot));
  const { kind, key, name, id } = object;
  return {
    ...{ kind, name, id },
    ...(key === undefined ? {} : { key }),
    path: shown?.path ?? path,
    ...(shown?.after === undefined ? {} : { value: shown.after }),
    ...(shown?.before === undefined ? {} : { stated: shown.before }),
    ...(owner === undefined ? {} : { source: owner.source, file: owner.file, line: owner.line }),
    ...{ by: by.name, reason, since, until },
  };
}

function nameOf({ kind, key, name, id, path }: RunningOverride): string {
  return `${kind}\n${key ?? name}\n${id}\n${path}`;
}
