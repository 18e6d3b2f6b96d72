import type { JsonObject } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import { type Normalized, normalize, normalizeStated } from './normalize.ts';

/** The canonical full spec of a kind: `normalize`, then what only the kind knows (a spelling that depends on another field). */
export function canonicalSpec(kind: Kind, spec: JsonObject): Normalized {
  return finish(kind, normalize(kind.spec, spec));
}

/** The canonical form of what is stated. */
export function canonicalStated(kind: Kind, spec: JsonObject): Normalized {
  return finish(kind, normalizeStated(kind.spec, spec));
}

function finish(kind: Kind, normalized: Normalized): Normalized {
  if (kind.canonicalize === undefined) return normalized;
  // The hook takes and gives the typed view of the same canonical spec.
  return { ...normalized, spec: kind.canonicalize(normalized.spec as never) as JsonObject };
}
