import { type BitSet, equalBits, hasAllBits, hasBit, subtractBits, uniteBits } from '../../lib/bit-set.ts';
import type { Access } from '../access.ts';
import { type Flow, sideOf } from '../flows.ts';
import { isDenyAll, isHeld } from '../overlap.ts';
import { flowsAbout, flowsIn, type Manner, surelyReachedFrom, surelyReachedTo } from '../reached.ts';
import type { Earlier, Edit } from './carried.ts';
import { type FlowRule, flowRuleOf, flowTableOf, setId } from './flow-rules.ts';
import { editListing, type Listing, listed } from './listing.ts';
import { rulesOf } from './rules.ts';
import { type Entry, inOrder, type Section } from './section.ts';

/** The side of a flow at which a peer is. */
export type Own = 'from' | 'to';

/** What is said about a peer in one direction: as one that opens connections, or as one that is reached. */
export interface Half {
  /** Whom it surely reaches, or who surely reaches it. */
  readonly reached: BitSet;
  readonly rules: Listing;
  /** The sets that the rules name. */
  readonly sets: Listing;
}

/** What is said about a peer; from what an earlier image said as far as that may be. */
export function halfOf(access: Access, earlier: Earlier | undefined, at: number, own: Own): Half {
  const old = earlier?.maps[at]?.halves?.[own];
  if (earlier === undefined || old === undefined) return wholeHalf(access, at, own);
  if (!hasBit(earlier.moved[own], at)) return old;
  const edit = earlier.edits?.[own];
  return edit === undefined ? wholeHalf(access, at, own) : editHalf(access, at, own, old, edit);
}

function wholeHalf(access: Access, at: number, own: Own): Half {
  const places = flowsAbout(access, at, own);
  const sets = new Map<string, Entry>();
  const other = otherThan(own);
  const rules = rulesOf(access, at, { about: places, other, sets: { add: (set) => sets.set(set.id, set) } });
  const reached = weigh(access, at, own, flowsIn(access, places), { itself: 'as another' });
  return { reached, rules: listed(rules), sets: listed(inOrder([...sets.values()])) };
}

/** Only what flows say that came and went is looked at, and only for the ends that they name on the other side. */
function editHalf(access: Access, at: number, own: Own, old: Half, edit: Edit): Half {
  const come = edit.come.filter((flow) => speaksOf(flow, at, own));
  const flowRules = flowRulesTo(access, at, own, come);
  const named = new Set(flowRules.map(({ set }) => set.id));
  const lost = edit.flows.some((flow) => speaksTo(flow, at, own) && !named.has(setId(flow, otherThan(own))));
  const rules = flowRules.map(({ rule }) => rule);
  return {
    reached: editReached(access, at, own, old.reached, { come, edit }),
    rules: editListing(old.rules, edit.rules, rules),
    sets: lost
      ? listed(setsOf(flowRulesTo(access, at, own, about(access, at, own))))
      : editListing(old.sets, [], setsOf(flowRules)),
  };
}

interface Edited {
  readonly come: readonly Flow[];
  readonly edit: Edit;
}

function editReached(access: Access, at: number, own: Own, old: BitSet, { come, edit }: Edited): BitSet {
  const others = (flow: Flow) => sideOf(flow, otherThan(own));
  const concerned = [...edit.flows, ...come].filter((flow) => speaksOf(flow, at, own));
  const drops = flowTableOf(access).drops.filter((flow) => speaksOf(flow, at, own));
  const accepts = come.filter((flow) => !flow.drop && speaksTo(flow, at, own) && !isHeld(access, flow, drops));
  // Who is accepted for sure need not be weighed, unless a gate may be closed all the same.
  const isAccepted = (flow: Flow) => accepts.some((accept) => hasAllBits(others(accept).sure, others(flow).possible));
  const named = concerned.map((flow) => others(flow).possible);
  const isSure = access.gates.length === 0 && concerned.every(isAccepted);
  const denied = drops.filter(isDenyAll).map((drop) => others(drop).possible);
  if (isSure && denied.length === 0 && named.every((set) => hasAllBits(old, set))) return old;
  const reached = isSure
    ? // What deny-all drops name is not reached by whatever else; about the others nothing changed but what is accepted.
      subtractBits(uniteBits(old, ...named), uniteBits(...denied))
    : edit.lens.put(old, weigh(access, at, own, about(access, at, own), { itself: 'as another', lens: edit.lens }));
  return equalBits(reached, old) ? old : reached;
}

function weigh(access: Access, at: number, own: Own, about: readonly Flow[], manner: Manner): BitSet {
  return (own === 'from' ? surelyReachedFrom : surelyReachedTo)(access, at, about, manner);
}

/** What is told of flows to an end at this side of them. */
function flowRulesTo(access: Access, at: number, own: Own, flows: readonly Flow[]): readonly FlowRule[] {
  return flows.flatMap((flow) => {
    if (!speaksTo(flow, at, own)) return [];
    const rules = flowRuleOf(access, flow, otherThan(own));
    return rules.set.members?.length === 0 ? [] : [rules];
  });
}

/** All flows that may be about an end. */
function about(access: Access, at: number, own: Own): readonly Flow[] {
  return flowsIn(access, flowsAbout(access, at, own));
}

function speaksOf(flow: Flow, at: number, own: Own): boolean {
  return hasBit(sideOf(flow, own).possible, at);
}

function speaksTo(flow: Flow, at: number, own: Own): boolean {
  const { sure, possible } = sideOf(flow, own);
  return hasBit(flow.drop ? possible : sure, at);
}

function setsOf(rules: readonly FlowRule[]): Section {
  return inOrder([...new Map(rules.map(({ set }) => [set.id, set])).values()]);
}

function otherThan(own: Own): Own {
  return own === 'from' ? 'to' : 'from';
}
