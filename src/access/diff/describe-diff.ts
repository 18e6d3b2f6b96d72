import type { Named } from '../evaluate/named.ts';
import { missingText, type TrafficPart, trafficParts, trafficText } from '../evaluate/traffic.ts';
import type { AccessDiff, PairCount, PairDelta, PairTraffic } from './diff.ts';
import type { GroupShift } from './summary.ts';

/** A difference as plain data. */
export interface DescribedDiff {
  readonly gained: PairCount;
  readonly lost: PairCount;
  readonly groups: readonly (Omit<GroupShift, 'traffic'> & DescribedTraffic)[];
}

/** Traffic as text, and in pieces. */
export interface DescribedTraffic {
  readonly traffic: string;
  readonly parts: readonly TrafficPart[];
}

/** What one pair gained and lost as plain data; what it did not is absent. */
export interface DescribedPair {
  readonly from: Named;
  readonly to: Named;
  readonly gained?: string;
  readonly gainedIfPostureAllows?: string;
  readonly lost?: string;
  readonly lostUnlessPostureAllows?: string;
}

/** The difference without its pairs, for programs. */
export function describeDiff({ gained, lost, groups }: AccessDiff): DescribedDiff {
  return {
    gained,
    lost,
    groups: groups.map(({ traffic, ...row }) => ({
      ...row,
      traffic: textOf(row.change, traffic),
      parts: trafficParts(traffic),
    })),
  };
}

/** A pair for programs. */
export function describePair({ from, to, gained, lost }: PairDelta): DescribedPair {
  const member = <N extends string>(name: N, change: GroupShift['change'], traffic: PairTraffic['sure']) =>
    traffic.length === 0 ? {} : { [name]: textOf(change, traffic) };
  return {
    from,
    to,
    ...member('gained', 'gained', gained.sure),
    ...member('gainedIfPostureAllows', 'gained', gained.conditional),
    ...member('lost', 'lost', lost.sure),
    ...member('lostUnlessPostureAllows', 'lost', lost.conditional),
  };
}

/** The difference for people: one line for each two groups, `+` for what they gain and `-` for what they lose. */
export function diffLines({ groups }: AccessDiff): readonly string[] {
  return groups.map(({ change, from, to, traffic, pairs, conditional }) => {
    const open =
      conditional === 0 ? '' : `, ${conditional === pairs ? 'all' : conditional} depending on posture checks`;
    const sign = change === 'gained' ? '+' : '-';
    return `${sign} ${from.name} → ${to.name}: ${textOf(change, traffic)} (${countText(pairs)}${open})`;
  });
}

/** A pair for people: a line for what it gains and one for what it loses. */
export function pairLines({ from, to, gained, lost }: PairDelta): readonly string[] {
  const line = (sign: '+' | '-', { sure, conditional }: PairTraffic) => {
    const text = (traffic: PairTraffic['sure']) => textOf(sign === '+' ? 'gained' : 'lost', traffic);
    const texts = [
      ...(sure.length === 0 ? [] : [text(sure)]),
      ...(conditional.length === 0 ? [] : [`${text(conditional)} depending on posture checks`]),
    ];
    return texts.length === 0 ? [] : [`${sign} ${from.name} → ${to.name}: ${texts.join('; ')}`];
  };
  return [...line('+', gained), ...line('-', lost)];
}

function textOf(change: GroupShift['change'], traffic: PairTraffic['sure']): string {
  return change === 'lost' ? missingText(traffic) : trafficText(traffic);
}

function countText(pairs: number): string {
  return pairs === 1 ? '1 pair' : `${pairs} pairs`;
}
