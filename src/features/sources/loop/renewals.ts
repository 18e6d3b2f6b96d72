import type { Document } from '../../../model/document.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isRenewalDue, renewBeforeAnnotation } from '../../../plan/documents/renewal.ts';

/** The documents that want what was made for their objects to be replaced before it ends. */
export function renewingDocuments(documents: readonly Document[]): readonly Document[] {
  return documents.filter(({ metadata }) => metadata.annotations?.[renewBeforeAnnotation] !== undefined);
}

/** Names the objects of documents for which something is to be made again now; changes with the time alone. */
export function dueRenewals(documents: readonly Document[], state: Snapshot, now: string): string {
  return documents
    .flatMap(({ kind, metadata: { name, annotations = {} } }) => {
      const object = state.findByKey(kind, name);
      const isDue = object !== undefined && isRenewalDue(state.registry.get(kind), annotations, object, now);
      return isDue ? [object.id] : [];
    })
    .join(' ');
}
