import type { StoredObject } from './object.ts';

/** Whether a peer was made for a key and nobody who holds it has come yet: a temporary peer before it enrols. */
export function isClaim({ spec, derived }: Pick<StoredObject, 'spec' | 'derived'>): boolean {
  return derived['temporary'] === true && (spec['signing_key'] ?? '') === '';
}
