import { hasBit } from '../../lib/bits/bit-set.ts';
import type { MapDraft, PersistentMap } from '../../lib/persistent-map.ts';
import { splitIntoParts } from '../../lib/steps.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Takeovers } from '../../model/state/ingress-takeovers.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { AccessImage } from './access.ts';
import type { Endpoints } from './endpoints.ts';
import { equalFlows, type Flow, type FlowInput, flowsOfPolicy, flowsOfRoute } from './flows.ts';
import { ingressPortsToUpdate, policyOfIngressPort } from './ingress.ts';
import { accessTypeOf, type Policy, readPolicy, readResource, readRoute } from './object-readers.ts';
import type { RoutedDestination } from './routed-destinations.ts';
import type { UpdatedDestinations } from './update-destinations.ts';
import type { UpdatedGroups } from './update-groups.ts';
import type { UpdateInput } from './update-image.ts';
import type { UpdatedPeers } from './update-peers.ts';
import type { UpdatedPostures } from './update-postures.ts';

/** Results of the earlier stages. */
interface EarlierResults {
  readonly endpoints: Endpoints;
  readonly peers: UpdatedPeers;
  readonly groups: UpdatedGroups;
  readonly destinations: UpdatedDestinations;
  readonly postures: UpdatedPostures;
  readonly takeovers: Takeovers;
}

/** Number of policies that are compiled before the generator yields. */
const policiesPerSlice = 100;

/** Recomputes the flows of policies, ingress ports and routes. Unchanged flows stay the same values. */
export function* updateFlows(
  step: UpdateInput,
  found: EarlierResults,
): Generator<undefined, Pick<AccessImage, 'flows' | 'flowsBy'>> {
  const { previous, state } = step;
  const input: FlowInput = {
    endpoints: found.endpoints,
    groups: found.groups.all,
    live: found.destinations.live,
    postures: found.postures.all,
  };
  let same = true;
  let { flowsBy } = previous;
  const policies = [
    ...policiesToUpdate(step, found),
    ...ingressPortsToUpdate(step, found.peers.changed, found.takeovers),
  ];
  yield undefined;
  for (const part of splitIntoParts(policies, policiesPerSlice)) {
    flowsBy = flowsBy.edit((draft) => {
      for (const id of part) {
        const policy = policyOf(id, { state, takeovers: found.takeovers });
        const flows = policy === undefined ? [] : flowsOfPolicy(policy, input);
        same = storeFlows(draft, id, flows) && same;
      }
    });
    yield undefined;
  }
  flowsBy = flowsBy.edit((draft) => {
    for (const id of found.destinations.routes)
      same = storeFlows(draft, id, unguardedFlows(id, state, found.destinations.all.get(id), input)) && same;
  });
  return same ? { flowsBy: previous.flowsBy, flows: previous.flows } : { flowsBy, flows: sortFlows(flowsBy) };
}

/**
 * Returns the policy with this id, or an ingress port in the form of a policy. Returns `undefined` when it was deleted
 * or is not forwarded.
 */
function policyOf(id: string, access: Pick<AccessImage, 'state' | 'takeovers'>): Policy | undefined {
  const object = access.state.get(id);
  if (object === undefined) return undefined;
  return accessTypeOf(object) === 'ingressPort' ? policyOfIngressPort(object, access) : readPolicy(object);
}

function unguardedFlows(
  id: string,
  state: State,
  destination: RoutedDestination | undefined,
  input: FlowInput,
): readonly Flow[] {
  const object = state.get(id);
  if (object === undefined || destination === undefined) return [];
  const { groups, guards } = readRoute(object);
  return guards.length > 0 ? [] : flowsOfRoute(id, groups, destination, input);
}

/** Stores flows, and keeps the stored value of each equal flow. Returns true when nothing changed. */
function storeFlows(draft: MapDraft<readonly Flow[]>, id: string, flows: readonly Flow[]): boolean {
  const before = draft.get(id) ?? [];
  const known = new Map(before.map((flow) => [flow.id, flow]));
  const after = flows.map((flow) => {
    const present = known.get(flow.id);
    return present !== undefined && equalFlows(present, flow) ? present : flow;
  });
  if (after.length === before.length && after.every((flow, at) => flow === before[at])) return true;
  if (after.length === 0) draft.delete(id);
  else draft.set(id, after);
  return false;
}

/** Ids of resources and routes that began or stopped to take part. */
interface ToggledDestinations {
  readonly resources: readonly string[];
  readonly routes: readonly string[];
}

/** Returns the ids of policies whose flows may have changed. */
function policiesToUpdate(
  step: UpdateInput,
  { endpoints, peers, groups, destinations, postures }: EarlierResults,
): ReadonlySet<string> {
  const flips = (ids: ReadonlySet<string>) =>
    [...ids].filter(
      (id) => takesPart(step.previous.endpoints, step.previous, id) !== takesPart(endpoints, destinations, id),
    );
  const flipped = { resources: flips(destinations.resources), routes: flips(destinations.routes) };
  const named = [...groups.changed, ...peers.changed, ...postures.changed, ...flipped.resources];
  const policies = new Set(step.touched.policy);
  for (const id of new Set([...named, ...groupsNamedBy(step, flipped)]))
    for (const policy of step.referrerIds(id, 'policy')) policies.add(policy);
  return policies;
}

/** Returns the groups by which rules name resources and routes, before or after the step. */
function groupsNamedBy(
  { previous, state }: UpdateInput,
  { resources, routes }: ToggledDestinations,
): readonly string[] {
  const read = (ids: readonly string[], groups: (object: StoredObject) => readonly string[]) =>
    [previous.state, state].flatMap((side) => ids.flatMap((id) => side.get(id) ?? []).flatMap(groups));
  return [
    ...read(resources, (object) => readResource(object).groups),
    ...read(routes, (object) => readRoute(object).guards),
  ];
}

function takesPart(endpoints: Endpoints, { live }: Pick<AccessImage, 'live'>, id: string): boolean {
  const at = endpoints.slots.get(id);
  return at !== undefined && hasBit(live, at);
}

function sortFlows(flowsBy: PersistentMap<readonly Flow[]>): readonly Flow[] {
  return [...flowsBy].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, flows]) => flows);
}
