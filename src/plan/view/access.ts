import { sha256 } from '../../lib/node-pure.ts';
import { formatNumber } from '../../lib/number-text.ts';
import type { GuardLimits } from '../../model/sources/settings.ts';
import type { AccessCount, AccessImpact, AccessRow } from '../../operations/config/plan-access.ts';
import type { Plan, TrippedGuard } from '../plan.ts';

/** Whether any pair gains or loses access. */
export function changesAccess({ gained, lost }: AccessImpact): boolean {
  return gained.pairs + lost.pairs > 0;
}

/** Returns at most `most` rows. Gains take at most half of them when there are enough losses to fill the rest. */
export function firstRows(rows: readonly AccessRow[], most: number): readonly AccessRow[] {
  if (rows.length <= most) return rows;
  const gains = rows.filter(({ change }) => change === 'gained');
  const losses = rows.filter(({ change }) => change === 'lost');
  const room = Math.max(Math.ceil(most / 2), most - losses.length);
  const shown = gains.slice(0, room);
  return [...shown, ...losses.slice(0, most - shown.length)];
}

/**
 * Returns the guards that trip on how much access a plan gives and takes. Exactly the limit passes; one pair more
 * trips.
 */
export function accessGuards(
  impact: AccessImpact,
  { maxAccessLost, maxAccessGained }: Pick<GuardLimits, 'maxAccessLost' | 'maxAccessGained'>,
): readonly TrippedGuard[] {
  const trip = (guard: 'access_lost' | 'access_gained', verb: string, limit: number | undefined): TrippedGuard[] => {
    const change = guard === 'access_lost' ? 'lost' : 'gained';
    const { pairs } = impact[change];
    if (limit === undefined || pairs <= limit) return [];
    const most = largestOf(impact, change);
    const mostly = most === undefined ? '' : `, most from ${most.from.name} to ${most.to.name} (${most.traffic})`;
    return [{ guard, message: `${verb} between ${pairsText(pairs)}${mostly}; up to ${limit} need no approval` }];
  };
  return [
    ...trip('access_lost', 'takes away access', maxAccessLost),
    ...trip('access_gained', 'gives access', maxAccessGained),
  ];
}

function largestOf({ groups }: AccessImpact, change: AccessRow['change']): AccessRow | undefined {
  const rows = groups.filter((row) => row.change === change);
  return rows.reduce<AccessRow | undefined>(
    (most, row) => (most === undefined || row.pairs > most.pairs ? row : most),
    undefined,
  );
}

/**
 * Adds the effect on access to a plan. The digest then covers which access guards trip, but not the numbers: peers that
 * join or leave change the numbers, but not what was approved.
 */
export function withAccess(plan: Plan, access: AccessImpact, guards: readonly TrippedGuard[]): Plan {
  if (guards.length === 0) return { ...plan, access };
  const digest = sha256([plan.digest, ...guards.map(({ guard }) => guard)].join('\n'));
  return { ...plan, access, guards: [...plan.guards, ...guards], digest };
}

/** Returns one line for a row: `+` for access gained, `-` for access lost. */
export function accessLine({ change, from, to, traffic, pairs, conditional, partly }: AccessRow): string {
  const which = [
    ...(conditional === 0 ? [] : [conditional === pairs ? 'all' : String(conditional)]),
    ...(partly === true ? [conditional === 0 ? 'in part' : 'others in part'] : []),
  ];
  const open = which.length === 0 ? '' : `, ${which.join(' and ')} depending on posture checks`;
  return `${change === 'gained' ? '+' : '-'} ${from.name} → ${to.name}: ${traffic} (${pairsText(pairs)}${open})`;
}

/** Returns how much access a plan gives and takes, as a sentence. */
export function accessSummary({ gained, lost }: AccessImpact): string {
  const part = (what: string, { pairs }: AccessCount) => (pairs === 0 ? [] : [`${what} between ${pairsText(pairs)}`]);
  const parts = [...part('gained', gained), ...part('lost', lost)];
  return parts.length === 0 ? 'No access is gained or lost.' : `Access is ${parts.join(' and ')}.`;
}

function pairsText(pairs: number): string {
  return pairs === 1 ? '1 pair' : `${formatNumber(pairs)} pairs`;
}
