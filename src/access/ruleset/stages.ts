import type { State } from '../../model/declare/kind.ts';
import type { Access } from './access.ts';
import type { ObservedPeers } from './facts.ts';
import { stepFlows } from './step-flows.ts';
import { stepGroups } from './step-groups.ts';
import { stepEnds, stepPeers } from './step-peers.ts';
import { stepPlaces } from './step-places.ts';
import { stepPostures } from './step-postures.ts';
import { type Part, partOf } from './vocabulary.ts';

/** Ids that a step has to look at again. */
export type Touched = Readonly<Record<Exclude<Part, 'network' | 'router'>, ReadonlySet<string>>>;

/** What every stage of a step may look at. */
export interface Step {
  readonly previous: Access;
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly touched: Touched;
  /** The ids of objects of a part that name this one, in one of these fields if any are given, before or after. */
  namedBy(id: string, part: Part, ...fields: readonly string[]): readonly string[];
}

/**
 * Carries an image on to another state. Each stage looks only at what the stages before found changed. `everything` says
 * that all there is is touched, so that nothing need be looked for. Yields now and then.
 */
export function* updateImage(
  previous: Access,
  state: State,
  observedPeers: ObservedPeers,
  touched: Touched,
  everything: boolean,
): Generator<undefined, Access> {
  const namedBy = everything ? () => [] : lookForNames(previous.state, state);
  const step: Step = { previous, state, observedPeers, touched, namedBy };
  const ends = stepEnds(step);
  const peers = stepPeers(step, ends);
  yield undefined;
  const groups = yield* stepGroups(step, ends, peers.stirred);
  const places = stepPlaces(step, { ends, peers, groups });
  const postures = stepPostures(step, ends);
  const flows = yield* stepFlows(step, { ends, peers, groups, places, postures });
  return {
    state,
    observedPeers,
    ends,
    groups: groups.all,
    alls: groups.alls,
    places: places.all,
    gates: places.gates,
    live: places.live,
    postures: postures.all,
    ...flows,
  };
}

function lookForNames(before: State, after: State): Step['namedBy'] {
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
