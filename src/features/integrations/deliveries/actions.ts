import type { Call, Engine } from '../../../commit/engine.ts';
import {
  type DeliveryAction,
  discardSetAside,
  resumeDelivery,
  retrySetAside,
  type SetAsideEvent,
} from '../../../db/deliveries/actions.ts';
import type { ActivityCode } from '../../../model/declare/activities.ts';
import { NotFound } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import { eventName } from './events.ts';

/** Resumes a delivery at once, with the events since a time (ISO 8601) if one is given. Throws `NotFound`. */
export async function resume(engine: Engine, call: Call, id: string, since?: string): Promise<void> {
  const meta: Record<string, string> = since === undefined ? {} : { since };
  const action = await prepare(engine, call, id, 'integration.delivery_resumed', meta);
  await resumeDelivery(engine.database, action, since);
  engine.notices.publish({ what: 'deliveries', account: call.account });
}

/** Has events that were set aside sent again: one, or all when `event` is absent. Throws `NotFound`. */
export async function retry(engine: Engine, call: Call, id: string, event?: SetAsideEvent): Promise<void> {
  const action = await prepare(engine, call, id, 'integration.delivery_retried', metaOf(event));
  requireSome(await retrySetAside(engine.database, action, event), event);
  engine.notices.publish({ what: 'deliveries', account: call.account });
}

/** Discards events that were set aside: one, or all when `event` is absent. Throws `NotFound`. */
export async function discard(engine: Engine, call: Call, id: string, event?: SetAsideEvent): Promise<void> {
  const action = await prepare(engine, call, id, 'integration.delivery_discarded', metaOf(event));
  requireSome(await discardSetAside(engine.database, action, event), event);
  engine.notices.publish({ what: 'deliveries', account: call.account });
}

function metaOf(event: SetAsideEvent | undefined): Readonly<Record<string, string>> {
  return { event: event === undefined ? 'all' : nameOf(event) };
}

function nameOf({ feed, number }: SetAsideEvent): string {
  return String(eventName({ feed, id: number }));
}

/**
 * Throws `NotFound` when a named event was not set aside. Without a named event it does not matter that nothing was set
 * aside.
 */
function requireSome(done: boolean, event: SetAsideEvent | undefined): void {
  if (!done && event !== undefined)
    throw new NotFound(`event ${nameOf(event)} not found among those that were set aside`);
}

/** Checks that the caller may read and change the receiver. Returns the action with its audit event. */
async function prepare(
  engine: Engine,
  call: Call,
  id: string,
  code: ActivityCode,
  meta: Readonly<Record<string, string>>,
): Promise<DeliveryAction> {
  const { kind } = await findReceiver(engine, call, id);
  const event = { code, target: id, meta: { kind, ...meta } };
  return { account: call.account, channel: id, entry: { actor: call.actor, event, at: engine.now() } };
}

/**
 * Returns the object to which events are delivered. Throws `NotFound` unless the caller may read it, and `NotAllowed`
 * unless the caller may change it.
 */
export async function findReceiver(engine: Engine, call: Call, id: string): Promise<StoredObject> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const object = state.get(id);
  const kind = object === undefined ? undefined : engine.registry.get(object.kind);
  if (object === undefined || kind?.delivers !== true || !createKindNameReadCheck(state, call)(kind.name))
    throw new NotFound(`delivery ${id} not found`);
  requireRight(state, call.actor, kind.module, 'update');
  return object;
}
