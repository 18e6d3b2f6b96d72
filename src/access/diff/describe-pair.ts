import type { NamedObject } from '../evaluate/named.ts';
import { missingTrafficText, trafficText } from '../evaluate/traffic.ts';
import type { PairDelta, PairTraffic } from './diff.ts';
import type { GroupShift } from './summary.ts';

/** Access that one pair gained and lost, as plain data. Members without a change are absent. */
export interface DescribedPair {
  readonly from: NamedObject;
  readonly to: NamedObject;
  readonly gained?: string;
  readonly gainedIfPostureAllows?: string;
  readonly lost?: string;
  readonly lostUnlessPostureAllows?: string;
}

/** Returns a pair as plain data, for API clients. */
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

function textOf(change: GroupShift['change'], traffic: PairTraffic['sure']): string {
  return change === 'lost' ? missingTrafficText(traffic) : trafficText(traffic);
}
