import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { isPrunable } from '../documents/annotations.ts';
import { finishPlan } from '../finish.ts';
import { withKeyIf } from '../keyed-account.ts';
import type { Outcome } from '../plan.ts';
import { withoutSourceOrigins } from './membership.ts';
import { overridesMember, statedOverrides } from './overrides.ts';

/** What detaching a source takes from outside. */
export interface DetachInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  newId(): string;
}

/**
 * Releases everything that a source states and owns. Objects stay with their values; those that it owned keep their
 * keys, so that the same documents find them again. From then on no request is refused because of the source.
 */
export function planDetach({ snapshot, source, newId }: DetachInput): Outcome {
  const edits = snapshot.declaredBy(source).map((before) => ({ before, after: detached(snapshot, before, source) }));
  return finishPlan({ snapshot, source, edits, newId, locate: (_, { code, message }) => ({ code, message }) });
}

/** The object after a source lets go of it: its values stay, and so does its key when a source owned it. */
export function detached(snapshot: Snapshot, object: StoredObject, source: string): StoredObject {
  const kind = snapshot.registry.get(object.kind);
  const { spec: fields } = kind;
  const declared = object.declared.filter((declaration) => declaration.source !== source);
  // An object that was only taken over has no owner again.
  const isNamed = object.owner !== undefined || declared.length > 0 || !isPrunable(kind);
  const { owner, overrides: _, ...rest } = withKeyIf(isNamed, object);
  return {
    ...rest,
    ...(owner === undefined || owner === source ? {} : { owner }),
    ...withoutSourceOrigins(fields, object, declared),
    ...overridesMember(statedOverrides(fields, object, declared)),
    declared,
  };
}
