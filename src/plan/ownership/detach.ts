import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { isPrunable } from '../documents/annotations.ts';
import { finishPlan } from '../finish.ts';
import { withKeyIf } from '../keyed-account.ts';
import type { PlanOutcome } from '../plan.ts';
import { withoutSourceOrigins } from './membership.ts';
import { overridesMember, remainingOverrides } from './overrides.ts';

/** Input of `planDetach`. */
export interface DetachInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  newId(): string;
}

/**
 * Releases everything that a source states and owns. The objects and their values stay. Objects that the source owned
 * keep their keys, so that the same documents find them again. Afterwards no request is refused because of the source.
 */
export function planDetach({ snapshot, source, newId }: DetachInput): PlanOutcome {
  const edits = snapshot
    .declaredBy(source)
    .map((before) => ({ before, after: detachObject(snapshot, before, source) }));
  return finishPlan({ snapshot, source, edits, newId, locate: (_, { code, message }) => ({ code, message }) });
}

/** Returns the object after a source released it. Its values stay, and so does its key when a source owned it. */
export function detachObject(snapshot: Snapshot, object: StoredObject, source: string): StoredObject {
  const kind = snapshot.registry.get(object.kind);
  const { spec: fields } = kind;
  const declared = object.declared.filter((declaration) => declaration.source !== source);
  // An object that was only adopted keeps no key: it is unmanaged again.
  const isNamed = object.owner !== undefined || declared.length > 0 || !isPrunable(kind);
  const { owner, overrides: _, ...rest } = withKeyIf(isNamed, object);
  return {
    ...rest,
    ...(owner === undefined || owner === source ? {} : { owner }),
    ...withoutSourceOrigins(fields, object, declared),
    ...overridesMember(remainingOverrides(fields, object, declared)),
    declared,
  };
}
