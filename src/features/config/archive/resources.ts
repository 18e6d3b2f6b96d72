import { type Metadata, previousNamesAnnotation } from '../../../model/document.ts';
import type { ExportedDocument } from './export.ts';

/**
 * A document as a Kubernetes custom resource. Without a namespace it belongs to the namespace in which it is applied.
 */
export interface ExportedResource extends ExportedDocument {
  readonly metadata: Omit<Metadata, 'previousNames'> & { readonly namespace?: string };
}

/**
 * Returns a document as a Kubernetes resource. Document names serve as resource names. Members of `metadata` that
 * Kubernetes does not know, and would drop silently, become annotations.
 */
export function resourceOf(document: ExportedDocument, namespace: string | undefined): ExportedResource {
  const { name, previousNames = [], annotations, ...metadata } = document.metadata;
  const stated = {
    ...annotations,
    ...(previousNames.length === 0 ? {} : { [previousNamesAnnotation]: previousNames.join(', ') }),
  };
  return {
    ...document,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...metadata,
      ...(Object.keys(stated).length === 0 ? {} : { annotations: stated }),
    },
  };
}
