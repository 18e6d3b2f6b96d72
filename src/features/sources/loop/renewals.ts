import type { Document } from '../../../model/document.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isRenewalDue, renewBeforeAnnotation } from '../../../plan/documents/renewal.ts';

/** Returns the documents that request their generated values to be replaced before they expire. */
export function renewingDocuments(documents: readonly Document[]): readonly Document[] {
  return documents.filter(({ metadata }) => metadata.annotations?.[renewBeforeAnnotation] !== undefined);
}

/**
 * Returns the ids of objects whose values must be generated again now. The result can change merely because time
 * passes.
 */
export function dueRenewals(documents: readonly Document[], state: Snapshot, now: string): string {
  return documents
    .flatMap(({ kind, metadata: { name, annotations = {} } }) => {
      const object = state.findByKey(kind, name);
      const isDue = object !== undefined && isRenewalDue(state.registry.get(kind), annotations, object, now);
      return isDue ? [object.id] : [];
    })
    .join(' ');
}
