import { type BitSet, bitsOf, equalBits, numbersIn, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import type { Endpoints } from './endpoints.ts';
import type { PeerFacts } from './facts.ts';
import { type Checks, type PostureEvaluator, readPosture } from './posture.ts';

/**
 * A posture check with the peers that pass for certain (`sure`), and those that certainly or possibly pass
 * (`possible`).
 */
export interface EvaluatedPosture {
  readonly checks: Checks;
  readonly posture: PostureEvaluator;
  readonly sure: BitSet;
  readonly possible: BitSet;
}

type Facts = ReadonlyMap<string, PeerFacts>;

/** Evaluates a posture check for every peer. */
export function evaluateAllPeers(checks: Checks, endpoints: Endpoints, facts: Facts): EvaluatedPosture {
  const posture = readPosture(checks);
  return { checks, posture, ...evaluatePeers(posture, numbersIn(endpoints.byType.peer), endpoints, facts) };
}

/**
 * Evaluates a posture check again for some slots, of peers that were added or removed or whose facts changed. Returns
 * `known` when nothing changed.
 */
export function reevaluatePeers(
  known: EvaluatedPosture,
  slots: BitSet,
  endpoints: Endpoints,
  facts: Facts,
): EvaluatedPosture {
  const peers = numbersIn(slots).filter((at) => endpoints.ids[at] !== undefined);
  const asked = evaluatePeers(known.posture, peers, endpoints, facts);
  const sure = uniteBits(subtractBits(known.sure, slots), asked.sure);
  const possible = uniteBits(subtractBits(known.possible, slots), asked.possible);
  if (equalBits(sure, known.sure) && equalBits(possible, known.possible)) return known;
  return { ...known, sure, possible };
}

function evaluatePeers(posture: PostureEvaluator, peers: readonly number[], endpoints: Endpoints, facts: Facts) {
  const unknown = posture({});
  const results = peers.map((at) => {
    const own = facts.get(endpoints.ids[at] ?? '');
    return [at, own === undefined ? unknown : posture(own)] as const;
  });
  const which = (accepts: (result: string) => boolean) =>
    bitsOf(results.filter(([, result]) => accepts(result)).map(([at]) => at));
  return { sure: which((result) => result === 'pass'), possible: which((result) => result !== 'fail') };
}
