import { type BitSet, hasBit, intersectBits, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { changeEndpoints, type Endpoints, type NewEndpoint, slotsOf } from './endpoints.ts';
import { accessTypeOf, readPeer } from './object-readers.ts';
import type { UpdateInput } from './update-image.ts';
import { disapprovalOf } from './verdicts.ts';

/** Peers after a step. */
export interface UpdatedPeers {
  /** Peers that take part. */
  readonly live: BitSet;
  /** Ids of peers that were added or removed, or that began or stopped to take part. */
  readonly changed: ReadonlySet<string>;
}

/** Returns the endpoints after the step. */
export function updateEndpoints({ previous, state, touched }: UpdateInput): Endpoints {
  const gone: string[] = [];
  const come: NewEndpoint[] = [];
  for (const part of ['peer', 'proxy', 'resource', 'route'] as const) {
    for (const id of touched[part]) {
      const object = state.get(id);
      const is = object !== undefined && accessTypeOf(object) === part;
      if (hasEndpoint(previous.endpoints, id) === is) continue;
      if (is) come.push({ id, type: part, temporary: part === 'peer' && readPeer(object).temporary });
      else gone.push(id);
    }
  }
  return changeEndpoints(previous.endpoints, gone, come);
}

/**
 * Returns which peers take part after the step: those that are approved and that endpoint security does not keep out.
 */
export function updatePeers(
  { previous, state, observedPeers, touched }: UpdateInput,
  endpoints: Endpoints,
): UpdatedPeers {
  const ids = [...touched.peer];
  const approved = ids.filter((id) => {
    const object = state.get(id);
    if (object === undefined || !readPeer(object).approved || observedPeers.waiting.has(id)) return false;
    return disapprovalOf(object, state, observedPeers.verdicts) === undefined;
  });
  const before = intersectBits(previous.live, previous.endpoints.byType.peer);
  const looked = uniteBits(slotsOf(previous.endpoints, ids), slotsOf(endpoints, ids));
  const live = uniteBits(subtractBits(before, looked), slotsOf(endpoints, approved));
  const changed = ids.filter(
    (id) =>
      hasEndpoint(previous.endpoints, id) !== hasEndpoint(endpoints, id) ||
      containsEndpoint(previous.endpoints, before, id) !== containsEndpoint(endpoints, live, id),
  );
  return { live, changed: new Set(changed) };
}

function hasEndpoint(endpoints: Endpoints, id: string): boolean {
  return Object.values(endpoints.byType).some((set) => containsEndpoint(endpoints, set, id));
}

/** Whether a set contains an endpoint. */
export function containsEndpoint(endpoints: Endpoints, set: BitSet, id: string): boolean {
  const at = endpoints.slots.get(id);
  return at !== undefined && hasBit(set, at);
}
