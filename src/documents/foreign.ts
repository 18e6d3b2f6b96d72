import type { Foreign } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { foreignValue } from './foreign-value.ts';
import type { ForeignObject } from './objects.ts';
import { readYamlStream } from './yaml/yaml-text.ts';

/** Problems of texts that can be read, and are no documents. */
const envelopeCodes = /^(document|member|api_version|kind|metadata|name|spec|list)_/;

/**
 * Whether a text that has these problems, and no sound document, holds what others read: objects of other groups, or values
 * without our envelope. What is nearly ours is not foreign, nor is what cannot be read.
 */
export function foreignIn(text: string, problems: readonly Problem[]): Foreign | undefined {
  if (problems.length === 0 || !problems.every(({ code }) => envelopeCodes.test(code))) return undefined;
  const { documents, problems: faults } = readYamlStream(text, '', ({ value }) => ({
    documents: [value],
    problems: [],
  }));
  const found = documents.filter((value) => value !== null).map(foreignValue);
  const [first] = found;
  if (faults.length > 0 || first === undefined) return undefined;
  return found.every((one) => one !== undefined)
    ? { holds: first.holds, kinds: [...new Set(found.flatMap(({ kinds }) => kinds))], problems }
    : undefined;
}

/** What a text with documents holds beside them: objects of others, and resources that servers make in a cluster. */
export function foreignAmong(objects: readonly ForeignObject[]): Foreign | undefined {
  if (objects.length === 0) return undefined;
  return {
    holds: listOf(objects.map(({ holds }) => holds)),
    kinds: [...new Set(objects.flatMap(({ kinds }) => kinds))],
    problems: objects.flatMap(({ problems }) => problems),
    objects: objects.map(({ kind, name, line }) => ({ kind, name, line })),
  };
}

/** So many kinds are named. */
const mostNamed = 3;

function listOf(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  const named = unique.slice(0, mostNamed);
  const more = unique.length > named.length ? [`${unique.length - named.length} others`] : [];
  return [...named, ...more].join(', ');
}
