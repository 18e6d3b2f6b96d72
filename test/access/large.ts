import type { JsonObject } from '../../src/lib/json.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { all, group, stored } from '../kinds/objects.ts';

/** Size of a generated account. The same sizes and seed always generate the same account. */
export interface LargeSizes {
  readonly peers: number;
  readonly groups: number;
  /**
   * Number of groups of each peer. With 1, the groups are disjoint and of equal size; with more, they are chosen at
   * random.
   */
  readonly groupsOfPeer: number;
  readonly policies: number;
  readonly seed?: number;
}

const ports = ['22', '53', '80', '123', '443', '3306', '5432', '6379', '8080', '9090'];

/**
 * Generates the objects of an account: groups of peers, and policies from two groups to two groups. One policy in
 * twenty drops traffic.
 */
export function largeAccount(sizes: LargeSizes): readonly StoredObject[] {
  const random = generator(sizes.seed ?? 1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const members = Array.from({ length: sizes.groups }, () => new Set<string>());
  for (let at = 0; at < sizes.peers; at++) {
    if (sizes.groupsOfPeer === 1) members[at % sizes.groups]?.add(`p${at}`);
    else for (let nth = 0; nth < sizes.groupsOfPeer; nth++) pick(members).add(`p${at}`);
  }
  const names = members.map((_, at) => `g${at}`);
  const rule = (at: number): JsonObject => ({
    name: 'rule',
    enabled: true,
    action: random() < 0.05 ? 'drop' : 'accept',
    bidirectional: random() < 0.3,
    ...(random() < 0.1
      ? { protocol: 'all' }
      : { protocol: pick(['tcp', 'udp']), ports: [random() < 0.8 ? pick(ports) : `${10_000 + at}`] }),
    sources: [...new Set([pick(names), pick(names)])],
    destinations: [...new Set([pick(names), pick(names)])],
  });
  return [
    all,
    ...Array.from({ length: sizes.peers }, (_, at) =>
      stored('Peer', `p${at}`, { name: `Peer ${at}`, dns_label: `p${at}` }),
    ),
    ...members.map((peers, at) => group(`g${at}`, [...peers])),
    ...Array.from({ length: sizes.policies }, (_, at) =>
      stored('Policy', `y${at}`, { name: `Policy ${at}`, enabled: true, rules: [rule(at)] }),
    ),
  ];
}

/** Returns the policies with another port. */
export function onAnotherPort(policies: readonly StoredObject[]): readonly StoredObject[] {
  return policies.map((object) => {
    // The generator gives every policy one rule.
    const [rule] = object.spec['rules'] as readonly JsonObject[];
    const other = { ...rule, action: 'accept', protocol: 'tcp', ports: ['9999'] };
    return stored('Policy', object.id, { ...object.spec, rules: [other] });
  });
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}
