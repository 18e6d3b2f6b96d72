import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { apiVersion } from '../model/document.ts';
import { ownResource } from '../model/sources/own-resources.ts';
import { isList } from './stated.ts';
import { truncate } from './truncate.ts';

/** What a value is that is none of ours. */
export interface ForeignValue {
  /** As the end of a sentence. */
  readonly holds: string;
  /** Kinds that it names without a group of their own: one that is nearly ours was meant to be ours. */
  readonly kinds: readonly string[];
}

const [ownGroup = ''] = apiVersion.split('/');

/** What a value is instead of documents; `undefined` for what is ours, or nearly so. */
export function foreignValue(value: Json): ForeignValue | undefined {
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

function ofGroup(map: JsonObject): ForeignValue | undefined {
  const { apiVersion: stated, kind, items } = map;
  const own = stated === apiVersion && typeof kind === 'string' ? ownResource(kind) : undefined;
  if (own !== undefined) return { holds: `${kind} of ${apiVersion} (${own})`, kinds: [] };
  const form = typeof stated === 'string' ? versionForm.exec(stated) : null;
  if (form === null || typeof kind !== 'string') return undefined;
  const group = form[1] ?? '';
  if (group.includes('heddle') || nearest(group, [ownGroup]) !== undefined) return undefined;
  const isWhole = isList(map);
  if (isWhole && Array.isArray(items) && !items.every((item) => foreignValue(item) !== undefined)) return undefined;
  return { holds: `${truncate(kind)} of ${String(stated)}`, kinds: group === '' && !isWhole ? [kind] : [] };
}

/** Without a version, what has most of our envelope lacks only that. */
function withoutVersion(map: JsonObject): ForeignValue | undefined {
  const { kind } = map;
  const parts = ['kind', 'metadata', 'spec'].filter((member) => member in map);
  if (parts.length > 1) return undefined;
  return { holds: 'no `apiVersion`', kinds: typeof kind === 'string' ? [kind] : [] };
}

/** The same of an object among documents: only what says itself whose it is. */
export function foreignObject(value: Json): ForeignValue | undefined {
  return isObject(value) && 'apiVersion' in value ? foreignValue(value) : undefined;
}
