import { kindOf } from '../access/vocabulary.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { findAmong } from './find-object.ts';

const endKinds = [kindOf.peer, kindOf.group, kindOf.resource, kindOf.route];

/**
 * The id of what a question about access names: a peer, a group, a network resource or a route, by key, name or id, also
 * with the kind in front. A peer that documents name and that has not enrolled yet is known by its label. Throws
 * `NotFound`, and `InvalidInput` when several have the name.
 */
export function findEnd(state: Snapshot, text: string): string {
  const label = text.startsWith(`${kindOf.peer}/`) ? text.slice(kindOf.peer.length + 1) : text;
  if (state.get(label) === undefined && state.referrersOf(label).length > 0) return label;
  return findAmong(state, text, endKinds).id;
}
