import type { Document, DocumentPosition } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';

/** The documents of each file. */
type DocumentsByFile = readonly (readonly Document[])[];

/**
 * Returns one problem for each declaration of an object after the first, in one file or in several. `files` are the
 * documents of each file. The names in a list of documents are computed only once, also when the same list is passed
 * again.
 */
export function findDuplicates(files: DocumentsByFile): Problem[] {
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

/**
 * Creates a function that finds duplicates in successive readings. When a reading differs little from an earlier one,
 * only the files that differ are examined.
 */
export function createDuplicateFinder(): (files: DocumentsByFile) => Problem[] {
  const readings: Reading[] = [];
  return (files) => {
    const names = files.map(namesIn);
    const at = readings.findIndex((reading) => updateReading(reading, names));
    const problems = at < 0 ? findDuplicates(files) : [];
    const [reading] = at < 0 ? [{ names, all: new Set(names.flat()) }] : readings.splice(at, 1);
    if (reading !== undefined && problems.length === 0) readings.unshift(reading);
    readings.splice(maxReadings);
    return problems;
  };
}

/** Number of readings to remember, one per source. */
const maxReadings = 8;

/** A reading without duplicates: the names of each file, and all of them. */
interface Reading {
  names: readonly (readonly string[])[];
  readonly all: Set<string>;
}

/**
 * Updates a reading to names that are mostly the same. Returns `false`, and leaves the reading unchanged, when more
 * than half of the names differ or the new names contain a duplicate.
 */
function updateReading(reading: Reading, names: Reading['names']): boolean {
  const { names: before, all } = reading;
  const shorter = Math.min(before.length, names.length);
  let start = 0;
  while (start < shorter && before[start] === names[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === names[names.length - 1 - end]) end += 1;
  const gone = before.slice(start, before.length - end).flat();
  const come = names.slice(start, names.length - end).flat();
  if (2 * (gone.length + come.length) > all.size) return false;
  for (const name of gone) all.delete(name);
  const isClean = new Set(come).size === come.length && !come.some((name) => all.has(name));
  for (const name of isClean ? come : gone) all.add(name);
  if (isClean) reading.names = names;
  return isClean;
}

const namesCache = new WeakMap<readonly Document[], readonly string[]>();

/**
 * Returns the kind and name of each document. Cached, because building and hashing 10,000 strings takes longer than
 * looking them up.
 */
function namesIn(documents: readonly Document[]): readonly string[] {
  const present = namesCache.get(documents);
  if (present !== undefined) return present;
  const names = documents.map(({ kind, metadata }) => `${kind}\n${metadata.name}`);
  namesCache.set(documents, names);
  return names;
}

function duplicate(earlier: Document, later: Document): Problem {
  const { kind, position } = later;
  const { name } = later.metadata;
  const message = `The ${kind} "${name}" is declared twice, at ${describe(earlier.position)} and at ${describe(position)}; keep one of the two.`;
  const path = `${position.pointer}/metadata/name`;
  return {
    code: 'document_duplicate',
    message,
    kind,
    key: name,
    path,
    file: position.file,
    line: position.line,
    column: 1,
  };
}

function describe({ file, line }: DocumentPosition): string {
  return `${file}:${line}`;
}
