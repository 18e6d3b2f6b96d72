import type { Document, Place } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';

/**
 * Objects that are declared more than once, in one file or in several: one problem for each declaration after the first.
 * `files` are the documents of each file; the very same list of documents is never looked into twice.
 */
export function findDuplicates(files: readonly (readonly Document[])[]): Problem[] {
  const first = new Map<string, Document>();
  const problems: Problem[] = [];
  for (const documents of files) {
    const names = namesIn(documents);
    for (const [at, document] of documents.entries()) {
      const name = names[at] ?? '';
      const earlier = first.get(name);
      if (earlier === undefined) first.set(name, document);
      else problems.push(duplicate(earlier, document));
    }
  }
  return problems;
}

const known = new WeakMap<readonly Document[], readonly string[]>();

/** Kind and name of each document; made once, because making and hashing 10,000 texts takes longer than looking them up. */
function namesIn(documents: readonly Document[]): readonly string[] {
  const present = known.get(documents);
  if (present !== undefined) return present;
  const names = documents.map(({ kind, metadata }) => `${kind}\n${metadata.name}`);
  known.set(documents, names);
  return names;
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
