import { equalJson } from '../../lib/json.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { actsAsOwner, tenantOfIntegration } from '../../model/declare/tenant-owners.ts';
import type { Stored } from '../../model/state/stored.ts';

/**
 * An integration decides which users are in the groups that it provides: by its token, and by the directory that it
 * reads. Where users of such a group are owners of a tenant, only an owner may change or delete the integration, or
 * renew its token.
 */
export function refuseProviderChange(
  { before, after, actor }: Mutation<Stored<'ScimIntegration'> | Stored<'DirectoryIntegration'>>,
  was: State,
): readonly Fault[] {
  if (before === undefined || actor === undefined || actsAsOwner(was, actor)) return [];
  if (after !== undefined && equalJson(before.spec, after.spec) && equalJson(before.derived, after.derived)) return [];
  const tenant = tenantOfIntegration(was, before.id);
  if (tenant === undefined) return [];
  const message = `the users of a group of this integration are owners of the tenant ${tenant}, so only an owner can change or delete the integration or renew its token; ask an owner`;
  return [{ code: 'not_allowed', path: '', message }];
}
