import type { Call, Engine } from '../../../commit/engine.ts';
import { recordSample } from '../../../db/deliveries/actions.ts';
import { activities } from '../../../model/declare/activities.ts';
import { Internal } from '../../../model/errors.ts';
import type { OpenTarget } from '../targets.ts';
import { findReceiver } from './actions.ts';
import { openChannel, readChannel, sampleCodeOf } from './channels.ts';
import type { DeliveryEvent, DeliveryTarget, Verdict } from './target.ts';

/** Result of sending a sample. */
export interface SampleResult {
  readonly delivered: boolean;
  readonly message: string;
}

/** Sends a sample to a receiver. The sample is the audit event that records this call. Throws `NotFound`. */
export async function sendSample(engine: Engine, call: Call, id: string, open: OpenTarget): Promise<SampleResult> {
  const { account, actor } = call;
  const object = await findReceiver(engine, call, id);
  const stored = { account, ...object };
  const { settings, type } = readChannel(stored);
  const target = openTarget(() => open(openChannel(engine, stored)), settings === undefined);
  if (typeof target === 'string') return { delivered: false, message: target };
  const at = engine.now();
  const code = sampleCodeOf(object.kind);
  const meta = { type };
  const event = await recordSample(engine.database, account, { actor, event: { code, target: id, meta }, at });
  const { name, email = '' } = actor;
  const sample: DeliveryEvent = {
    ...{ feed: 'audit', id: event, at, code, activity: activities[code], meta },
    ...{ initiator: { id: actor.id, name, email }, target: { id, name: object.key ?? '' } },
  };
  return resultOf(await target.deliver([sample]));
}

/** Returns the target, or the reason why there is none. */
function openTarget(open: () => DeliveryTarget | undefined, isEmpty: boolean): DeliveryTarget | string {
  if (isEmpty) return 'the channel has no target, so nothing is sent; give it one';
  try {
    return open() ?? 'this server delivers nothing to channels of this type';
  } catch (error) {
    if (error instanceof Internal) return `${error.message}; set the secret again`;
    throw error;
  }
}

function resultOf(verdict: Verdict): SampleResult {
  if (verdict.outcome === 'accepted') return { delivered: true, message: 'the receiver accepted the sample' };
  return { delivered: false, message: verdict.reason };
}
