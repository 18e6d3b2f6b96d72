import { trafficFeed } from '../../db/logs/feeds.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { plainAddress } from '../../lib/net/address.ts';
import { trafficWords } from '../../operations/network-traffic.ts';
import { partsOf, type Slice } from './count-slices.ts';
import type { Listing } from './listings.ts';
import { checkTime, type Members, readMembers, type Span } from './members.ts';
import type { ReadReport, RefusedRecord, ReportOf } from './proxy-report.ts';
import { saltOf, termsOf } from './terms.ts';
import { gatherValues } from './values.ts';

/** Looks up the objects that traffic refers to. */
export interface TrafficNames {
  /** Returns the peer with an address of the mesh, as an end of traffic. `user` is the user of that peer. */
  peerAt(address: string): KnownEnd | undefined;
  /** Returns a network resource or a route. */
  targetOf(id: string): Pick<KnownEnd, 'id' | 'type' | 'name'> | undefined;
  policyOf(id: string): { readonly id: string; readonly name: string } | undefined;
  /** User of the reporting peer. */
  readonly reporter: Person;
  /** Whether the numbers of packets and bytes are stored. */
  readonly counters: boolean;
}

/** A user in a record of traffic. All members are empty when there is no user. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** A known end of traffic, without its port. */
export interface KnownEnd {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly geo_location: { readonly city_name: string; readonly country_code: string };
  readonly os: string;
  readonly dns_label: string;
  readonly user: Person;
}

const mostEvents = 100;

/** Parses the traffic that a peer reports. A faulty record does not affect the other records. */
export function readTrafficReport(
  { records, ...of }: ReportOf,
  span: Span,
  listing: Listing,
  names: TrafficNames,
): ReadReport {
  const rows: JsonObject[] = [];
  const refused: RefusedRecord[] = [];
  const parts = new Map<number, readonly number[]>();
  const listed = gatherValues(listing);
  const salt = saltOf(of.account);
  for (const [index, record] of records.entries()) {
    const members = readMembers(record);
    const { ends, slice, ...row } = readRecord(members, of.reporter, span, names);
    if (members.faults.length > 0) {
      refused.push({ index, reason: members.faults.join('; ') });
      continue;
    }
    const key = listed.always('slice', JSON.stringify(slice));
    const [source, destination] = ends.map((end) => listed.keep('end', end));
    const unlisted = ends.filter((_, at) => [source, destination][at] === undefined);
    if (unlisted.length > 0) listed.always('rest', 'rest');
    const types = (slice['types'] ?? '').split(' ').map((type) => ({ type }));
    if (!parts.has(key)) parts.set(key, partsOf(slice, types));
    const terms = unlisted.length === 0 ? null : termsOf(salt, unlisted);
    rows.push({ ...row, source_key: source ?? 0, destination_key: destination ?? 0, slice: key, terms: terms });
  }
  return { report: { feed: trafficFeed, ...of, rows, parts, values: listed.values() }, refused };
}

function readRecord(members: Members, reporter: string, span: Span, names: TrafficNames) {
  const flow = members.needed('flow_id', 100);
  const [start, end] = [members.time('window_start'), members.time('window_end')];
  checkTime(members, 'window_end', end, span);
  if (start > end) members.refuse('`window_start` must not be after `window_end`');
  const source = readEnd(members, 'source', names);
  const destination = readEnd(members, 'destination', names);
  const events = readEvents(members);
  const count = (name: string) => (names.counters ? members.count(name) : members.count(name) * 0);
  const numberOf = (type: string) => events.filter((event) => event.type === type).length;
  const { user: ofSource, ...from } = source;
  const { user: _, ...to } = destination;
  const user = ofSource.id === '' ? names.reporter : ofSource;
  const words = {
    protocol: members.count('protocol', 255),
    direction: members.word('direction', trafficWords.direction),
    connection_type: members.word('connection_type', trafficWords.connection_type),
  };
  const types = [...new Set(events.map(({ type }) => type))].sort();
  const record: JsonObject = {
    source: from,
    destination: to,
    user: { ...user },
    policy: { ...(names.policyOf(members.text('policy_id', 64)) ?? { id: '', name: '' }) },
    icmp: { type: members.count('icmp_type', 255), code: members.count('icmp_code', 255) },
    ...{ rx_bytes: count('rx_bytes'), rx_packets: count('rx_packets') },
    ...{ tx_bytes: count('tx_bytes'), tx_packets: count('tx_packets') },
    ...{ num_of_starts: numberOf('TYPE_START'), num_of_ends: numberOf('TYPE_END') },
    num_of_drops: numberOf('TYPE_DROP'),
    window_start: new Date(start).toISOString(),
    window_end: new Date(end).toISOString(),
    events,
  };
  return {
    ...{ timestamp: new Date(end).toISOString(), id: `${flow}/${reporter}`, flow_id: flow, reporter_id: reporter },
    ...{ source_id: from.id, source_address: from.address },
    ...{ destination_id: to.id, destination_address: to.address },
    ...{ user_id: user.id, ...words, types, record },
    slice: { ...words, protocol: String(words.protocol), types: types.join(' ') } satisfies Slice,
    ends: [nameOf(from), nameOf(to)],
  };
}

/** Returns the text by which an end is searched: its name and its address, without the port. */
function nameOf({ name, address }: { readonly name: string; readonly address: string }): string {
  return `${name} ${address.replace(/:\d+$/, '')}`;
}

/** Reads a reported end and adds the data of the peer or target behind it. */
function readEnd(members: Members, name: 'source' | 'destination', names: TrafficNames) {
  const given = members.needed(`${name}_ip`, 45);
  const port = members.count(`${name}_port`, 65_535);
  // Peers are looked up by the canonical form of their addresses.
  const address = plainAddress(given) ?? '';
  if (given !== '' && address === '') members.refuse(`\`${name}_ip\` must be an IP address`);
  const host = address.includes(':') ? `[${address}]` : address;
  const target = names.targetOf(members.text(`${name}_resource_id`, 64));
  const unknown: KnownEnd = {
    ...{ id: '', type: 'UNKNOWN', name: '', os: '', dns_label: '' },
    geo_location: { city_name: '', country_code: '' },
    user: { id: '', email: '', name: '' },
  };
  const known = { ...(names.peerAt(address) ?? unknown), ...target };
  return { ...known, address: `${host}:${port}` };
}

function readEvents(members: Members): readonly { readonly type: string; readonly timestamp: string }[] {
  const listed = members.list('events', mostEvents);
  const events = listed.map((item: Json) => {
    const event = readMembers(item);
    const type = event.word('type', trafficWords.type);
    const time = event.time('timestamp');
    for (const fault of event.faults) members.refuse(`\`events\`: ${fault}`);
    return { type, timestamp: new Date(time).toISOString() };
  });
  if (listed.length === 0) members.refuse('`events` must have at least one event');
  return events;
}
