import type { Channel, Target } from './deliveries/target.ts';
import { type EmailOptions, openEmail } from './notifications/email.ts';
import { openWebhook, type WebhookOptions } from './notifications/webhook.ts';

/** What targets of all types are made with. */
export type TargetOptions = WebhookOptions & EmailOptions;

/** How a target is made, by the type of the channel: one line each. */
const openers: Readonly<Record<string, (channel: Channel, options: TargetOptions) => Target>> = {
  email: openEmail,
  webhook: openWebhook,
};

/** Opens the target of a channel; `undefined` when there is none for its type, or it is switched off. */
export type OpenTarget = (channel: Channel) => Target | undefined;

/** Creates what opens targets. */
export function createTargets(options: TargetOptions): OpenTarget {
  return (channel) => openers[channel.type]?.(channel, options);
}
