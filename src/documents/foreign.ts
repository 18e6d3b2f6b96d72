import type { ForeignContent } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { describeForeignValue } from './foreign-value.ts';
import type { ForeignObject } from './objects.ts';
import { readYamlStream } from './yaml/yaml-text.ts';

/** Codes of problems in texts that can be parsed but are not documents. */
const envelopeCodes = /^(document|member|api_version|kind|metadata|name|spec|list)_/;

/**
 * Describes a text that only contains foreign values: objects of other API groups, or values without Heddle's envelope.
 * `problems` are the problems of the text, which has no valid document. Returns `undefined` when a value nearly is a
 * Heddle document, or when the text cannot be parsed.
 */
export function describeForeignText(text: string, problems: readonly Problem[]): ForeignContent | undefined {
  if (problems.length === 0 || !problems.every(({ code }) => envelopeCodes.test(code))) return undefined;
  const { documents, problems: faults } = readYamlStream(text, '', ({ value }) => ({
    documents: [value],
    problems: [],
  }));
  const found = documents.filter((value) => value !== null).map(describeForeignValue);
  const [first] = found;
  if (faults.length > 0 || first === undefined) return undefined;
  return found.every((one) => one !== undefined)
    ? { holds: first.holds, kinds: [...new Set(found.flatMap(({ kinds }) => kinds))], problems }
    : undefined;
}

/**
 * Describes the foreign objects in a text that also contains documents: objects of other API groups, and resources that
 * servers create in a cluster.
 */
export function summariseForeignObjects(objects: readonly ForeignObject[]): ForeignContent | undefined {
  if (objects.length === 0) return undefined;
  return {
    holds: formatList(objects.map(({ holds }) => holds)),
    kinds: [...new Set(objects.flatMap(({ kinds }) => kinds))],
    problems: objects.flatMap(({ problems }) => problems),
    objects: objects.map(({ kind, name, line }) => ({ kind, name, line })),
  };
}

/** Maximum number of descriptions to list by name. */
const maxNamed = 3;

function formatList(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  const named = unique.slice(0, maxNamed);
  const more = unique.length > named.length ? [`${unique.length - named.length} others`] : [];
  return [...named, ...more].join(', ');
}
