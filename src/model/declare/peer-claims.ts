import type { Stored } from '../state/stored.ts';

/**
 * Checks whether a peer is reserved for a key and no machine with that key has enrolled yet: a temporary peer before
 * enrolment.
 */
export function isReservedPeer({ spec, derived }: Pick<Stored<'Peer'>, 'spec' | 'derived'>): boolean {
  return derived.temporary === true && (spec.signing_key ?? '') === '';
}
