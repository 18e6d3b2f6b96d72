import type { JsonObject } from '../../lib/json.ts';

/** What an account wants to know about groups in sign-in tokens. */
export interface GroupRules {
  readonly enabled: boolean;
  readonly claim: string;
  /** Callers whose token names none of these are refused; empty: none are. */
  readonly allowed: readonly string[];
}

/** The rules in the settings of an account. */
export function groupRules(settings: JsonObject): GroupRules {
  const { jwt_groups_enabled: enabled, jwt_groups_claim_name: claim, jwt_allow_groups: allowed } = settings;
  return {
    enabled: enabled === true,
    claim: typeof claim === 'string' && claim !== '' ? claim : 'groups',
    allowed: Array.isArray(allowed) ? allowed.map(String) : [],
  };
}

/** Whether a caller whose token lists these names may sign in. */
export function isLetIn(
  { enabled, claim, allowed }: GroupRules,
  listed: (claim: string) => readonly string[],
): boolean {
  return !enabled || allowed.length === 0 || listed(claim).some((name) => allowed.includes(name));
}
