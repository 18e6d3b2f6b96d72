import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { apiVersion } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { isList } from './objects.ts';
import { truncate } from './truncate.ts';
import { readYamlStream } from './yaml/yaml-text.ts';

/** Why a file is none of ours. */
export interface Foreign {
  /** What it holds instead of documents, as the end of a sentence. */
  readonly holds: string;
  /** Kinds that it names without a group of their own: one that is nearly ours was meant to be ours. */
  readonly kinds: readonly string[];
}

const [ownGroup = ''] = apiVersion.split('/');

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
    ? { holds: first.holds, kinds: [...new Set(found.flatMap(({ kinds }) => kinds))] }
    : undefined;
}

function foreignValue(value: Json): Foreign | undefined {
  if (Array.isArray(value)) {
    const isPlain = !value.some((item) => isObject(item) && 'apiVersion' in item);
    return isPlain ? { holds: 'a list', kinds: [] } : undefined;
  }
  if (!isObject(value)) return undefined;
  // A map of JSON.
  const map = value;
  return map['apiVersion'] === undefined ? withoutVersion(map) : ofGroup(map);
}

/** The group of an object of Kubernetes: a domain, or none for what is built in. */
const versionForm = /^(?:([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/)?v\d+(?:(?:alpha|beta)\d+)?$/;

function ofGroup(map: JsonObject): Foreign | undefined {
  const { apiVersion: stated, kind, items } = map;
  const form = typeof stated === 'string' ? versionForm.exec(stated) : null;
  if (form === null || typeof kind !== 'string') return undefined;
  const group = form[1] ?? '';
  if (group.includes('heddle') || nearest(group, [ownGroup]) !== undefined) return undefined;
  const isWhole = isList(map);
  if (isWhole && Array.isArray(items) && !items.every((item) => foreignValue(item) !== undefined)) return undefined;
  return { holds: `${truncate(kind)} of ${String(stated)}`, kinds: group === '' && !isWhole ? [kind] : [] };
}

/** Without a version, what has most of our envelope lacks only that. */
function withoutVersion(map: JsonObject): Foreign | undefined {
  const { kind } = map;
  const parts = ['kind', 'metadata', 'spec'].filter((member) => member in map);
  if (parts.length > 1) return undefined;
  return { holds: 'no `apiVersion`', kinds: typeof kind === 'string' ? [kind] : [] };
}
