import { type BitSet, intersectBits, isEmptyBits, numbersIn, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import { type Ends, slotsOf } from './ends.ts';
import { equalPlaces, type Gate, type Place, placeOfResource, placeOfRoute } from './places.ts';
import type { Step } from './stages.ts';
import type { GroupsStep } from './step-groups.ts';
import type { PeersStep } from './step-peers.ts';
import { kindOf, readRoute } from './vocabulary.ts';

/** Resources and routes of a step. */
export interface PlacesStep {
  readonly all: PersistentMap<Place>;
  readonly gates: readonly Gate[];
  /** All ends that take part, peers and proxies included. */
  readonly live: BitSet;
  /** Ids of resources and routes that may be reached otherwise than before. */
  readonly resources: ReadonlySet<string>;
  readonly routes: ReadonlySet<string>;
}

/** What leads where now, and what can be reached because somebody who takes part leads there. */
export function stepPlaces(
  step: Step,
  { ends, peers, groups }: { readonly ends: Ends; readonly peers: PeersStep; readonly groups: GroupsStep },
): PlacesStep {
  const { previous, state } = step;
  const resources = new Set([...step.touched.resource, ...ledBy(step, peers.stirred, groups.changed)]);
  const routes = new Set(step.touched.route);
  for (const id of peers.stirred) for (const route of step.namedBy(id, 'route', 'peer')) routes.add(route);
  for (const id of groups.changed)
    for (const route of step.namedBy(id, 'route', 'peer_groups', 'groups')) routes.add(route);
  const around = { state, ends, groups: groups.all, live: peers.live };
  const reached: string[] = [];
  const all = previous.places.edit((draft) => {
    const put = (id: string, place: Place | undefined) => {
      const before = draft.get(id);
      if (place === undefined) draft.delete(id);
      else if (before === undefined || !equalPlaces(before, place)) draft.set(id, place);
      if (place?.enabled === true && !isEmptyBits(place.gateways)) reached.push(id);
    };
    for (const id of resources) put(id, placeOfResource(id, around));
    for (const id of routes) put(id, placeOfRoute(id, around));
  });
  const before = subtractBits(previous.live, previous.ends.of.peer);
  const looked = [...resources, ...routes];
  const rest = subtractBits(before, uniteBits(slotsOf(previous.ends, looked), slotsOf(ends, looked)));
  const there = uniteBits(ends.of.resource, ends.of.route);
  // Proxies wait for nobody.
  const live = uniteBits(peers.live, ends.of.proxy, intersectBits(rest, there), slotsOf(ends, reached));
  const gates = routes.size === 0 ? previous.gates : gatesOf(step, ends, all);
  return { all, gates, live, resources, routes };
}

function gatesOf({ state }: Step, ends: Ends, places: PersistentMap<Place>): readonly Gate[] {
  return numbersIn(ends.of.route).flatMap((slot) => {
    const id = ends.ids[slot] ?? '';
    const [object, receivers] = [state.get(id), places.get(id)?.receivers];
    if (object === undefined || receivers === undefined || readRoute(object).guards.length === 0) return [];
    return [{ slot, receivers }];
  });
}

/** Resources of networks to which some of these peers and groups lead. */
function ledBy(step: Step, peers: ReadonlySet<string>, groups: ReadonlySet<string>): readonly string[] {
  const routers = new Set([
    ...[...peers].flatMap((id) => step.namedBy(id, 'router', 'peer')),
    ...[...groups].flatMap((id) => step.namedBy(id, 'router', 'peer_groups')),
  ]);
  const networks = new Set(
    [...routers].flatMap((id) => step.state.get(id)?.parent ?? step.previous.state.get(id)?.parent ?? []),
  );
  return [...networks].flatMap((id) => step.state.childrenOf(id, kindOf.resource).map((resource) => resource.id));
}
