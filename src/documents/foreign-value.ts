import { isObject, type Json, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { apiVersion } from '../model/document.ts';
import { describeServerResource } from '../model/sources/own-resources.ts';
import { isList } from './stated.ts';
import { truncate } from './truncate.ts';

/** Description of a value that is not a Heddle document. */
export interface ForeignValue {
  /** What the value is, worded as the end of a sentence. */
  readonly holds: string;
  /**
   * Kinds in the value that have no API group. A kind that resembles a Heddle kind was probably meant as a Heddle
   * document.
   */
  readonly kinds: readonly string[];
}

const [ownGroup = ''] = apiVersion.split('/');

/**
 * Describes a value that is not a Heddle document. Returns `undefined` for a Heddle document, and for a value that
 * nearly is one.
 */
export function describeForeignValue(value: Json): ForeignValue | undefined {
  if (Array.isArray(value)) {
    const isPlain = !value.some((item) => isObject(item) && 'apiVersion' in item);
    return isPlain ? { holds: 'a list', kinds: [] } : undefined;
  }
  if (!isObject(value)) return undefined;
  const map = value;
  return map['apiVersion'] === undefined ? describeUnversioned(map) : describeByGroup(map);
}

/** Form of a Kubernetes `apiVersion`. The captured API group is a domain, and absent for built-in kinds. */
const apiVersionPattern = /^(?:([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/)?v\d+(?:(?:alpha|beta)\d+)?$/;

function describeByGroup(map: JsonObject): ForeignValue | undefined {
  const { apiVersion: stated, kind, items } = map;
  const own = stated === apiVersion && typeof kind === 'string' ? describeServerResource(kind) : undefined;
  if (own !== undefined) return { holds: `${kind} of ${apiVersion} (${own})`, kinds: [] };
  const form = typeof stated === 'string' ? apiVersionPattern.exec(stated) : null;
  if (form === null || typeof kind !== 'string') return undefined;
  const group = form[1] ?? '';
  if (group.includes('heddle') || nearest(group, [ownGroup]) !== undefined) return undefined;
  const isWhole = isList(map);
  if (isWhole && Array.isArray(items) && !items.every((item) => describeForeignValue(item) !== undefined))
    return undefined;
  return { holds: `${truncate(kind)} of ${String(stated)}`, kinds: group === '' && !isWhole ? [kind] : [] };
}

/**
 * Describes a value without `apiVersion`. Returns `undefined` when the value has most of the envelope, because then it
 * is a document that lacks only the `apiVersion`.
 */
function describeUnversioned(map: JsonObject): ForeignValue | undefined {
  const { kind } = map;
  const parts = ['kind', 'metadata', 'spec'].filter((member) => member in map);
  if (parts.length > 1) return undefined;
  return { holds: 'no `apiVersion`', kinds: typeof kind === 'string' ? [kind] : [] };
}

/** Like `describeForeignValue`, for an object among documents: an object without `apiVersion` is never foreign. */
export function describeForeignObject(value: Json): ForeignValue | undefined {
  return isObject(value) && 'apiVersion' in value ? describeForeignValue(value) : undefined;
}
