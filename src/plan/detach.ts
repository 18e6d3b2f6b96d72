import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { finishPlan } from './finish.ts';
import { withoutSourceOrigins } from './membership.ts';
import { overridesMember, statedOverrides } from './overrides.ts';
import type { Outcome } from './plan.ts';

/** What detaching a source takes from outside. */
export interface DetachInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  newId(): string;
}

/**
 * Lets go of everything that a source states and owns. Objects stay with their values and keys, so that the same documents
 * find them again; nobody is refused because of the source any more.
 */
export function planDetach({ snapshot, source, newId }: DetachInput): Outcome {
  const edits = snapshot
    .declaredBy(source)
    .map((before) => ({ before, after: withoutSource(snapshot, before, source) }));
  return finishPlan({ snapshot, source, edits, newId, locate: (_, { code, message }) => ({ code, message }) });
}

function withoutSource(snapshot: Snapshot, object: StoredObject, source: string): StoredObject {
  const { spec: fields } = snapshot.registry.get(object.kind);
  const { owner, overrides: _, ...rest } = object;
  const declared = object.declared.filter((declaration) => declaration.source !== source);
  return {
    ...rest,
    ...(owner === undefined || owner === source ? {} : { owner }),
    spec: withoutSourceOrigins(fields, object.spec, declared),
    ...overridesMember(statedOverrides(fields, object, declared)),
    declared,
  };
}
