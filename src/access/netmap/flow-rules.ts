import { type BitSet, intersectBits, numbersIn, uniteBits } from '../../lib/bits/bit-set.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/endpoints.ts';
import { effectOf, type Flow, flowAt } from '../ruleset/flows.ts';
import type { Policy } from '../ruleset/object-readers.ts';
import { type Entry, type Section, sortEntries, writeEntry, writeSet } from './section.ts';

/** The side of a flow on which the other peers are. */
export type OtherSide = 'from' | 'to';

/** A flow as written in the map of a peer at one of its ends: the rule, and the set of peers on the other side. */
export interface FlowRule {
  readonly rule: Entry;
  readonly set: Entry;
}

/** The receivers of a guarded route. All rules to the route are limited to them. */
export interface ReceiverLimit {
  readonly id: string;
  readonly receivers: BitSet;
}

/** Cached rules of the flows of an image, by position of the flow. */
export interface FlowTable {
  readonly rules: Readonly<Record<OtherSide, (FlowRule | undefined)[]>>;
  /** Whether the rules are sorted by id when their flows are. */
  readonly isSorted: boolean;
  readonly drops: readonly Flow[];
  /** Flows that let users log in by SSH. */
  readonly logins: readonly Flow[];
  /** Ingress ports that a peer forwards or is reached by, by slot of the peer. Ordered by id. */
  readonly forwards: ReadonlyMap<number, Section>;
}

const tables = new WeakMap<AccessImage['flows'], FlowTable>();

/** Returns the table of an image. It is cached with the list of flows. */
export function flowTableOf({ flows }: AccessImage): FlowTable {
  const known = tables.get(flows);
  if (known !== undefined) return known;
  const ids = flows.map(ruleId);
  const table: FlowTable = {
    rules: { from: flows.map(() => undefined), to: flows.map(() => undefined) },
    isSorted: ids.every((id, nth) => compareTexts(ids[nth - 1] ?? '', id) <= 0),
    drops: flows.filter(({ drop }) => drop),
    logins: flows.filter(({ by, drop }) => !drop && by?.rule.protocol === 'ssh'),
    forwards: forwardsIn(flows),
  };
  tables.set(flows, table);
  return table;
}

function forwardsIn(flows: AccessImage['flows']): FlowTable['forwards'] {
  const found = new Map<number, Set<Entry>>();
  for (const { by, from, to } of flows) {
    if (by?.policy.ingress === undefined) continue;
    // A port that is forwarded for both protocols has two flows with the same entry.
    for (const slot of numbersIn(uniteBits(from.sure, to.sure)))
      found.set(slot, (found.get(slot) ?? new Set()).add(forwardOf(by.policy)));
  }
  return new Map([...found].map(([slot, entries]) => [slot, sortEntries([...entries])]));
}

const forwards = new WeakMap<Policy, Entry>();

function forwardOf(policy: Policy): Entry {
  const known = forwards.get(policy);
  if (known !== undefined) return known;
  const { id, name, ingress } = policy;
  const entry = writeEntry(id, {
    id,
    name,
    gateway: ingress?.gateway,
    peer: ingress?.target,
    mappings: ingress?.mappings,
  });
  forwards.set(policy, entry);
  return entry;
}

/** Cached rules, by flow: every peer that a flow applies to needs them. */
const rulesByFlow = { from: new WeakMap<Flow, FlowRule>(), to: new WeakMap<Flow, FlowRule>() };

/** Returns the rule of the flow at a position of the list. */
export function flowRuleAt(access: AccessImage, table: FlowTable, nth: number, other: OtherSide): FlowRule {
  const known = table.rules[other][nth];
  if (known !== undefined) return known;
  const rule = flowRuleOf(access, flowAt(access.flows, nth), other);
  table.rules[other][nth] = rule;
  return rule;
}

/** Returns the rule of a flow. The flow may belong to an earlier image whose endpoints have the same slots. */
export function flowRuleOf(access: AccessImage, flow: Flow, other: OtherSide): FlowRule {
  const known = rulesByFlow[other].get(flow);
  if (known !== undefined) return known;
  const rules = makeFlowRule(flow, commonSet(access, flow, other));
  rulesByFlow[other].set(flow, rules);
  return rules;
}

/** Returns the rule of a flow for the gateways of a destination that only some peers may use. */
export function limitedFlowRule(access: AccessImage, nth: number, limit: ReceiverLimit): FlowRule {
  const flow = flowAt(access.flows, nth);
  return makeFlowRule(flow, writePeers(access, flow, 'from', limit));
}

function makeFlowRule(flow: Flow, set: Entry): FlowRule {
  return { set, rule: writeRule(flow, set.id) };
}

/** Cached peer sets, by the slots that they contain. */
const sets = new WeakMap<BitSet, Map<string, Entry>>();

/**
 * Returns the set of peers on the other side of a flow. Equal names mean equal peers within an image, so flows share
 * their sets.
 */
function commonSet(access: AccessImage, flow: Flow, other: OtherSide): Entry {
  const bits = flow[other][flow.drop ? 'possible' : 'sure'];
  const known = sets.get(bits) ?? new Map<string, Entry>();
  sets.set(bits, known);
  const present = known.get(setId(flow, other));
  if (present !== undefined) return present;
  const entry = writePeers(access, flow, other);
  known.set(entry.id, entry);
  return entry;
}

function writePeers({ endpoints }: AccessImage, flow: Flow, other: OtherSide, limit?: ReceiverLimit): Entry {
  const bits = intersectBits(
    flow[other][flow.drop ? 'possible' : 'sure'],
    uniteBits(endpoints.byType.peer, endpoints.byType.proxy),
  );
  const among = limit === undefined ? bits : intersectBits(bits, limit.receivers);
  return writeSet(setId(flow, other, limit), idsAt(endpoints, among));
}

/** Returns the id of the set of peers on the other side, which is built from the names of the set. */
export function setId(flow: Flow, other: OtherSide, limit?: ReceiverLimit): string {
  const names = [...(other === 'from' ? flow.fromNames : flow.toNames)].sort().join('+');
  // Posture checks apply to the sources of a rule, which are the destinations of a reverse flow.
  const checked = (other === 'from') !== flow.reverse ? (flow.by?.policy.postures ?? []) : [];
  const checks = checked.length === 0 ? '' : `/${[...checked].sort().join('+')}${flow.drop ? '?' : ''}`;
  // Rules that drop also cover temporary peers, which are in no set of the rules that accept.
  const temporary = flow.temporarySides.includes(other) ? '!' : '';
  return `${names}${temporary}${checks}${limit === undefined ? '' : `@${limit.id}`}`;
}

/** Returns the id of the rule of a flow. */
export function ruleId({ id, by, reverse }: Flow): string {
  return by === undefined ? id : `${by.policy.id}/${by.rule.key}${reverse ? '/reverse' : ''}`;
}

function writeRule(flow: Flow, set: string): Entry {
  const id = ruleId(flow);
  const rule = flow.by?.rule;
  const authorized = rule?.protocol === 'ssh' ? { authorized_groups: rule.authorized } : {};
  return writeEntry(id, { id, ...effectOf(flow), set, ...authorized });
}
