import type { Call, Engine } from '../../../commit/engine.ts';
import { readRecordsAfter } from '../../../db/deliveries/records.ts';
import {
  type DeliveryStatusRow,
  listDeliveries,
  listSetAside,
  readWaitingEvents,
  type SetAsideRow,
} from '../../../db/deliveries/status.ts';
import { feeds, feedsByName } from '../../../db/logs/feeds.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import type { Delivery } from '../../../operations/config/deliveries.ts';
import type { AccountStatus } from '../../../operations/config/status.ts';
import { isSelected } from './batch.ts';
import { readChannel } from './channels.ts';
import type { Channel } from './target.ts';

type TroubledDelivery = NonNullable<AccountStatus['deliveries']>[number];

/** Maximum number of waiting events that are counted. */
const maxCounted = 10_000;

/** Maximum number of set-aside events that are shown of a channel. */
const maxShown = 100;

/** Returns the state of the account's deliveries to receivers that the caller may read. */
export async function showDeliveries(engine: Engine, call: Call): Promise<readonly Delivery[]> {
  const { database } = engine;
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const isReadable = createKindNameReadCheck(state, call);
  const rows = await listDeliveries(database, call.account);
  const aside = Map.groupBy(await listSetAside(database, call.account, maxShown), ({ channel_id: id }) => id);
  const shown: Delivery[] = [];
  for (const row of rows) {
    const object = state.get(row.channel_id);
    if (object === undefined || !isReadable(object.kind)) continue;
    const channel = readChannel({ account: call.account, ...object });
    const lag = await lagOf(engine, channel, row);
    shown.push(view({ row, object, channel, lag, aside: aside.get(row.channel_id) ?? [] }));
  }
  return shown;
}

/**
 * Age of the oldest waiting event at which a delivery counts as behind, in seconds. Targets that gather events take
 * less time.
 */
const behindSeconds = 300;

/** Returns the deliveries that need attention: they fail, are behind, or have events that were set aside. */
export async function troubledDeliveries(engine: Engine, call: Call): Promise<readonly TroubledDelivery[]> {
  return (await showDeliveries(engine, call)).filter(isTroubled).map(({ id, kind, key, type, state, message }) => ({
    ...{ id, kind, ...(key === undefined ? {} : { key }), type, state, message },
  }));
}

function isTroubled({ state, lag, setAsideCount }: Delivery): boolean {
  return state === 'paused' || state === 'retrying' || lag.seconds >= behindSeconds || setAsideCount > 0;
}

/** Returns the number of events that wait for a channel, and the age of the oldest in seconds. */
async function lagOf(
  { database, now }: Engine,
  channel: Channel,
  { cursor, records }: DeliveryStatusRow,
): Promise<Delivery['lag']> {
  if (!isDelivering(channel)) return { events: 0, seconds: 0 };
  const events = (await readWaitingEvents(database, channel.account, cursor, maxCounted)).filter(
    ({ activity_code: code, target_id: target }) => isSelected(channel, { code, target }),
  );
  const firsts = events.slice(0, 1).map(({ created_at: at }) => at);
  let count = events.length;
  for (const [name, { cursor: after, behind }] of Object.entries(records)) {
    count += behind;
    const feed = feeds.find((one) => one.name === name);
    if (feed === undefined) continue;
    const [first] = await readRecordsAfter(
      database,
      { feed, account: channel.account, after },
      { events: 1, bytes: 1 },
    );
    if (first !== undefined) firsts.push(first.created_at);
  }
  const oldest = Math.min(...firsts.map((at) => at.getTime()), Date.parse(now()));
  return { events: Math.min(maxCounted, count), seconds: Math.round((Date.parse(now()) - oldest) / 1000) };
}

function isDelivering({ enabled, settings }: Channel): boolean {
  return enabled && settings !== undefined;
}

interface Shown {
  readonly row: DeliveryStatusRow;
  readonly object: StoredObject;
  readonly channel: Channel;
  readonly lag: Delivery['lag'];
  readonly aside: readonly SetAsideRow[];
}

function view({ row, object: { id, kind, key }, channel, lag, aside }: Shown): Delivery {
  const { cursor, failures, last_error: error, set_aside: setAsideCount } = row;
  const state = stateOf(row, channel, lag);
  return {
    ...{ id, kind, ...(key === undefined ? {} : { key }), type: channel.type },
    ...{ state, message: messageOf(state, row, channel, lag), cursor, lag, failures },
    ...(row.last_success_at === null ? {} : { lastSuccessAt: row.last_success_at.toISOString() }),
    ...(error === null ? {} : { lastError: error }),
    ...(row.last_error_at === null ? {} : { lastErrorAt: row.last_error_at.toISOString() }),
    ...(row.next_at === null ? {} : { nextAttemptAt: row.next_at.toISOString() }),
    setAsideCount,
    setAside: aside.map(viewAside),
  };
}

function viewAside({ feed, event_id: event, activity_code: code, reason, set_aside_at: at, retry }: SetAsideRow) {
  const activity_code = feed === 'audit' ? (code ?? '') : feedsByName[feed].eventCode;
  return { feed, event, activity_code, reason, at: at.toISOString(), retrying: retry };
}

function stateOf({ paused, failures }: DeliveryStatusRow, channel: Channel, lag: Delivery['lag']): Delivery['state'] {
  if (!isDelivering(channel)) return 'disabled';
  if (paused) return 'paused';
  if (failures > 0) return 'retrying';
  return lag.events > 0 ? 'delivering' : 'idle';
}

function messageOf(
  state: Delivery['state'],
  { last_error: error, set_aside: aside }: DeliveryStatusRow,
  { enabled }: Channel,
  { events, seconds }: Delivery['lag'],
): string {
  const since = seconds < behindSeconds ? '' : `${events === 1 ? '' : ', the oldest'} for ${durationText(seconds)}`;
  const waiting = `${events === 1 ? '1 event waits' : `${events === maxCounted ? 'over 9,999' : events} events wait`}${since}`;
  const rest = aside === 0 ? '' : `; ${aside === 1 ? '1 event is' : `${aside} events are`} set aside`;
  switch (state) {
    case 'disabled':
      return enabled ? `no target: nothing is sent${rest}` : `disabled: nothing is sent${rest}`;
    case 'paused':
      return `paused: ${error}; ${waiting}${rest}`;
    case 'retrying':
      return `${error}; it is tried again, and ${waiting}${rest}`;
    default:
      return events === 0 ? `everything is delivered${rest}` : `${waiting}${rest}`;
  }
}

/** Returns a duration in whole minutes, or in whole hours from two hours on. */
function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`;
}
