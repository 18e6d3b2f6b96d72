import type { Document, Place } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';

/** Objects that are declared more than once, in one file or in several: one problem for each declaration after the first. */
export function findDuplicates(documents: readonly Document[]): Problem[] {
  const first = new Map<string, Document>();
  return documents.flatMap((document) => {
    const id = `${document.kind}\n${document.metadata.name}`;
    const earlier = first.get(id);
    if (earlier !== undefined) return [duplicate(earlier, document)];
    first.set(id, document);
    return [];
  });
}

function duplicate(earlier: Document, later: Document): Problem {
  const { kind, place } = later;
  const { name } = later.metadata;
  const message = `The ${kind} "${name}" is declared twice, at ${describe(earlier.place)} and at ${describe(place)}; keep one of the two.`;
  const path = `${place.pointer}/metadata/name`;
  return { code: 'document_duplicate', message, kind, key: name, path, file: place.file, line: place.line, column: 1 };
}

function describe({ file, line }: Place): string {
  return `${file}:${line}`;
}
