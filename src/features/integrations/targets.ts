import type { Channel, Target } from './deliveries/target.ts';
import { type EmailOptions, openEmail } from './notifications/email.ts';
import { openWebhook, type WebhookOptions } from './notifications/webhook.ts';
import { openDatadog } from './streaming/datadog.ts';
import { openFirehose } from './streaming/firehose.ts';
import { openGenericHttp } from './streaming/generic-http.ts';
import type { StreamOptions } from './streaming/options.ts';
import { openS3 } from './streaming/s3.ts';

/** What targets of all types are made with. */
export type TargetOptions = WebhookOptions & EmailOptions & StreamOptions;

/** How a target is made, by the type of the channel: one line each. */
const openers: Readonly<Record<string, (channel: Channel, options: TargetOptions) => Target>> = {
  email: openEmail,
  webhook: openWebhook,
  datadog: openDatadog,
  s3: openS3,
  firehose: openFirehose,
  generic_http: openGenericHttp,
};

/** Opens the target of a channel; `undefined` when there is none for its type, or it is switched off. */
export type OpenTarget = (channel: Channel) => Target | undefined;

/** Creates what opens targets. */
export function createTargets(options: TargetOptions): OpenTarget {
  return (channel) => openers[channel.type]?.(channel, options);
}
