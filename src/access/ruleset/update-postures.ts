import { isEmptyBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import { type Endpoints, slotsOf } from './endpoints.ts';
import { readChecks } from './object-readers.ts';
import { type EvaluatedPosture, evaluateAllPeers, reevaluatePeers } from './postures.ts';
import type { UpdateInput } from './update-image.ts';

/** Posture checks after a step. */
export interface UpdatedPostures {
  readonly all: PersistentMap<EvaluatedPosture>;
  /** Ids of checks that were edited, or that other peers pass than before. */
  readonly changed: ReadonlySet<string>;
}

/** Recomputes which peers pass which check. */
export function updatePostures(
  { previous, state, observedPeers, touched }: UpdateInput,
  endpoints: Endpoints,
): UpdatedPostures {
  const changed = new Set<string>();
  const asked = uniteBits(slotsOf(previous.endpoints, touched.peer), slotsOf(endpoints, touched.peer));
  const all = previous.postures.edit((draft) => {
    for (const id of touched.posture) {
      const object = state.get(id);
      if (object === undefined) draft.delete(id);
      else draft.set(id, evaluateAllPeers(readChecks(object), endpoints, observedPeers.facts));
      changed.add(id);
    }
    if (isEmptyBits(asked)) return;
    for (const [id, known] of previous.postures) {
      if (touched.posture.has(id)) continue;
      const after = reevaluatePeers(known, asked, endpoints, observedPeers.facts);
      if (after === known) continue;
      draft.set(id, after);
      changed.add(id);
    }
  });
  return { all, changed };
}
