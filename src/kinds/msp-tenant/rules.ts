import type { Fault, Mutation, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { actsAsOwner, ownerGroups } from '../shared/tenant-owners.ts';

/** Owners of a tenant's account are made by owners of this one: no user gives more rights than they have. */
export function checkMutation({ before, after, actor }: Mutation<Stored<'MSPTenant'>>, was: State): readonly Fault[] {
  if (after === undefined || actor === undefined || actsAsOwner(was, actor)) return [];
  const known = ownerGroups(before);
  if (ownerGroups(after).every((id) => known.includes(id))) return [];
  const message = 'only an owner lets a group act as the owner of a tenant; give it the role `admin`, or ask an owner';
  return [{ code: 'not_allowed', path: '/groups', message }];
}
