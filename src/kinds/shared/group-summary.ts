import type { JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { countPeers } from './membership.ts';
import { derivedText } from './stored.ts';

/** The group as the answers about its members show it; the same members as the summary of the kind. */
export function groupSummary(group: StoredObject, state: State): JsonObject {
  return {
    id: group.id,
    name: group.name,
    peers_count: countPeers(group, state),
    resources_count: state.countReferrers(group.id, 'NetworkResource', 'groups'),
    issued: derivedText(group, 'issued') ?? 'api',
  };
}
