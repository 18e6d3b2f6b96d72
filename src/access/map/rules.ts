import { type BitSet, hasBit, intersectBits, uniteBits } from '../../lib/bit-set.ts';
import type { Access } from '../access.ts';
import { idsAt } from '../ends.ts';
import type { Flow } from '../flows.ts';
import { compareTexts } from '../named.ts';
import type { PlaceAt } from '../neighbours.ts';
import { spokenAbout } from '../reached.ts';
import { type Entry, type Section, writeEntry, writeSet } from './section.ts';

/** The sets of peers that the rules of one map name, by their ids; filled while rules are written. */
export type Sets = Map<string, Entry>;

/** The peers that may use a guarded route, which all rules to it are limited to. */
interface Limit {
  readonly id: string;
  readonly receivers: BitSet;
}

/** The rules of flows that speak about an end, each naming the set of peers on the other side. */
export function rulesOf(
  access: Access,
  at: number,
  {
    flows,
    other,
    sets,
    limit,
  }: {
    readonly flows: readonly Flow[];
    readonly other: Other;
    readonly sets: Sets;
    readonly limit?: Limit | undefined;
  },
): Section {
  const own = other === 'to' ? 'from' : 'to';
  return flows
    .flatMap((flow) => {
      if (!hasBit(flow[own][flow.drop ? 'possible' : 'sure'], at)) return [];
      const set = setOf(access, flow, other, limit);
      if (set.members?.length === 0) return [];
      sets.set(set.id, set);
      return [ruleOf(flow, set.id)];
    })
    .sort((a, b) => compareTexts(a.id, b.id));
}

/** What gateways let through to a place: only receivers use a route, whatever policies say. */
export function rulesTo(access: Access, { at, place }: PlaceAt, sets: Sets): Section {
  const gate = access.gates.find(({ slot }) => slot === at);
  const limit = gate === undefined ? undefined : { id: place.object.id, receivers: gate.receivers };
  return rulesOf(access, at, { flows: spokenAbout(access, at).to, other: 'from', sets, limit });
}

type Other = 'from' | 'to';

/** Sets that were written, by what they hold; good as long as that lives. */
const written = new WeakMap<BitSet, Map<string, Entry>>();
/** The sets of a flow, which every peer that it speaks about asks for. */
const setsOf = new WeakMap<Flow, Partial<Record<Other, Entry>>>();

/** The peers at the other side of a flow. The same names mean the same peers in one image, whatever flow has them. */
function setOf(access: Access, flow: Flow, other: Other, limit: Limit | undefined): Entry {
  if (limit !== undefined) return writePeers(access, flow, other, limit);
  const known = setsOf.get(flow) ?? {};
  setsOf.set(flow, known);
  known[other] ??= commonSet(access, flow, other);
  return known[other];
}

function commonSet(access: Access, flow: Flow, other: Other): Entry {
  const bits = flow[other][flow.drop ? 'possible' : 'sure'];
  const known = written.get(bits) ?? new Map<string, Entry>();
  written.set(bits, known);
  const present = known.get(setId(flow, other, undefined));
  if (present !== undefined) return present;
  const entry = writePeers(access, flow, other, undefined);
  known.set(entry.id, entry);
  return entry;
}

function writePeers({ ends }: Access, flow: Flow, other: Other, limit: Limit | undefined): Entry {
  const bits = intersectBits(flow[other][flow.drop ? 'possible' : 'sure'], uniteBits(ends.of.peer, ends.of.proxy));
  const among = limit === undefined ? bits : intersectBits(bits, limit.receivers);
  return writeSet(setId(flow, other, limit), idsAt(ends, among));
}

function setId(flow: Flow, other: Other, limit: Limit | undefined): string {
  const names = [...(other === 'from' ? flow.fromNames : flow.toNames)].sort().join('+');
  // Posture checks are about the sources of a rule, which a flow in reverse goes to.
  const checked = (other === 'from') !== flow.reverse ? (flow.by?.policy.postures ?? []) : [];
  const checks = checked.length === 0 ? '' : `/${[...checked].sort().join('+')}${flow.drop ? '?' : ''}`;
  return `${names}${checks}${limit === undefined ? '' : `@${limit.id}`}`;
}

const rules = new WeakMap<Flow, Map<string, Entry>>();

function ruleOf(flow: Flow, set: string): Entry {
  const known = rules.get(flow) ?? new Map<string, Entry>();
  rules.set(flow, known);
  const entry = known.get(set) ?? writeRule(flow, set);
  known.set(set, entry);
  return entry;
}

function writeRule({ id, by, drop, reverse }: Flow, set: string): Entry {
  if (by === undefined) return writeEntry(id, { id, action: 'accept', protocol: 'all', ports: [], set });
  const { policy, rule } = by;
  const own = `${policy.id}/${rule.key}${reverse ? '/reverse' : ''}`;
  return writeEntry(own, {
    id: own,
    policy: { id: policy.id, name: policy.name },
    rule: { id: rule.id, name: rule.name },
    action: drop ? 'drop' : 'accept',
    protocol: rule.protocol,
    ports: rule.ports,
    set,
    ...(rule.protocol === 'ssh' ? { authorized_groups: rule.authorized } : {}),
  });
}
