import type { Channel, DeliveryTarget } from './deliveries/target.ts';
import { type EmailOptions, openEmail } from './notifications/email.ts';
import { openWebhook, type WebhookOptions } from './notifications/webhook.ts';
import { openDatadog } from './streaming/datadog.ts';
import { openFirehose } from './streaming/firehose.ts';
import { openGenericHttp } from './streaming/generic-http.ts';
import type { StreamOptions } from './streaming/options.ts';
import { openS3 } from './streaming/s3.ts';

/** Options for creating targets of all types. */
export type TargetOptions = WebhookOptions & EmailOptions & StreamOptions;

/** Functions that create targets, by the type of the channel. */
const openers: Readonly<Record<string, (channel: Channel, options: TargetOptions) => DeliveryTarget>> = {
  email: openEmail,
  webhook: openWebhook,
  datadog: openDatadog,
  s3: openS3,
  firehose: openFirehose,
  generic_http: openGenericHttp,
};

/** Creates the target of a channel. Returns `undefined` when its type has no target or the target is switched off. */
export type OpenTarget = (channel: Channel) => DeliveryTarget | undefined;

/** Creates the function that opens targets. */
export function createTargets(options: TargetOptions): OpenTarget {
  return (channel) => openers[channel.type]?.(channel, options);
}
