import type { Call, Engine } from '../../../commit/engine.ts';
import { recordSample } from '../../../db/deliveries/actions.ts';
import { activities } from '../../../model/declare/activities.ts';
import { Internal, NotFound } from '../../../model/errors.ts';
import { openChannel, readChannel } from '../deliveries/channels.ts';
import type { DeliveryEvent, Target, Verdict } from '../deliveries/target.ts';
import type { OpenTarget } from '../targets.ts';

/** What came of a sample. */
export interface SampleResult {
  readonly delivered: boolean;
  readonly message: string;
}

const code = 'notification.channel.test';

/** Sends a sample to a channel, which is the audit event of doing so. Throws `NotFound`. */
export async function sendSample(engine: Engine, call: Call, id: string, open: OpenTarget): Promise<SampleResult> {
  const { account, actor } = call;
  const state = await engine.snapshots.at(account, call.revision);
  const object = state.find('NotificationChannel', id);
  if (object === undefined) throw new NotFound(`notificationchannel ${id} not found`);
  const stored = { account, ...object };
  const { settings, type } = readChannel(stored);
  const target = openTarget(() => open(openChannel(engine, stored)), settings === undefined);
  if (typeof target === 'string') return { delivered: false, message: target };
  const at = engine.now();
  const meta = { type };
  const event = await recordSample(engine.database, account, { actor, event: { code, target: id, meta }, at });
  const { name, email = '' } = actor;
  const sample: DeliveryEvent = {
    ...{ id: event, at, code, activity: activities[code], meta },
    ...{ initiator: { id: actor.id, name, email }, target: { id, name: object.key ?? '' } },
  };
  return resultOf(await target.deliver([sample]));
}

/** The target, or why there is none. */
function openTarget(open: () => Target | undefined, isEmpty: boolean): Target | string {
  if (isEmpty) return 'the channel has no target, so nothing is sent; give it one';
  try {
    return open() ?? 'this server delivers nothing to channels of this type';
  } catch (error) {
    if (error instanceof Internal) return `${error.message}; write it again`;
    throw error;
  }
}

function resultOf(verdict: Verdict): SampleResult {
  if (verdict.outcome === 'accepted') return { delivered: true, message: 'the receiver took the sample' };
  return { delivered: false, message: verdict.reason };
}
