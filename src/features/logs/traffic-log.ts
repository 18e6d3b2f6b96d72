import type { Call, Engine } from '../../commit/engine.ts';
import { likeText } from '../../db/logs/feed-read.ts';
import { type Condition, type Range, trafficFeed } from '../../db/logs/feeds.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import {
  allOf,
  allTime,
  anyOf,
  containsPart,
  emptyPage,
  equalsAnyKey,
  equalsAnyText,
  hasTerms,
  hasUnlistedValues,
  type Log,
  readValuesContaining,
  selectSlices,
} from './conditions.ts';
import { allRecordsSliceKey, type Slice } from './count-slices.ts';
import { type Page, readPage } from './pages.ts';
import { findUserIdsByText } from './people.ts';

/** Query for the log of traffic. */
export interface TrafficQuery extends Partial<Range> {
  readonly user_id?: string;
  readonly reporter_id?: string;
  readonly source_id?: string;
  readonly destination_id?: string;
  readonly protocol?: number;
  readonly type?: string;
  readonly connection_type?: string;
  readonly direction?: string;
  /** Part of the name or e-mail address of the user, or of the name or address of an end. */
  readonly search?: string;
  readonly page: number;
  readonly page_size: number;
}

/** Reads a page of the traffic that peers reported, newest first. */
export async function readTraffic(engine: Engine, call: Call, query: TrafficQuery): Promise<Page> {
  const log: Log = { database: engine.database, feed: trafficFeed, account: call.account };
  const slices = await selectSlices(log, requestedSlice(query), valuesOf);
  if (slices === 'none') return emptyPage;
  const others: Condition[] = [];
  for (const name of ['reporter_id', 'source_id', 'destination_id', 'user_id'] as const) {
    const value = query[name];
    if (value !== undefined) others.push(equalsAnyText(name, [value]));
  }
  const { search } = query;
  if (search !== undefined) {
    const state = await engine.snapshots.atLeast(call.account, call.revision);
    others.push(await searchConditionFor(log, search, findUserIdsByText(state, search)));
  }
  const counted = slices === undefined ? [allRecordsSliceKey] : slices.counted;
  return readPage(engine.database, {
    ...{ feed: trafficFeed, account: call.account },
    range: { from: query.from ?? allTime.from, to: query.to ?? allTime.to },
    conditions: [...(slices === undefined ? [] : [slices.condition]), ...others],
    ...(others.length === 0 && counted !== undefined ? { slices: counted } : {}),
    isIndexed:
      slices === undefined
        ? others.length === 1 && search === undefined
        : others.length === 0 && slices.counted !== undefined,
    sort: ['timestamp'],
    order: 'desc',
    limit: query.page_size,
    offset: (query.page - 1) * query.page_size,
  });
}

/**
 * Returns the condition of a free-text search: the text is a part of the name or address of an end, including its port,
 * or one of the users matches.
 */
async function searchConditionFor(log: Log, text: string, users: readonly string[]): Promise<Condition> {
  // The list contains addresses without their ports.
  const part = text.replace(/:\d*$/, '');
  const [known, isRest] = await Promise.all([readValuesContaining(log, 'end', part), hasUnlistedValues(log)]);
  const keys = known.map(({ key }) => key);
  const ends = ['source', 'destination'] as const;
  const listed = ends.map((end) => {
    const isEnd = equalsAnyKey(`${end}_key`, keys);
    return part === text ? isEnd : allOf([isEnd, endContains(end, text)]);
  });
  const rest = ends.map((end) => allOf([equalsAnyKey(`${end}_key`, [0]), endContains(end, text)]));
  const others = hasTerms(part) ? allOf([containsPart(log, ends.map(endText), part), anyOf(rest)]) : anyOf(rest);
  return anyOf([
    ...listed,
    ...(isRest ? [others] : []),
    ...(users.length === 0 ? [] : [equalsAnyText('user_id', users)]),
  ]);
}

function endContains(end: string, text: string): Condition {
  return (bind) => `${endText(end)} ilike ${bind(likeText(text))}`;
}

function endText(end: string): string {
  return `((record -> '${end}' ->> 'name') || ' ' || ${end}_address)`;
}

/** Returns the part of the query that is about slices. */
function requestedSlice({ protocol, type, connection_type, direction }: TrafficQuery): Slice {
  return {
    ...(protocol === undefined ? {} : { protocol: String(protocol) }),
    ...(connection_type === undefined ? {} : { connection_type }),
    ...(direction === undefined ? {} : { direction }),
    ...(type === undefined ? {} : { type }),
  };
}

function valuesOf(slice: Slice, name: string): readonly string[] {
  return name === 'type' ? (slice['types'] ?? '').split(' ') : [slice[name] ?? ''];
}

/** Returns a record of the log as answers show it. */
export function showTraffic({ flow_id, reporter_id, protocol, direction, record }: JsonObject): JsonObject {
  return { flow_id, reporter_id, protocol, direction, ...asObject(record) } as JsonObject;
}
