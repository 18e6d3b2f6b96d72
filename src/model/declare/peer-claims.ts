import type { Stored } from '../state/stored.ts';

/** Whether a peer was made for a key and nobody who holds it has come yet: a temporary peer before it enrols. */
export function isClaim({ spec, derived }: Pick<Stored<'Peer'>, 'spec' | 'derived'>): boolean {
  return derived.temporary === true && (spec.signing_key ?? '') === '';
}
