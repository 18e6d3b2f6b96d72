import { type BitProjection, createProjection } from '../../lib/bits/bit-projection.ts';
import { type BitSet, noBits, numbersIn, uniteBits } from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { agreeOnSlots } from '../ruleset/endpoints.ts';
import type { Flow } from '../ruleset/flows.ts';
import type { OwnSide } from './direction.ts';
import { ruleId } from './flow-rules.ts';
import { expiredIn, type NetmapBuilder } from './netmap-builder.ts';
import { reusePeerClasses } from './peer-classes.ts';
import type { SharedMap } from './shared.ts';

/** Data of the previous image about peers whose maps may have changed. */
export interface PreviousMaps {
  readonly maps: readonly (SharedMap | undefined)[];
  /** Peers for which flows changed, by the side on which they are. */
  readonly changed: Readonly<Record<OwnSide, BitSet>>;
  /** Added and removed flows. Absent when there are many. */
  readonly edits: Readonly<Record<OwnSide, FlowEdit>> | undefined;
  /** Tunnels also depend on these. Compared with the new image. */
  readonly routedDestinations: AccessImage['routedDestinations'];
  readonly expired: BitSet;
}

/** Added and removed flows, from the view of the peers on one side of them. */
export interface FlowEdit {
  /** Removed flows, and the ids of their rules. */
  readonly removed: readonly Flow[];
  readonly removedRuleIds: ReadonlySet<string>;
  readonly added: readonly Flow[];
  /** Projection onto the endpoints that these flows name on the other side. */
  readonly projection: BitProjection;
}

/** Maximum number of changed flows for updating maps. With more flows, they are built again. */
const maxFlowEdits = 64;

/** Keeps the maps of unaffected peers, and the data from which the maps of the affected peers can be updated. */
export function reuseMaps(old: NetmapBuilder, next: NetmapBuilder, touched: BitSet): void {
  const [before, after] = [old.access, next.access];
  if (next.peerClasses.requestCount > 0 || !agreeOnSlots(before.endpoints, after.endpoints)) return;
  reusePeerClasses(old, next);
  next.maps = [...old.maps];
  for (const slot of numbersIn(touched)) next.maps[slot] = undefined;
  if (before.endpoints !== after.endpoints || before.guardedRoutes !== after.guardedRoutes) return;
  const about = { maps: old.maps, routedDestinations: before.routedDestinations, expired: expiredIn(old) };
  next.previous = { ...about, ...findFlowEdits(before, after) };
}

function findFlowEdits(before: AccessImage, after: AccessImage): Pick<PreviousMaps, 'changed' | 'edits'> {
  if (before.flows === after.flows) return { changed: { from: noBits, to: noBits }, edits: undefined };
  const [had, has] = [new Set(before.flows), new Set(after.flows)];
  const removed = before.flows.filter((flow) => !has.has(flow));
  const added = after.flows.filter((flow) => !had.has(flow));
  const all = [...removed, ...added];
  const moved = {
    from: uniteBits(...all.map(({ from }) => from.possible)),
    to: uniteBits(...all.map(({ to }) => to.possible)),
  };
  if (all.length > maxFlowEdits) return { changed: moved, edits: undefined };
  const common = { removed, added, removedRuleIds: new Set(removed.map(ruleId)) };
  return {
    changed: moved,
    edits: {
      from: { ...common, projection: createProjection(moved.to) },
      to: { ...common, projection: createProjection(moved.from) },
    },
  };
}
