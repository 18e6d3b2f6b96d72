import { type BitSet, equalBits, hasAllBits, hasBit, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { isDenyAll, isPartlyDropped } from '../evaluate/overlap.ts';
import {
  findFlowIndexes,
  flowsAt,
  type ReachOptions,
  surelyReachedFrom,
  surelyReachedTo,
} from '../evaluate/reachability.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type Flow, sideOf } from '../ruleset/flows.ts';
import { type FlowRule, flowRuleOf, flowTableOf, setId } from './flow-rules.ts';
import type { FlowEdit, PreviousMaps } from './incremental.ts';
import { createListing, editListing, type Listing } from './listing.ts';
import { rulesOf } from './rules.ts';
import { type Entry, type Section, sortEntries } from './section.ts';

/** The side of a flow on which a peer is. */
export type OwnSide = 'from' | 'to';

/** The map of a peer in one direction: as source of connections (`from`) or as their destination (`to`). */
export interface DirectionMap {
  /** Endpoints that the peer certainly reaches, or that certainly reach it. */
  readonly reached: BitSet;
  readonly rules: Listing;
  /** The peer sets that the rules name. */
  readonly sets: Listing;
}

/** Returns the map of a peer in one direction. Reuses the map of the previous image where possible. */
export function directionMapOf(
  access: AccessImage,
  previous: PreviousMaps | undefined,
  at: number,
  own: OwnSide,
): DirectionMap {
  const old = previous?.maps[at]?.directions?.[own];
  if (previous === undefined || old === undefined) return buildDirection(access, at, own);
  if (!hasBit(previous.changed[own], at)) return old;
  const edit = previous.edits?.[own];
  return edit === undefined ? buildDirection(access, at, own) : updateDirection(access, at, own, old, edit);
}

function buildDirection(access: AccessImage, at: number, own: OwnSide): DirectionMap {
  const indexes = findFlowIndexes(access, at, own);
  const sets = new Map<string, Entry>();
  const other = otherSide(own);
  const rules = rulesOf(access, at, { flowIndexes: indexes, other, sets: { add: (set) => sets.set(set.id, set) } });
  const reached = findReached(access, at, own, flowsAt(access, indexes), { selfInclusion: 'as another' });
  return { reached, rules: createListing(rules), sets: createListing(sortEntries([...sets.values()])) };
}

/** Considers only the added and removed flows, and only the endpoints that they name on the other side. */
function updateDirection(
  access: AccessImage,
  at: number,
  own: OwnSide,
  old: DirectionMap,
  edit: FlowEdit,
): DirectionMap {
  const added = edit.added.filter((flow) => concerns(flow, at, own));
  const flowRules = flowRulesTo(access, at, own, added);
  const named = new Set(flowRules.map(({ set }) => set.id));
  const lost = edit.removed.some((flow) => isListedFor(flow, at, own) && !named.has(setId(flow, otherSide(own))));
  const rules = flowRules.map(({ rule }) => rule);
  return {
    reached: updateReached(access, at, own, old.reached, { added, edit }),
    rules: editListing(old.rules, edit.removedRuleIds, rules),
    sets: lost
      ? createListing(setsOf(flowRulesTo(access, at, own, flowsOfPeer(access, at, own))))
      : editListing(old.sets, [], setsOf(flowRules)),
  };
}

interface FlowChanges {
  readonly added: readonly Flow[];
  readonly edit: FlowEdit;
}

function updateReached(
  access: AccessImage,
  at: number,
  own: OwnSide,
  old: BitSet,
  { added, edit }: FlowChanges,
): BitSet {
  const others = (flow: Flow) => sideOf(flow, otherSide(own));
  const concerned = [...edit.removed, ...added].filter((flow) => concerns(flow, at, own));
  const drops = flowTableOf(access).drops.filter((flow) => concerns(flow, at, own));
  const accepts = added.filter(
    (flow) => !flow.drop && isListedFor(flow, at, own) && !isPartlyDropped(access, flow, drops),
  );
  // Endpoints that are certainly accepted need not be weighed, unless a guarded route may be closed to them.
  const isAccepted = (flow: Flow) => accepts.some((accept) => hasAllBits(others(accept).sure, others(flow).possible));
  const named = concerned.map((flow) => others(flow).possible);
  const isSure = access.guardedRoutes.length === 0 && concerned.every(isAccepted);
  const denied = drops.filter(isDenyAll).map((drop) => others(drop).possible);
  if (isSure && denied.length === 0 && named.every((set) => hasAllBits(old, set))) return old;
  const reached = isSure
    ? // What deny-all drops name is not reached by whatever else; about the others nothing changed but what is accepted.
      subtractBits(uniteBits(old, ...named), uniteBits(...denied))
    : edit.projection.replace(
        old,
        findReached(access, at, own, flowsOfPeer(access, at, own), {
          selfInclusion: 'as another',
          projection: edit.projection,
        }),
      );
  return equalBits(reached, old) ? old : reached;
}

function findReached(
  access: AccessImage,
  at: number,
  own: OwnSide,
  about: readonly Flow[],
  options: ReachOptions,
): BitSet {
  return (own === 'from' ? surelyReachedFrom : surelyReachedTo)(access, at, about, options);
}

/** Returns the rules of the flows for an endpoint on its own side of them. */
function flowRulesTo(access: AccessImage, at: number, own: OwnSide, flows: readonly Flow[]): readonly FlowRule[] {
  return flows.flatMap((flow) => {
    if (!isListedFor(flow, at, own)) return [];
    const rules = flowRuleOf(access, flow, otherSide(own));
    return rules.set.members?.length === 0 ? [] : [rules];
  });
}

/** Returns all flows that may apply to an endpoint. */
function flowsOfPeer(access: AccessImage, at: number, own: OwnSide): readonly Flow[] {
  return flowsAt(access, findFlowIndexes(access, at, own));
}

function concerns(flow: Flow, at: number, own: OwnSide): boolean {
  return hasBit(sideOf(flow, own).possible, at);
}

function isListedFor(flow: Flow, at: number, own: OwnSide): boolean {
  const { sure, possible } = sideOf(flow, own);
  return hasBit(flow.drop ? possible : sure, at);
}

function setsOf(rules: readonly FlowRule[]): Section {
  return sortEntries([...new Map(rules.map(({ set }) => [set.id, set])).values()]);
}

function otherSide(own: OwnSide): OwnSide {
  return own === 'from' ? 'to' : 'from';
}
