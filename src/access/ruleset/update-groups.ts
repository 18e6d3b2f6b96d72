import { equalBits } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import { splitIntoParts } from '../../lib/steps.ts';
import type { Endpoints } from './endpoints.ts';
import { type Membership, membershipOf } from './groups.ts';
import { accessTypeOf, groupFields, readGroup, readResource, readRoute } from './object-readers.ts';
import type { UpdateInput } from './update-image.ts';

/** Groups after a step. */
export interface UpdatedGroups {
  readonly all: PersistentMap<Membership>;
  /** Ids of groups that contain every peer. */
  readonly universal: readonly string[];
  /** Ids of groups whose membership changed, or whose members began or stopped to take part. */
  readonly changed: ReadonlySet<string>;
}

/** Number of groups that are recomputed before the generator yields. */
const groupsPerSlice = 200;

/** Recomputes the members of groups. */
export function* updateGroups(
  step: UpdateInput,
  endpoints: Endpoints,
  changedPeers: ReadonlySet<string>,
): Generator<undefined, UpdatedGroups> {
  const { previous, state, touched } = step;
  const universal = [...new Set([...previous.universalGroups, ...touched.group])]
    .filter((id) => containsAllPeers(step, id))
    .sort();
  const changed = new Set<string>();
  for (const peer of changedPeers)
    for (const group of step.referrerIds(peer, 'group', groupFields.member)) changed.add(group);
  if (changedPeers.size > 0) for (const group of [...previous.universalGroups, ...universal]) changed.add(group);
  const looked = new Set([...changed, ...touched.group, ...groupsNamedByDestinations(step)]);
  let all = previous.groups;
  for (const part of splitIntoParts(looked, groupsPerSlice)) {
    all = all.edit((draft) => {
      for (const id of part) {
        const before = draft.get(id);
        const after = membershipOf(id, state, endpoints);
        if (!equalMemberships(before, after)) changed.add(id);
        if (after === undefined) draft.delete(id);
        else draft.set(id, after);
      }
    });
    yield undefined;
  }
  return { all, universal, changed };
}

/** Returns the groups that touched resources and routes name, before or after the step. */
function groupsNamedByDestinations({ previous, state, touched }: UpdateInput): readonly string[] {
  const sides = [previous.state, state];
  const resources = [...touched.resource].flatMap((id) => sides.flatMap((side) => side.get(id) ?? []));
  const routes = [...touched.route].flatMap((id) => sides.flatMap((side) => side.get(id) ?? []));
  return [
    ...resources.flatMap((object) => readResource(object).groups),
    ...routes.flatMap((object) => readRoute(object).guards),
  ];
}

function containsAllPeers({ state }: UpdateInput, id: string): boolean {
  const object = state.get(id);
  return object !== undefined && accessTypeOf(object) === 'group' && readGroup(object).all;
}

function equalMemberships(a: Membership | undefined, b: Membership | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    equalBits(a.members, b.members) && equalBits(a.temporaryPeers, b.temporaryPeers) && equalBits(a.guarded, b.guarded)
  );
}
