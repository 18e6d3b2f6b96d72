import type { State } from '../../model/declare/kind.ts';
import type { AccessImage } from './access.ts';
import type { ObservedPeers } from './facts.ts';
import { updateTakeovers } from './ingress.ts';
import { type AccessObjectType, accessTypeOf } from './object-readers.ts';
import { updateDestinations } from './update-destinations.ts';
import { updateFlows } from './update-flows.ts';
import { updateGroups } from './update-groups.ts';
import { updateEndpoints, updatePeers } from './update-peers.ts';
import { updatePostures } from './update-postures.ts';

/** Ids of the objects that a step has to recompute, by part. */
export type Touched = Readonly<Record<Exclude<AccessObjectType, 'network' | 'router'>, ReadonlySet<string>>>;

/** Inputs of every stage of a step. */
export interface UpdateInput {
  readonly previous: AccessImage;
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly touched: Touched;
  /**
   * Returns the ids of objects of a part that reference `id`, before or after the step. If `fields` are given, only
   * references by one of these count.
   */
  referrerIds(id: string, part: AccessObjectType, ...fields: readonly string[]): readonly string[];
}

/**
 * Returns the image of a new state. Each stage only looks at what earlier stages found changed. `everything` states
 * that `touched` lists all objects, so that references need not be followed. Yields regularly.
 */
export function* updateImage(
  previous: AccessImage,
  state: State,
  observedPeers: ObservedPeers,
  touched: Touched,
  everything: boolean,
): Generator<undefined, AccessImage> {
  const namedBy = everything ? () => [] : createReferrerLookup(previous.state, state);
  const step: UpdateInput = { previous, state, observedPeers, touched, referrerIds: namedBy };
  const endpoints = updateEndpoints(step);
  const peers = updatePeers(step, endpoints);
  yield undefined;
  const groups = yield* updateGroups(step, endpoints, peers.changed);
  const destinations = updateDestinations(step, { endpoints, peers, groups });
  const postures = updatePostures(step, endpoints);
  const takeovers = updateTakeovers(step, endpoints, peers);
  const flows = yield* updateFlows(step, { endpoints, peers, groups, destinations, postures, takeovers });
  return {
    state,
    observedPeers,
    endpoints,
    groups: groups.all,
    universalGroups: groups.universal,
    routedDestinations: destinations.all,
    guardedRoutes: destinations.guardedRoutes,
    live: destinations.live,
    takeovers,
    postures: postures.all,
    ...flows,
  };
}

function createReferrerLookup(before: State, after: State): UpdateInput['referrerIds'] {
  return (id, part, ...fields) => {
    const found = new Set<string>();
    for (const state of [before, after]) {
      for (const { from, field } of state.referrersOf(id)) {
        if (accessTypeOf(from) === part && (fields.length === 0 || fields.includes(field))) found.add(from.id);
      }
    }
    return [...found];
  };
}
