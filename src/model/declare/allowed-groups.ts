import type { JsonObject } from '../../lib/json.ts';

/** Settings of an account for groups in sign-in tokens. */
export interface GroupRules {
  readonly enabled: boolean;
  readonly claim: string;
  /** Callers whose token contains none of these groups are refused. Empty: no caller is refused. */
  readonly allowed: readonly string[];
}

/** Reads the rules from the settings of an account. */
export function readGroupRules(settings: JsonObject): GroupRules {
  const { jwt_groups_enabled: enabled, jwt_groups_claim_name: claim, jwt_allow_groups: allowed } = settings;
  return {
    enabled: enabled === true,
    claim: typeof claim === 'string' && claim !== '' ? claim : 'groups',
    allowed: Array.isArray(allowed) ? allowed.map(String) : [],
  };
}

/** Checks whether a caller may sign in. `listed` returns the names that a claim of the caller's token lists. */
export function isSignInAllowed(
  { enabled, claim, allowed }: GroupRules,
  listed: (claim: string) => readonly string[],
): boolean {
  return !enabled || allowed.length === 0 || listed(claim).some((name) => allowed.includes(name));
}
