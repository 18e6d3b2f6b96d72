import { type BitSet, hasBit, intersectBits, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { changeEnds, type Ends, type NewEnd, slotsOf } from './ends.ts';
import type { Step } from './stages.ts';
import { partOf, readPeer } from './vocabulary.ts';

/** The peers of a step. */
export interface PeersStep {
  /** Those that take part. */
  readonly live: BitSet;
  /** Ids of those that came, went, or take part or not otherwise than before. */
  readonly stirred: ReadonlySet<string>;
}

/** Who is there now. */
export function stepEnds({ previous, state, touched }: Step): Ends {
  const gone: string[] = [];
  const come: NewEnd[] = [];
  for (const part of ['peer', 'proxy', 'resource', 'route'] as const) {
    for (const id of touched[part]) {
      const object = state.get(id);
      const is = object !== undefined && partOf(object) === part;
      if (isThere(previous.ends, id) === is) continue;
      if (is) come.push({ id, part, temporary: part === 'peer' && readPeer(object).temporary });
      else gone.push(id);
    }
  }
  return changeEnds(previous.ends, gone, come);
}

/** Which peers take part now: those that nobody has to approve any more. */
export function stepPeers({ previous, state, observedPeers, touched }: Step, ends: Ends): PeersStep {
  const ids = [...touched.peer];
  const approved = ids.filter((id) => {
    const object = state.get(id);
    return object !== undefined && readPeer(object).approved && !observedPeers.waiting.has(id);
  });
  const before = intersectBits(previous.live, previous.ends.of.peer);
  const looked = uniteBits(slotsOf(previous.ends, ids), slotsOf(ends, ids));
  const live = uniteBits(subtractBits(before, looked), slotsOf(ends, approved));
  const stirred = ids.filter(
    (id) =>
      isThere(previous.ends, id) !== isThere(ends, id) || holds(previous.ends, before, id) !== holds(ends, live, id),
  );
  return { live, stirred: new Set(stirred) };
}

function isThere(ends: Ends, id: string): boolean {
  return Object.values(ends.of).some((set) => holds(ends, set, id));
}

function holds(ends: Ends, set: BitSet, id: string): boolean {
  const at = ends.slots.get(id);
  return at !== undefined && hasBit(set, at);
}
