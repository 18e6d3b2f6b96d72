import type { Call, Engine } from '../engine/engine.ts';
import type { JsonObject } from '../lib/json.ts';
import { likeText, readValues } from '../store/feed-read.ts';
import { type Bind, type Condition, type Range, trafficFeed } from '../store/feeds.ts';
import { type Page, readPage } from './pages.ts';
import { usersNamed } from './people.ts';
import { allSlice, type Slice, sliceKey } from './slices.ts';

/** What the log of traffic is asked for. */
export interface TrafficQuery extends Partial<Range> {
  readonly user_id?: string;
  readonly reporter_id?: string;
  readonly source_id?: string;
  readonly destination_id?: string;
  readonly protocol?: number;
  readonly type?: string;
  readonly connection_type?: string;
  readonly direction?: string;
  /** A part of the user's e-mail address, or of name or address of an end. */
  readonly search?: string;
  readonly page: number;
  readonly page_size: number;
}

/** The words of traffic events. */
export const trafficWords = {
  type: ['TYPE_UNKNOWN', 'TYPE_START', 'TYPE_END', 'TYPE_DROP'],
  direction: ['DIRECTION_UNKNOWN', 'INGRESS', 'EGRESS'],
  connection_type: ['P2P', 'ROUTED'],
} as const;

/** Ends that a part of their name or address may mean; of more, the records themselves are looked through. */
const mostEnds = 20_000;

/** A page of the traffic that peers reported, newest first. */
export async function readTraffic(engine: Engine, call: Call, query: TrafficQuery): Promise<Page> {
  const conditions: Condition[] = [];
  const nothing: Page = { records: [], total: 0, isEstimate: false };
  const slices = await slicesOf(engine, call.account, query);
  if (slices?.keys.length === 0) return nothing;
  if (slices !== undefined) conditions.push((bind) => `slice = any(${bind([...slices.keys])}::bigint[])`);
  const ofSlices = conditions.length;
  for (const name of ['reporter_id', 'source_id', 'destination_id', 'user_id'] as const) {
    const value = query[name];
    if (value !== undefined) conditions.push((bind) => `${name} <> '' and ${name} = ${bind(value)}`);
  }
  const { search } = query;
  if (search !== undefined) {
    const state = await engine.snapshots.at(call.account, call.revision);
    conditions.push(await searchFor(engine, call.account, search, usersNamed(state, search)));
  }
  return readPage(engine.database, {
    feed: trafficFeed,
    account: call.account,
    range: { from: query.from ?? new Date(0), to: query.to ?? new Date('2999-01-01T00:00:00Z') },
    conditions,
    ...(conditions.length > ofSlices ? {} : { slices: slices?.counted ?? [allSlice] }),
    sort: ['timestamp'],
    order: 'desc',
    limit: query.page_size,
    offset: (query.page - 1) * query.page_size,
  });
}

/** Looks for ends by a part of their name or address, its port included, and for users. */
async function searchFor(engine: Engine, account: string, text: string, users: readonly string[]): Promise<Condition> {
  // Addresses are known without their ports.
  const part = text.replace(/:\d*$/, '');
  const known = await readValues(engine.database, trafficFeed, account, 'end', { containing: part, limit: mostEnds });
  const keys = known.map(({ key }) => key);
  const end = (name: string, bind: Bind): string => {
    const isEnd = known.length < mostEnds ? `${name}_key = any(${bind(keys)}::bigint[])` : 'true';
    const hasText = known.length < mostEnds && part === text;
    return hasText ? `(${isEnd})` : `(${isEnd} and ${textOf(name)} ilike ${bind(likeText(text))})`;
  };
  return (bind) =>
    [
      end('source', bind),
      end('destination', bind),
      ...(users.length === 0 ? [] : [`(user_id <> '' and user_id = any(${bind([...users])}::text[]))`]),
    ].join(' or ');
}

function textOf(end: string): string {
  return `((record -> '${end}' ->> 'name') || ' ' || ${end}_address)`;
}

interface WantedSlices {
  readonly keys: readonly number[];
  readonly counted: readonly number[];
}

async function slicesOf(
  engine: Engine,
  account: string,
  { protocol, type, connection_type, direction }: TrafficQuery,
): Promise<WantedSlices | undefined> {
  const asked: Slice = {
    ...(protocol === undefined ? {} : { protocol: String(protocol) }),
    ...(connection_type === undefined ? {} : { connection_type }),
    ...(direction === undefined ? {} : { direction }),
    ...(type === undefined ? {} : { type }),
  };
  const names = Object.entries(asked);
  if (names.length === 0) return undefined;
  const known = await readValues(engine.database, trafficFeed, account, 'slice', { limit: 1_000_000 });
  const keys = known
    .filter(({ value }) => {
      const { types = '', ...slice } = JSON.parse(value) as Slice;
      return names.every(([name, want]) => (name === 'type' ? types.split(' ').includes(want) : slice[name] === want));
    })
    .map(({ key }) => key);
  return { keys, counted: names.length === 1 ? [sliceKey(asked)] : keys };
}

/** A record of the log as it is told. */
export function showTraffic({ flow_id, reporter_id, protocol, direction, record }: JsonObject): JsonObject {
  return { flow_id, reporter_id, protocol, direction, ...(record as JsonObject) } as JsonObject;
}
