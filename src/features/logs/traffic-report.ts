import { trafficFeed } from '../../db/logs/feeds.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { unmappedAddress } from '../../lib/net/address.ts';
import { trafficEnums } from '../../operations/network-traffic.ts';
import { countedSliceKeys, type Slice } from './count-slices.ts';
import type { ListedValues } from './listings.ts';
import { type AcceptedTimes, checkTime, createMemberReader, type MemberReader } from './member-reader.ts';
import type { IncomingReport, ParsedReport, RefusedRecord } from './proxy-report.ts';
import { saltOf, termsOf } from './search-terms.ts';
import { createValueCollector } from './values.ts';

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

const maxEvents = 100;

/** Parses the traffic that a peer reports. A faulty record does not affect the other records. */
export function readTrafficReport(
  { records, ...of }: IncomingReport,
  span: AcceptedTimes,
  listing: ListedValues,
  names: TrafficNames,
): ParsedReport {
  const rows: JsonObject[] = [];
  const refused: RefusedRecord[] = [];
  const parts = new Map<number, readonly number[]>();
  const listed = createValueCollector(listing);
  const salt = saltOf(of.account);
  for (const [index, record] of records.entries()) {
    const members = createMemberReader(record);
    const { ends, slice, ...row } = readRecord(members, of.reporter, span, names);
    if (members.faults.length > 0) {
      refused.push({ index, reason: members.faults.join('; ') });
      continue;
    }
    const key = listed.addAlways('slice', JSON.stringify(slice));
    const [source, destination] = ends.map((end) => listed.addIfListed('end', end));
    const unlisted = ends.filter((_, at) => [source, destination][at] === undefined);
    if (unlisted.length > 0) listed.addAlways('rest', 'rest');
    const types = (slice['types'] ?? '').split(' ').map((type) => ({ type }));
    if (!parts.has(key)) parts.set(key, countedSliceKeys(slice, types));
    const terms = unlisted.length === 0 ? null : termsOf(salt, unlisted);
    rows.push({ ...row, source_key: source ?? 0, destination_key: destination ?? 0, slice: key, terms });
  }
  return { report: { feed: trafficFeed, ...of, rows, parts, values: listed.values() }, refused };
}

function readRecord(members: MemberReader, reporter: string, span: AcceptedTimes, names: TrafficNames) {
  const flow = members.requiredText('flow_id', 100);
  const [start, end] = [members.time('window_start'), members.time('window_end')];
  checkTime(members, 'window_end', end, span);
  if (start > end) members.addFault('`window_start` must not be after `window_end`');
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
    direction: members.oneOf('direction', trafficEnums.direction),
    connection_type: members.oneOf('connection_type', trafficEnums.connection_type),
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
    ends: [searchTextOf(from), searchTextOf(to)],
  };
}

/** Returns the text by which an end is searched: its name and its address, without the port. */
function searchTextOf({ name, address }: { readonly name: string; readonly address: string }): string {
  return `${name} ${address.replace(/:\d+$/, '')}`;
}

/** Reads a reported end and adds the data of the peer or target behind it. */
function readEnd(members: MemberReader, name: 'source' | 'destination', names: TrafficNames) {
  const given = members.requiredText(`${name}_ip`, 45);
  const port = members.count(`${name}_port`, 65_535);
  // Peers are looked up by the canonical form of their addresses.
  const address = unmappedAddress(given) ?? '';
  if (given !== '' && address === '') members.addFault(`\`${name}_ip\` must be an IP address`);
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

function readEvents(members: MemberReader): readonly { readonly type: string; readonly timestamp: string }[] {
  const listed = members.list('events', maxEvents);
  const events = listed.map((item: Json) => {
    const event = createMemberReader(item);
    const type = event.oneOf('type', trafficEnums.type);
    const time = event.time('timestamp');
    for (const fault of event.faults) members.addFault(`\`events\`: ${fault}`);
    return { type, timestamp: new Date(time).toISOString() };
  });
  if (listed.length === 0) members.addFault('`events` must have at least one event');
  return events;
}
