import { type BitProjection, projectionOnto } from '../../lib/bits/bit-projection.ts';
import { type BitSet, noBits, numbersIn, uniteBits } from '../../lib/bits/bit-set.ts';
import type { Access } from '../ruleset/access.ts';
import { agreeOnSlots } from '../ruleset/endpoints.ts';
import type { Flow } from '../ruleset/flows.ts';
import type { OwnSide } from './direction.ts';
import { ruleId } from './flow-rules.ts';
import { expiredIn, type NetmapBuilder } from './netmap-builder.ts';
import { reusePeerClasses } from './peer-classes.ts';
import type { SharedMap } from './shared.ts';

/** What is known from the image before about peers whose maps may be others now. */
export interface PreviousMaps {
  readonly maps: readonly (SharedMap | undefined)[];
  /** Peers of which something else is said as those that open connections, and as those that are reached. */
  readonly moved: Readonly<Record<OwnSide, BitSet>>;
  /** The flows that were added and removed, when they are few. */
  readonly edits: Readonly<Record<OwnSide, FlowEdit>> | undefined;
  /** What tunnels depend on besides, to be compared. */
  readonly routedDestinations: Access['routedDestinations'];
  readonly expired: BitSet;
}

/** Flows that came and went, for the peers at one side of them. */
export interface FlowEdit {
  /** Flows that were removed, and the ids of their rules. */
  readonly removed: readonly Flow[];
  readonly rules: ReadonlySet<string>;
  readonly added: readonly Flow[];
  /** On the ends that they name on the other side. */
  readonly projection: BitProjection;
}

/** With more flows that came or went what is said about a peer is put together again. */
const fewFlows = 64;

/** Keeps the maps of peers that nothing touched, and what was said about the others. */
export function reuseMaps(old: NetmapBuilder, next: NetmapBuilder, touched: BitSet): void {
  const [before, after] = [old.access, next.access];
  if (next.peerClasses.asked > 0 || !agreeOnSlots(before.endpoints, after.endpoints)) return;
  reusePeerClasses(old, next);
  next.maps = [...old.maps];
  for (const slot of numbersIn(touched)) next.maps[slot] = undefined;
  if (before.endpoints !== after.endpoints || before.guardedRoutes !== after.guardedRoutes) return;
  const about = { maps: old.maps, routedDestinations: before.routedDestinations, expired: expiredIn(old) };
  next.previous = { ...about, ...movedFlows(before, after) };
}

function movedFlows(before: Access, after: Access): Pick<PreviousMaps, 'moved' | 'edits'> {
  if (before.flows === after.flows) return { moved: { from: noBits, to: noBits }, edits: undefined };
  const [had, has] = [new Set(before.flows), new Set(after.flows)];
  const removed = before.flows.filter((flow) => !has.has(flow));
  const added = after.flows.filter((flow) => !had.has(flow));
  const all = [...removed, ...added];
  const moved = {
    from: uniteBits(...all.map(({ from }) => from.possible)),
    to: uniteBits(...all.map(({ to }) => to.possible)),
  };
  if (all.length > fewFlows) return { moved, edits: undefined };
  const common = { removed, added, rules: new Set(removed.map(ruleId)) };
  return {
    moved,
    edits: {
      from: { ...common, projection: projectionOnto(moved.to) },
      to: { ...common, projection: projectionOnto(moved.from) },
    },
  };
}
