import { type BitSet, hasBit, intersectBits, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { changeEndpoints, type Endpoints, type NewEndpoint, slotsOf } from './endpoints.ts';
import { partOf, readPeer } from './object-readers.ts';
import type { UpdateStep } from './update-image.ts';
import { disapprovalOf } from './verdicts.ts';

/** Peers after a step. */
export interface PeersStep {
  /** Peers that take part. */
  readonly live: BitSet;
  /** Ids of peers that were added or removed, or that began or stopped to take part. */
  readonly changed: ReadonlySet<string>;
}

/** Returns the endpoints after the step. */
export function stepEndpoints({ previous, state, touched }: UpdateStep): Endpoints {
  const gone: string[] = [];
  const come: NewEndpoint[] = [];
  for (const part of ['peer', 'proxy', 'resource', 'route'] as const) {
    for (const id of touched[part]) {
      const object = state.get(id);
      const is = object !== undefined && partOf(object) === part;
      if (isThere(previous.endpoints, id) === is) continue;
      if (is) come.push({ id, part, temporary: part === 'peer' && readPeer(object).temporary });
      else gone.push(id);
    }
  }
  return changeEndpoints(previous.endpoints, gone, come);
}

/**
 * Returns which peers take part after the step: those that are approved and that endpoint security does not keep out.
 */
export function stepPeers({ previous, state, observedPeers, touched }: UpdateStep, endpoints: Endpoints): PeersStep {
  const ids = [...touched.peer];
  const approved = ids.filter((id) => {
    const object = state.get(id);
    if (object === undefined || !readPeer(object).approved || observedPeers.waiting.has(id)) return false;
    return disapprovalOf(object, state, observedPeers.verdicts) === undefined;
  });
  const before = intersectBits(previous.live, previous.endpoints.of.peer);
  const looked = uniteBits(slotsOf(previous.endpoints, ids), slotsOf(endpoints, ids));
  const live = uniteBits(subtractBits(before, looked), slotsOf(endpoints, approved));
  const changed = ids.filter(
    (id) =>
      isThere(previous.endpoints, id) !== isThere(endpoints, id) ||
      holds(previous.endpoints, before, id) !== holds(endpoints, live, id),
  );
  return { live, changed: new Set(changed) };
}

function isThere(endpoints: Endpoints, id: string): boolean {
  return Object.values(endpoints.of).some((set) => holds(endpoints, set, id));
}

/** Whether a set contains an endpoint. */
export function holds(endpoints: Endpoints, set: BitSet, id: string): boolean {
  const at = endpoints.slots.get(id);
  return at !== undefined && hasBit(set, at);
}
