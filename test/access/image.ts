import { trafficBetween } from '../../src/access/evaluate/layers.ts';
import { type Traffic, trafficInQuestion } from '../../src/access/evaluate/traffic.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { stateOf } from '../kinds/objects.ts';
import { type Naive, naiveVerdict, type Probe, probes, type Verdict } from './naive.ts';

/** Ids of all endpoints that an account may contain, and of some that do not exist. */
export const everybody = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'r1', 'r2', 'r3', 'w1', 'w2', 'x1', 'x2', 'nobody'];

/** Returns a snapshot of these objects. */
export function snapshotOf(objects: readonly StoredObject[]) {
  return stateOf(...objects);
}

/** Returns the program's verdict on every pair and probe, without denied ones. */
export function verdictsOf(access: AccessImage): readonly string[] {
  return everybody.flatMap((from) =>
    everybody.flatMap((to) => {
      const { sure, possible } = trafficBetween(access, from, to);
      return probes.flatMap((probe) => {
        const verdict = contains(sure, probe) ? 'allow' : contains(possible, probe) ? 'conditional' : 'deny';
        return reported(from, to, probe, verdict);
      });
    }),
  );
}

/** Returns the naive model's verdicts, in the format of `verdictsOf`. */
export function naiveVerdicts(account: Naive): readonly string[] {
  return everybody.flatMap((from) =>
    everybody.flatMap((to) =>
      probes.flatMap((probe) => reported(from, to, probe, naiveVerdict(account, from, to, probe))),
    ),
  );
}

/** Returns whether the traffic includes the probe. */
export function contains(traffic: Traffic, probe: Probe): boolean {
  const at = intervalStartOf(probe);
  return traffic.some((interval) => interval.start <= at && at <= interval.end);
}

/** Returns the position of a probe in the intervals that represent all traffic. */
export function intervalStartOf({ protocol, port }: Probe): number {
  return (protocol === 'other' ? otherTraffic : (trafficInQuestion(protocol, portsOf(protocol, port))[0] ?? none))
    .start;
}

const none = { start: -1, end: -1 };
/** The last interval represents all traffic without a name. */
const otherTraffic = trafficInQuestion('all').at(-1) ?? none;

function portsOf(protocol: Probe['protocol'], port: number) {
  return protocol === 'icmp' ? [] : [{ start: port, end: port }];
}

function reported(from: string, to: string, { protocol, port }: Probe, verdict: Verdict): readonly string[] {
  return verdict === 'deny' ? [] : [`${from} ${to} ${protocol}/${port} ${verdict}`];
}
