import type { AccessDiff, PairDelta, PairTraffic } from '../../src/access/diff/diff.ts';
import { membersIn } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { intervalStartOf } from './image.ts';
import { isAbout, type Probe } from './naive.ts';

// biome-ignore lint/suspicious/noExplicitAny: the model reads stored specs as they come, without the program's readers
type Raw = any;

/** Number of all compared pairs of peers, and number of mismatches between the difference and brute force. */
export interface Outcome {
  readonly pairs: number;
  readonly other: number;
}

/**
 * Compares a difference of two accounts of peers, groups and policies with brute force: for every pair of peers, it
 * tries every rule of both accounts with every kind of traffic that the rules distinguish.
 */
export function compareWithBruteForce(
  diff: AccessDiff,
  before: readonly StoredObject[],
  after: readonly StoredObject[],
): Outcome {
  const cells = cellsOf([...before, ...after]);
  const peers = before.filter(({ kind }) => kind === 'Peer').map(({ id }) => id);
  const sorted = [...peers].sort((a, b) => (a < b ? -1 : 1));
  const slots = new Map(peers.map((id, at) => [id, at]));
  const [was, is] = [before, after].map((objects) => rulesOf(objects, slots, cells)) as [Rules, Rules];
  const words = (cells.length + 31) >>> 5;
  const reported = tellerOf(cells, words);
  const pairs = diff.pairs();
  let next = pairs.next();
  let other = 0;
  for (const from of sorted) {
    const source = slots.get(from) as number;
    const [old, now] = [was, is].map((rules) => reach(rules, source, peers.length, words)) as [Int32Array, Int32Array];
    const [gained, lost] = [new Int32Array(old.length), new Int32Array(old.length)];
    let last = '';
    for (; next.done !== true && next.value.from.id === from; next = pairs.next()) {
      const { to } = next.value;
      // Pairs must be sorted, without duplicates.
      if (to.id <= last) other += 1;
      last = to.id;
      other += reported(next.value, slots.get(to.id) as number, gained, lost);
    }
    for (let at = 0; at < peers.length; at++) if (differs(at * words, words, { old, now, gained, lost })) other += 1;
  }
  return { pairs: peers.length * (peers.length - 1), other: other + (next.done === true ? 0 : 1) };
}

/**
 * Returns one probe for each kind of traffic that the rules distinguish, sorted: every port that a rule names, and one
 * port that no rule names.
 */
function cellsOf(objects: readonly StoredObject[]): readonly Probe[] {
  const named = objects.flatMap(({ kind, spec }) =>
    kind === 'Policy' ? (spec as Raw).rules.flatMap(({ ports = [] }: Raw) => ports.map(Number)) : [],
  );
  const ports = [...new Set<number>([...named, 4242])];
  const cells = ports.flatMap((port) => (['tcp', 'udp', 'ssh'] as const).map((protocol) => ({ protocol, port })));
  const all: readonly Probe[] = [...cells, { protocol: 'icmp', port: 0 }, { protocol: 'other', port: 0 }];
  return [...all].sort((a, b) => intervalStartOf(a) - intervalStartOf(b));
}

type Rules = readonly {
  readonly drops: boolean;
  readonly bidirectional: boolean;
  readonly sources: ReadonlySet<number>;
  readonly destinations: ReadonlySet<number>;
  /** Bit set of the cells that the rule covers. */
  readonly about: Int32Array;
}[];

function rulesOf(objects: readonly StoredObject[], slots: ReadonlyMap<string, number>, cells: readonly Probe[]): Rules {
  const groups = new Map(objects.filter(({ kind }) => kind === 'Group').map((group) => [group.id, group]));
  const members = (ids: readonly string[]) =>
    new Set(
      ids.flatMap((id) =>
        membersIn(groups.get(id), 'peers')
          .keys()
          .map((peer) => slots.get(peer) as number),
      ),
    );
  return objects.flatMap(({ kind, spec }) =>
    kind !== 'Policy' || (spec as Raw).enabled !== true
      ? []
      : (spec as Raw).rules.map((rule: Raw) => ({
          drops: rule.action === 'drop',
          bidirectional: rule.bidirectional === true,
          sources: members(rule.sources),
          destinations: members(rule.destinations),
          about: maskOf(cells, (cell) => isAbout(rule, cell)),
        })),
  );
}

function maskOf(cells: readonly Probe[], isIn: (cell: Probe) => boolean): Int32Array {
  const mask = new Int32Array((cells.length + 31) >>> 5);
  for (const [at, cell] of cells.entries()) if (isIn(cell)) mask[at >>> 5] = (mask[at >>> 5] as number) | (1 << at);
  return mask;
}

/** Returns, for each target, the bit set of cells that pass from the source. */
function reach(rules: Rules, source: number, peers: number, words: number): Int32Array {
  const [accepted, dropped] = [new Int32Array(peers * words), new Int32Array(peers * words)];
  for (const { drops, bidirectional, sources, destinations, about } of rules) {
    const sides = [...(sources.has(source) ? [destinations] : [])];
    if (bidirectional && destinations.has(source)) sides.push(sources);
    const marks = drops ? dropped : accepted;
    for (const side of sides)
      for (const target of side)
        for (let word = 0; word < words; word++)
          marks[target * words + word] = (marks[target * words + word] as number) | (about[word] as number);
  }
  // A peer does not form a pair with itself.
  accepted.fill(0, source * words, (source + 1) * words);
  return accepted.map((word, at) => word & ~(dropped[at] as number));
}

/**
 * Returns a function that writes the reported change of a pair into the bit sets `gained` and `lost`. The function
 * returns 1 when the change contains conditional traffic, because these accounts have none.
 */
function tellerOf(cells: readonly Probe[], words: number) {
  const starts = cells.map(intervalStartOf);
  const put = ({ sure, conditional }: PairTraffic, at: number, into: Int32Array): number => {
    let cell = 0;
    for (const { start, end } of sure) {
      while ((starts[cell] ?? end) < start) cell += 1;
      for (; (starts[cell] ?? end + 1) <= end; cell++)
        into[at * words + (cell >>> 5)] = (into[at * words + (cell >>> 5)] as number) | (1 << cell);
    }
    return conditional.length;
  };
  return (shift: PairDelta, at: number, gained: Int32Array, lost: Int32Array): number =>
    put(shift.gained, at, gained) + put(shift.lost, at, lost) > 0 ? 1 : 0;
}

interface Reached {
  readonly old: Int32Array;
  readonly now: Int32Array;
  readonly gained: Int32Array;
  readonly lost: Int32Array;
}

function differs(from: number, words: number, { old, now, gained, lost }: Reached): boolean {
  for (let at = from; at < from + words; at++) {
    const [was, is] = [old[at] as number, now[at] as number];
    if ((is & ~was) !== gained[at] || (was & ~is) !== lost[at]) return true;
  }
  return false;
}
