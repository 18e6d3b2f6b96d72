import { sha256 } from '../../lib/node-pure.ts';
import { numberText } from '../../lib/number-text.ts';
import type { GuardLimits } from '../../model/sources/settings.ts';
import type { AccessCount, AccessImpact, AccessRow } from '../../operations/config/plan-access.ts';
import type { Plan, TrippedGuard } from '../plan.ts';

/** Whether anybody gains or loses anything. */
export function changesAccess({ gained, lost }: AccessImpact): boolean {
  return gained.pairs + lost.pairs > 0;
}

/** So many rows at most; gains do not crowd out losses. */
export function firstRows(rows: readonly AccessRow[], most: number): readonly AccessRow[] {
  if (rows.length <= most) return rows;
  const gains = rows.filter(({ change }) => change === 'gained');
  const losses = rows.filter(({ change }) => change === 'lost');
  const room = Math.max(Math.ceil(most / 2), most - losses.length);
  const shown = gains.slice(0, room);
  return [...shown, ...losses.slice(0, most - shown.length)];
}

/** The guards on how much access a plan gives and takes. A limit that is exactly reached passes; one more trips. */
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
 * The plan with what it does to access. Its digest covers which guards that trips, and not by how much: others who come
 * and go meanwhile change the numbers and not what was approved.
 */
export function withAccess(plan: Plan, access: AccessImpact, guards: readonly TrippedGuard[]): Plan {
  if (guards.length === 0) return { ...plan, access };
  const digest = sha256([plan.digest, ...guards.map(({ guard }) => guard)].join('\n'));
  return { ...plan, access, guards: [...plan.guards, ...guards], digest };
}

/** One line for each two names, `+` for what they gain and `-` for what they lose. */
export function accessLine({ change, from, to, traffic, pairs, conditional, partly }: AccessRow): string {
  const which = [
    ...(conditional === 0 ? [] : [conditional === pairs ? 'all' : String(conditional)]),
    ...(partly === true ? [conditional === 0 ? 'in part' : 'others in part'] : []),
  ];
  const open = which.length === 0 ? '' : `, ${which.join(' and ')} depending on posture checks`;
  return `${change === 'gained' ? '+' : '-'} ${from.name} → ${to.name}: ${traffic} (${pairsText(pairs)}${open})`;
}

/** How much access a plan gives and takes, in a sentence. */
export function accessSummary({ gained, lost }: AccessImpact): string {
  const part = (what: string, { pairs }: AccessCount) => (pairs === 0 ? [] : [`${what} between ${pairsText(pairs)}`]);
  const parts = [...part('gained', gained), ...part('lost', lost)];
  return parts.length === 0 ? 'Nobody gains or loses access.' : `Access is ${parts.join(' and ')}.`;
}

function pairsText(pairs: number): string {
  return pairs === 1 ? '1 pair' : `${numberText(pairs)} pairs`;
}
