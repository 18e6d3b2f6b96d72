import { type Metadata, previousNamesAnnotation } from '../../../model/document.ts';
import type { ExportedDocument } from './export.ts';

/** A document as a custom resource of Kubernetes, in the namespace that applies it unless it names one. */
export interface ExportedResource extends ExportedDocument {
  readonly metadata: Omit<Metadata, 'previousNames'> & { readonly namespace?: string };
}

/**
 * Documents as resources: they are the same but for members of `metadata` that Kubernetes does not know, and would drop in
 * silence. Names of documents are names of resources.
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
