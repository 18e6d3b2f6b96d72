import type { State } from '../../model/declare/kind.ts';
import type { Access } from './access.ts';
import type { ObservedPeers } from './facts.ts';
import { stepTakeovers } from './ingress.ts';
import { type Part, partOf } from './object-readers.ts';
import { stepDestinations } from './step-destinations.ts';
import { stepFlows } from './step-flows.ts';
import { stepGroups } from './step-groups.ts';
import { stepEndpoints, stepPeers } from './step-peers.ts';
import { stepPostures } from './step-postures.ts';

/** Ids of the objects that a step has to recompute, by part. */
export type Touched = Readonly<Record<Exclude<Part, 'network' | 'router'>, ReadonlySet<string>>>;

/** Inputs of every stage of a step. */
export interface UpdateStep {
  readonly previous: Access;
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly touched: Touched;
  /**
   * Returns the ids of objects of a part that reference `id`, before or after the step. If `fields` are given, only
   * references by one of these count.
   */
  namedBy(id: string, part: Part, ...fields: readonly string[]): readonly string[];
}

/**
 * Returns the image of a new state. Each stage only looks at what earlier stages found changed. `everything` states
 * that `touched` lists all objects, so that references need not be followed. Yields regularly.
 */
export function* updateImage(
  previous: Access,
  state: State,
  observedPeers: ObservedPeers,
  touched: Touched,
  everything: boolean,
): Generator<undefined, Access> {
  const namedBy = everything ? () => [] : lookForNames(previous.state, state);
  const step: UpdateStep = { previous, state, observedPeers, touched, namedBy };
  const endpoints = stepEndpoints(step);
  const peers = stepPeers(step, endpoints);
  yield undefined;
  const groups = yield* stepGroups(step, endpoints, peers.changed);
  const destinations = stepDestinations(step, { endpoints, peers, groups });
  const postures = stepPostures(step, endpoints);
  const takeovers = stepTakeovers(step, endpoints, peers);
  const flows = yield* stepFlows(step, { endpoints, peers, groups, destinations, postures, takeovers });
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

function lookForNames(before: State, after: State): UpdateStep['namedBy'] {
  return (id, part, ...fields) => {
    const found = new Set<string>();
    for (const state of [before, after]) {
      for (const { from, field } of state.referrersOf(id)) {
        if (partOf(from) === part && (fields.length === 0 || fields.includes(field))) found.add(from.id);
      }
    }
    return [...found];
  };
}
