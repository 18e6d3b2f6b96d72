import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trafficBetween } from '../../src/access/evaluate/layers.ts';
import { explainAccess, type Question, type Verdict } from '../../src/access/explain/explain.ts';
import { judgeAccess, testAccess } from '../../src/access/explain/test-access.ts';
import { compileAccess } from '../../src/access/ruleset/compile.ts';
import { membersIn } from '../../src/model/state/members.ts';
import { stored } from '../kinds/objects.ts';
import { anAccount, type Runs, someObservedPeers } from './account.ts';
import { everybody, snapshotOf } from './image.ts';
import { isIn, type Naive, naiveVerdict, type Probe, takesPart } from './naive.ts';

const groups = ['all', 'g1', 'g2', 'g3', 'g4'];
const visitor = fc.constantFrom(...everybody, ...groups, ...groups);
const aProbe = fc.constantFrom<Probe>(
  { protocol: 'tcp', port: 80 },
  { protocol: 'tcp', port: 443 },
  { protocol: 'udp', port: 22 },
  { protocol: 'ssh', port: 22 },
  { protocol: 'icmp', port: 0 },
);

function questionOf(from: string, to: string, { protocol, port }: Probe): Question {
  // The random questions never ask about protocol `other`.
  const named = protocol as Exclude<Probe['protocol'], 'other'>;
  return { from, to, protocol: named, ports: protocol === 'icmp' ? [] : [{ start: port, end: port }] };
}

/**
 * Returns the account with two additional peers that are only in this group: one opens connections, the other accepts
 * them.
 */
function withStandIn(account: Naive, group: string): Naive {
  const objects = account.objects.map((object) => {
    if (object.id !== group || group === 'all') return object;
    const peers = membersIn(object, 'peers').keys();
    const members = [...peers, `from-${group}`, `to-${group}`];
    return stored('Group', group, { name: group, peers: members }, { derived: object.derived });
  });
  const standIns = ['from', 'to'].map((side) => stored('Peer', `${side}-${group}`, { name: group, dns_label: side }));
  const imagined = new Set(standIns.map(({ id }) => id));
  return {
    ...account,
    objects: [...objects, ...standIns],
    imagined: new Set([...(account.imagined ?? []), ...imagined]),
  };
}

const isGroup = ({ objects }: Naive, id: string) =>
  objects.some((object) => object.id === id && object.kind === 'Group');

/** Returns the verdicts of all pairs that a question covers. */
function naiveVerdicts(account: Naive, from: string, to: string, probe: Probe): readonly Verdict[] {
  const sides = (id: string, side: string, among: readonly string[]) => {
    if (!isGroup(account, id)) return [id];
    const members = among.filter((end) => isIn(account, end, id) && takesPart(account, end));
    return members.length > 0 ? members : [`${side}-${id}`];
  };
  const extended = [...new Set([from, to])].filter((id) => isGroup(account, id)).reduce(withStandIn, account);
  const peers = everybody.filter((id) => id.startsWith('p'));
  // The peers that stand in for a group are not gateways: a resource without a gateway stays closed.
  const isClosed = (id: string) => account.objects.some((object) => object.id === id) && !takesPart(account, id);
  const verdicts = (sources: readonly string[], targets: readonly string[]) =>
    sources.flatMap((source) =>
      targets
        .filter((target) => target !== source || (!isGroup(account, from) && !isGroup(account, to)))
        .map((target) => (isClosed(target) ? 'deny' : naiveVerdict(extended, source, target, probe))),
    );
  const [sources, targets] = [sides(from, 'from', peers), sides(to, 'to', everybody)];
  const found = verdicts(sources, targets);
  if (found.length > 0) return found;
  return isGroup(account, from) ? verdicts([`from-${from}`], targets) : verdicts(sources, [`to-${to}`]);
}

/** Declares the property tests of access questions. `runs` returns the number of runs of each. */
export function testQuestions(runs: Runs): void {
  describe('an access question', () => {
    it('is answered with the verdicts of the naive model for every pair', () => {
      fc.assert(
        fc.property(
          anAccount,
          someObservedPeers,
          visitor,
          visitor,
          aProbe,
          (objects, observedPeers, from, to, probe) => {
            const access = compileAccess(snapshotOf(objects), observedPeers);
            const account = { objects, observedPeers };
            if ([from, to].some((id) => !objects.some((object) => object.id === id))) return;
            const found = naiveVerdicts(account, from, to, probe);
            const result = testAccess(access, questionOf(from, to, probe));
            const count = (verdict: Verdict) => found.filter((one) => one === verdict).length;
            expect(result.pairs).toEqual({
              allow: count('allow'),
              conditional: count('conditional'),
              deny: count('deny'),
              mixed: 0,
            });
            for (const verdict of ['allow', 'conditional', 'deny'] as const) {
              expect(result.example(verdict)?.verdict).toBe(count(verdict) > 0 ? verdict : undefined);
            }
            const all = (...verdicts: readonly string[]) => found.every((verdict) => verdicts.includes(verdict));
            const outcome = (expected: 'allow' | 'deny') =>
              all(expected) ? 'pass' : all(expected, 'conditional') ? 'conditional' : 'fail';
            expect(judgeAccess(result, 'allow').outcome).toBe(outcome('allow'));
            expect(judgeAccess(result, 'deny').outcome).toBe(outcome('deny'));
          },
        ),
        { numRuns: runs(300) },
      );
    });

    it('is explained by rules that permit the same traffic as the compiled sets', () => {
      fc.assert(
        fc.property(anAccount, someObservedPeers, (objects, observedPeers) => {
          const access = compileAccess(snapshotOf(objects), observedPeers);
          for (const from of everybody) {
            for (const to of everybody) {
              if ([from, to].some((id) => !objects.some((object) => object.id === id))) continue;
              const { passing, considered, verdict } = explainAccess(access, { from, to });
              expect([from, to, passing]).toEqual([from, to, trafficBetween(access, from, to)]);
              const deciding = considered.filter(({ decides }) => decides);
              if (verdict !== 'deny') expect(deciding.some(({ drop }) => !drop)).toBe(true);
              else expect(deciding.every(({ drop }) => drop)).toBe(true);
            }
          }
        }),
        { numRuns: runs(40) },
      );
    });
  });
}
