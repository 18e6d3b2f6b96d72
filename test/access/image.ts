import { trafficBetween } from '../../src/access/evaluate/layers.ts';
import { type Traffic, trafficInQuestion } from '../../src/access/evaluate/traffic.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { stateOf } from '../kinds/objects.ts';
import { type Naive, naiveVerdict, type Probe, probes, type Verdict } from './naive.ts';

/** Every end of an account and some that are not there. */
export const everybody = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'r1', 'r2', 'r3', 'w1', 'w2', 'x1', 'x2', 'nobody'];

/** The snapshot of these objects. */
export function snapshotOf(objects: readonly StoredObject[]) {
  return stateOf(...objects);
}

/** What the program says about every pair and probe, without what is denied. */
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

/** What the naive model says about the same. */
export function naiveVerdicts(account: Naive): readonly string[] {
  return everybody.flatMap((from) =>
    everybody.flatMap((to) =>
      probes.flatMap((probe) => reported(from, to, probe, naiveVerdict(account, from, to, probe))),
    ),
  );
}

/** Whether traffic includes a probe. */
export function contains(traffic: Traffic, probe: Probe): boolean {
  const at = placeOf(probe);
  return traffic.some((interval) => interval.start <= at && at <= interval.end);
}

/** Where a probe is on the line of all traffic. */
export function placeOf({ protocol, port }: Probe): number {
  return (protocol === 'other' ? otherTraffic : (trafficInQuestion(protocol, portsOf(protocol, port))[0] ?? none))
    .start;
}

const none = { start: -1, end: -1 };
/** What is left of everything at the end of the line. */
const otherTraffic = trafficInQuestion('all').at(-1) ?? none;

function portsOf(protocol: Probe['protocol'], port: number) {
  return protocol === 'icmp' ? [] : [{ start: port, end: port }];
}

function reported(from: string, to: string, { protocol, port }: Probe, verdict: Verdict): readonly string[] {
  return verdict === 'deny' ? [] : [`${from} ${to} ${protocol}/${port} ${verdict}`];
}
