import type { JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { countPeers } from './membership.ts';

const summaryCache = new WeakMap<State, Map<string, JsonObject>>();

/** Returns a group as responses about its members show it. Cached per state, because all of its members show it. */
export function groupSummary(group: Stored<'Group'>, state: State): JsonObject {
  const summaries = summaryCache.get(state) ?? new Map<string, JsonObject>();
  summaryCache.set(state, summaries);
  const summary = summaries.get(group.id) ?? summaryOf(group, state);
  summaries.set(group.id, summary);
  return summary;
}

/** Returns the same members as the kind's `summary`. */
function summaryOf(group: Stored<'Group'>, state: State): JsonObject {
  return {
    id: group.id,
    name: group.name,
    peers_count: countPeers(group, state),
    resources_count: state.countReferrers(group.id, 'NetworkResource', 'groups'),
    issued: group.derived.issued ?? 'api',
  };
}
