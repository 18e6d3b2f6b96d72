import { equalJson } from '../../lib/json.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { actsAsOwner, tenantOfIntegration } from '../../model/declare/owner-groups.ts';
import type { Stored } from '../../model/state/stored.ts';

type Provider = Stored<'ScimIntegration'> | Stored<'DirectoryIntegration'>;

/**
 * An integration decides which users are in the groups that it provides: by its token, and by the directory that it
 * reads. Where users of such a group are owners of a tenant, only an owner may change or delete the integration, or
 * renew its token. The same goes for its restoration after a deletion, because it then provides its groups again.
 */
export function refuseProviderChange({ before, after, actor }: Mutation<Provider>, was: State): readonly Fault[] {
  const provider = after ?? before;
  if (provider === undefined || actor === undefined || actsAsOwner(was, actor)) return [];
  if (before !== undefined && after !== undefined && isUnchanged(before, after)) return [];
  const tenant = tenantOfIntegration(was, provider.id);
  if (tenant === undefined) return [];
  const message = `the users of a group of this integration are owners of the tenant ${tenant}, so only an owner can change, delete or restore the integration or renew its token; ask an owner`;
  return [{ code: 'not_allowed', path: '', message }];
}

function isUnchanged(before: Provider, after: Provider): boolean {
  return equalJson(before.spec, after.spec) && equalJson(before.derived, after.derived);
}
