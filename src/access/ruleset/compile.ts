import { noBits } from '../../lib/bits/bit-set.ts';
import { emptyMap } from '../../lib/persistent-map.ts';
import { runToEnd } from '../../lib/steps.ts';
import type { State } from '../../model/declare/kind.ts';
import { noTakeovers } from '../../model/state/ingress-takeovers.ts';
import type { AccessImage } from './access.ts';
import { type Endpoints, noEndpoints, reserveSlots } from './endpoints.ts';
import { noObservations, type ObservedPeers } from './facts.ts';
import { type AccessObjectType, accessTypeOf, kindOf } from './object-readers.ts';
import { updateImage } from './update-image.ts';
import { affectedPeers } from './verdicts.ts';

/** Compiles the access of a state. `like` reserves the slots of another image, so that both images can be compared. */
export function compileAccess(
  state: State,
  observedPeers: ObservedPeers = noObservations,
  like: Endpoints = noEndpoints,
): AccessImage {
  return runToEnd(compileAccessInSteps(state, observedPeers, like));
}

/** Same as `compileAccess`, but yields regularly, so that a large account does not block other requests. */
export function* compileAccessInSteps(
  state: State,
  observedPeers: ObservedPeers = noObservations,
  like: Endpoints = noEndpoints,
): Generator<undefined, AccessImage> {
  const ids = (part: AccessObjectType) => new Set(state.ofKind(kindOf[part]).map(({ id }) => id));
  const touched = {
    peer: ids('peer'),
    proxy: ids('proxy'),
    group: ids('group'),
    policy: ids('policy'),
    posture: ids('posture'),
    resource: ids('resource'),
    route: ids('route'),
    ingressPeer: ids('ingressPeer'),
    ingressPort: ids('ingressPort'),
  };
  return yield* updateImage(emptyImage(state, observedPeers, like), state, observedPeers, touched, true);
}

/**
 * Returns the image after a change, at the cost of what the change touches. `changed` lists the ids of objects that
 * were added, changed or removed, of peers with new facts, and of integrations with new verdicts. Ids that are
 * irrelevant for access are ignored.
 */
export function updateAccess(
  previous: AccessImage,
  state: State,
  changed: Iterable<string>,
  observedPeers: ObservedPeers = previous.observedPeers,
): AccessImage {
  return runToEnd(updateAccessInSteps(previous, state, changed, observedPeers));
}

/** Same as `updateAccess`, but yields regularly. */
export function* updateAccessInSteps(
  previous: AccessImage,
  state: State,
  changed: Iterable<string>,
  observedPeers: ObservedPeers = previous.observedPeers,
): Generator<undefined, AccessImage> {
  const touched = {
    peer: new Set<string>(),
    proxy: new Set<string>(),
    group: new Set<string>(),
    policy: new Set<string>(),
    posture: new Set<string>(),
    resource: new Set<string>(),
    route: new Set<string>(),
    ingressPeer: new Set<string>(),
    ingressPort: new Set<string>(),
  };
  const sides = [
    { state: previous.state, verdicts: previous.observedPeers.verdicts },
    { state, verdicts: observedPeers.verdicts },
  ] as const;
  for (const id of changed) {
    for (const peer of affectedPeers(id, ...sides)) touched.peer.add(peer);
    const objects = [previous.state.get(id), state.get(id)];
    const part = accessTypeOf(objects[1] ?? objects[0]);
    if (part === undefined || part === 'network') continue;
    if (part !== 'router') {
      touched[part].add(id);
      continue;
    }
    // A changed router changes the ways to the resources of its network.
    for (const router of objects) {
      for (const resource of state.childrenOf(router?.parent ?? '', kindOf.resource)) touched.resource.add(resource.id);
    }
  }
  return yield* updateImage(previous, state, observedPeers, touched, false);
}

function emptyImage(state: State, observedPeers: ObservedPeers, like: Endpoints): AccessImage {
  return {
    state,
    observedPeers,
    endpoints: reserveSlots(like),
    groups: emptyMap(),
    universalGroups: [],
    routedDestinations: emptyMap(),
    guardedRoutes: [],
    live: noBits,
    takeovers: noTakeovers,
    postures: emptyMap(),
    flowsBy: emptyMap(),
    flows: [],
  };
}
